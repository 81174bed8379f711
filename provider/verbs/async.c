/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>

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

static void async_put(struct context *c, const struct ibv_async_event *event, uint32_t *reported)
{
	struct async_record *r = malloc(sizeof *r);

	/* Without memory for a note of 40 bytes the event cannot be reported. */
	if (!r)
		return;
	r->event = *event;
	r->reported = reported;
	pthread_mutex_lock(&c->async.lock);
	if (atomic_load(&c->async.ended)) {
		free(r);
	} else {
		TAILQ_INSERT_TAIL(&c->events, r, link);
		mailbox_post(&c->async, c->device->rnic ? rnic_engine(c->device->rnic) : NULL);
	}
	pthread_mutex_unlock(&c->async.lock);
}

static void async_put_everywhere(struct device *d, const struct ibv_async_event *event)
{
	struct context *c;

	pthread_mutex_lock(&d->lock);
	LIST_FOREACH (c, &d->contexts, link)
		async_put(c, event, NULL);
	pthread_mutex_unlock(&d->lock);
}

void async_event(void *arg, const struct rnic_event *ev)
{
	struct device *d = arg;
	struct ibv_async_event event = {0};

	if ((unsigned)ev->type >= sizeof async_kinds / sizeof async_kinds[0])
		return;
	event.event_type = async_kinds[ev->type].type;
	switch (async_kinds[ev->type].about) {
	case ABOUT_PORT:
		event.element.port_num = 1;
		async_put_everywhere(d, &event);
		break;
	case ABOUT_DEVICE:
		async_put_everywhere(d, &event);
		break;
	case ABOUT_CQ: {
		struct cq *cq = ev->context;

		event.element.cq = &cq->ibv;
		async_put(context_of(cq->ibv.context), &event, &cq->async_reported);
		break;
	}
	case ABOUT_QP: {
		struct qp *qp = ev->context;

		event.element.qp = &qp->ibv;
		async_put(context_of(qp->ibv.context), &event, &qp->async_reported);
		break;
	}
	case ABOUT_SRQ: {
		struct srq *srq = ev->context;

		event.element.srq = &srq->ibv;
		async_put(context_of(srq->ibv.context), &event, &srq->async_reported);
		break;
	}
	}
}

/** @return 0, or a negative errno. */
static int async_take(struct context *c, struct ibv_async_event *event)
{
	struct async_record *r;
	int rc;

	do {
		rc = mailbox_wait(&c->async);
		if (rc < 0)
			return rc;
		pthread_mutex_lock(&c->async.lock);
		r = TAILQ_FIRST(&c->events);
		if (r) {
			TAILQ_REMOVE(&c->events, r, link);
			if (r->reported)
				++*r->reported;
		}
		mailbox_took(&c->async, rc, r != NULL);
		pthread_mutex_unlock(&c->async.lock);
	} while (!r && (rc = mailbox_wait_again(&c->async, c->ibv.async_fd)) == 0);
	if (!r)
		return rc;
	*event = r->event;
	free(r);
	return 0;
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

void async_forget(struct ibv_context *context, const uint32_t *reported)
{
	struct context *c = context_of(context);
	struct async_record *r, *next;
	unsigned n = 0;

	pthread_mutex_lock(&c->async.lock);
	for (r = TAILQ_FIRST(&c->events); r; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->reported != reported)
			continue;
		TAILQ_REMOVE(&c->events, r, link);
		free(r);
		n++;
	}
	mailbox_retract(&c->async, n);
	pthread_mutex_unlock(&c->async.lock);
}

void async_end(struct context *c)
{
	struct async_record *r;

	pthread_mutex_lock(&c->async.lock);
	while ((r = TAILQ_FIRST(&c->events)) != NULL) {
		TAILQ_REMOVE(&c->events, r, link);
		free(r);
	}
	mailbox_end(&c->async);
	mailbox_close(&c->async);
	pthread_mutex_unlock(&c->async.lock);
	if (c->device->rnic)
		engine_settle(rnic_engine(c->device->rnic));
}
