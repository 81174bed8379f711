/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/container_of.h"
#include "provider/verbs/objects.h"

#define ASYNC_BITS   4
#define ASYNC_MASK   ((1u << ASYNC_BITS) - 1)
#define ASYNC_PLACES (32 / ASYNC_BITS)

_Static_assert(RNIC_EVENT_DEVICE_FATAL + 1 <= ASYNC_MASK, "a kind");
/* One object has at most those of a QP. */
_Static_assert(RNIC_EVENT_SQ_DRAINED - RNIC_EVENT_QP_FATAL + 1 < ASYNC_PLACES, "all kinds");

/* ibv_event_type of each, and which kind of object it is about. */
static const struct {
	enum ibv_event_type type;
	enum { ABOUT_PORT, ABOUT_DEVICE, ABOUT_CQ, ABOUT_QP, ABOUT_SRQ } about;
} async_kinds[] = {
	[RNIC_EVENT_CQ_ERROR] = {IBV_EVENT_CQ_ERR, ABOUT_CQ},
	[RNIC_EVENT_QP_FATAL] = {IBV_EVENT_QP_FATAL, ABOUT_QP},
	[RNIC_EVENT_QP_REQUEST_ERROR] = {IBV_EVENT_QP_REQ_ERR, ABOUT_QP},
	[RNIC_EVENT_QP_ACCESS_ERROR] = {IBV_EVENT_QP_ACCESS_ERR, ABOUT_QP},
	[RNIC_EVENT_QP_ESTABLISHED] = {IBV_EVENT_COMM_EST, ABOUT_QP},
	[RNIC_EVENT_QP_LAST_WQE] = {IBV_EVENT_QP_LAST_WQE_REACHED, ABOUT_QP},
	[RNIC_EVENT_SQ_DRAINED] = {IBV_EVENT_SQ_DRAINED, ABOUT_QP},
	[RNIC_EVENT_SRQ_LIMIT] = {IBV_EVENT_SRQ_LIMIT_REACHED, ABOUT_SRQ},
	[RNIC_EVENT_PORT_ACTIVE] = {IBV_EVENT_PORT_ACTIVE, ABOUT_PORT},
	[RNIC_EVENT_PORT_DOWN] = {IBV_EVENT_PORT_ERR, ABOUT_PORT},
	[RNIC_EVENT_DEVICE_FATAL] = {IBV_EVENT_DEVICE_FATAL, ABOUT_DEVICE},
};

static unsigned async_count(const struct async_source *s)
{
	unsigned n = 0;

	for (uint32_t left = s->unread; left; left >>= ASYNC_BITS)
		n++;
	return n;
}

static enum rnic_event_type async_kind_of(uint32_t unread)
{
	return (enum rnic_event_type)((unread & ASYNC_MASK) - 1);
}

/** Take out the oldest that comes again, if not before @p next: there are more places than kinds.
 */
static void async_make_room(struct async_source *s, enum rnic_event_type next)
{
	uint32_t later = 1u << (next + 1);
	unsigned oldest = 0;

	for (unsigned at = ASYNC_PLACES * ASYNC_BITS; at;) {
		uint32_t kind;

		at -= ASYNC_BITS;
		kind = 1u << (s->unread >> at & ASYNC_MASK);
		if (later & kind)
			oldest = at;
		later |= kind;
	}
	s->unread = (s->unread & ((1u << oldest) - 1)) | (s->unread >> oldest >> ASYNC_BITS)
								 << oldest;
}

static void async_put(struct context *c, struct async_source *s, enum rnic_event_type type)
{
	pthread_mutex_lock(&c->async.lock);
	if (!atomic_load(&c->async.ended)) {
		bool is_queued = s->unread != 0, is_full = async_count(s) == ASYNC_PLACES;

		if (is_full)
			async_make_room(s, type);
		s->unread |= (uint32_t)(type + 1) << async_count(s) * ASYNC_BITS;
		if (!is_queued)
			STAILQ_INSERT_TAIL(&c->events, s, link);
		if (!is_full)
			mailbox_post(
				&c->async, c->device->rnic ? rnic_engine(c->device->rnic) : NULL);
	}
	pthread_mutex_unlock(&c->async.lock);
}

static void async_put_everywhere(struct device *d, enum rnic_event_type type)
{
	struct context *c;

	pthread_mutex_lock(&d->lock);
	LIST_FOREACH (c, &d->contexts, link)
		async_put(c, &c->own_events, type);
	pthread_mutex_unlock(&d->lock);
}

void async_event(void *arg, const struct rnic_event *ev)
{
	if ((unsigned)ev->type >= sizeof async_kinds / sizeof async_kinds[0])
		return;
	switch (async_kinds[ev->type].about) {
	case ABOUT_PORT:
	case ABOUT_DEVICE:
		async_put_everywhere(arg, ev->type);
		break;
	case ABOUT_CQ: {
		struct cq *cq = ev->context;

		async_put(context_of(cq->ibv.context), &cq->async, ev->type);
		break;
	}
	case ABOUT_QP: {
		struct qp *qp = ev->context;

		async_put(context_of(qp->ibv.context), &qp->async, ev->type);
		break;
	}
	case ABOUT_SRQ: {
		struct srq *srq = ev->context;

		async_put(context_of(srq->ibv.context), &srq->async, ev->type);
		break;
	}
	}
}

static struct ibv_async_event async_describe(struct async_source *s, enum rnic_event_type type)
{
	struct ibv_async_event event = {.event_type = async_kinds[type].type};

	switch (async_kinds[type].about) {
	case ABOUT_PORT:
		event.element.port_num = 1;
		break;
	case ABOUT_DEVICE:
		break;
	case ABOUT_CQ:
		event.element.cq = &container_of(s, struct cq, async)->ibv;
		break;
	case ABOUT_QP:
		event.element.qp = &container_of(s, struct qp, async)->ibv;
		break;
	case ABOUT_SRQ:
		event.element.srq = &container_of(s, struct srq, async)->ibv;
		break;
	}
	return event;
}

/** The oldest of the source that is next: sources take turns. @return false: none is unread. */
static bool async_next(struct context *c, struct ibv_async_event *event)
{
	struct async_source *s = STAILQ_FIRST(&c->events);

	if (!s)
		return false;
	*event = async_describe(s, async_kind_of(s->unread));
	s->unread >>= ASYNC_BITS;
	s->reported++;
	STAILQ_REMOVE_HEAD(&c->events, link);
	if (s->unread)
		STAILQ_INSERT_TAIL(&c->events, s, link);
	return true;
}

/** @return 0, or a negative errno. */
static int async_take(struct context *c, struct ibv_async_event *event)
{
	bool found;
	int rc;

	do {
		rc = mailbox_wait(&c->async);
		if (rc < 0)
			return rc;
		pthread_mutex_lock(&c->async.lock);
		found = async_next(c, event);
		mailbox_took(&c->async, rc, found);
		pthread_mutex_unlock(&c->async.lock);
	} while (!found && (rc = mailbox_wait_again(&c->async, c->ibv.async_fd)) == 0);
	return found ? 0 : rc;
}

static void async_leave(void *context)
{
	context_put(context);
}

int async_get(struct ibv_context *context, struct ibv_async_event *event)
{
	int rc = device_start(device_of(context));

	if (rc != 0) {
		errno = -rc;
		return -1;
	}
	/* Another thread may close the context meanwhile, and this one may be cancelled. */
	context_hold(context);
	pthread_cleanup_push(async_leave, context);
	rc = async_take(context_of(context), event);
	pthread_cleanup_pop(1);
	if (rc == 0)
		return 0;
	errno = -rc;
	return -1;
}

void async_forget(struct ibv_context *context, struct async_source *s)
{
	struct context *c = context_of(context);

	pthread_mutex_lock(&c->async.lock);
	if (s->unread)
		STAILQ_REMOVE(&c->events, s, async_source, link);
	mailbox_retract(&c->async, async_count(s));
	s->unread = 0;
	pthread_mutex_unlock(&c->async.lock);
}

void async_end(struct context *c)
{
	struct async_source *s;

	pthread_mutex_lock(&c->async.lock);
	while ((s = STAILQ_FIRST(&c->events)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->events, link);
		s->unread = 0;
	}
	mailbox_end(&c->async);
	mailbox_close(&c->async);
	pthread_mutex_unlock(&c->async.lock);
	if (c->device->rnic)
		engine_settle(rnic_engine(c->device->rnic));
}
