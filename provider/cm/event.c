/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/event.h"

#include "base/container_of.h"
#include "provider/cm/multicast.h"
#include "provider/exit_wait.h"

#include <errno.h>
#include <stdlib.h>

#define UCMA_UD_HOP_LIMIT 64

static const uint8_t ucma_event_types[] = {
	[RNIC_EP_ADDR_RESOLVED] = UCMA_EVENT_ADDR_RESOLVED,
	[RNIC_EP_ADDR_ERROR] = UCMA_EVENT_ADDR_ERROR,
	[RNIC_EP_CONNECT_REQUEST] = UCMA_EVENT_CONNECT_REQUEST,
	[RNIC_EP_ESTABLISHED] = UCMA_EVENT_ESTABLISHED,
	[RNIC_EP_REJECTED] = UCMA_EVENT_REJECTED,
	[RNIC_EP_UNREACHABLE] = UCMA_EVENT_UNREACHABLE,
	[RNIC_EP_CONNECT_ERROR] = UCMA_EVENT_CONNECT_ERROR,
	[RNIC_EP_DISCONNECTED] = UCMA_EVENT_DISCONNECTED,
	[RNIC_EP_DEVICE_REMOVAL] = UCMA_EVENT_DEVICE_REMOVAL,
};

static uint8_t ucma_depth(uint16_t v)
{
	return v < UINT8_MAX ? (uint8_t)v : UINT8_MAX;
}

struct ucma_event *ucma_event_begin(
	struct ucma_event *ev, struct ucma_id *id, enum ucma_event_type type)
{
	if (ev) {
		ev->id = id;
		ev->uid = id->uid;
		ev->number = id->number;
		ev->ud = id->ud;
		ev->tos = id->tos;
		ev->type = (uint8_t)type;
	}
	return ev;
}

/*
 * Of what an endpoint tells nobody is told again, so memory for it is there already. Of requests
 * there may be any number: one without memory is refused. That the device is gone takes nothing
 * from what is still to come.
 */
static bool ucma_is_expected(const struct rnic_ep_event *e)
{
	return !e->request && e->type != RNIC_EP_DEVICE_REMOVAL;
}

static struct ucma_event *ucma_event_of_ep(struct ucma_id *id, const struct rnic_ep_event *e)
{
	const struct ucma_ud ud = {
		.qp = e->ud_qp, .qkey = e->ud_qkey, .local = e->ud_local, .remote = e->ud_remote};
	uint8_t before = id->ud && e->type == RNIC_EP_ESTABLISHED ? sizeof ud : 0;
	uint8_t most = UCMA_PRIVATE_MAX - before;
	uint8_t len = before + (e->private_len < most ? (uint8_t)e->private_len : most);
	struct ucma_event *ev =
		ucma_is_expected(e) ? ucma_id_take_event(id, len) : ucma_event_alloc(len);

	if (!ucma_event_begin(ev, id, ucma_event_types[e->type]))
		return NULL;
	/*
	 * rdma_cm's view of the depths is the reader's own: initiator_depth is what we may have
	 * outstanding at the peer (our ORD), responder_resources what the peer may have here (our
	 * IRD).
	 */
	ev->initiator_depth = ucma_depth(e->ord);
	ev->responder_resources = ucma_depth(e->ird);
	if (ev->room < before) {
		/* Without memory there may be no room for the answer. */
		ev->type = UCMA_EVENT_UNREACHABLE;
		before = len = 0;
	}
	ev->ud_len = before;
	if (before)
		memcpy(ev->private_data, &ud, sizeof ud);
	ev->private_len = (uint8_t)((len < ev->room ? len : ev->room) - before);
	if (ev->private_len)
		memcpy(ev->private_data + before, e->private_data, ev->private_len);
	return ev;
}

/* The kernel's cma.c: a resolution that failed may be tried again. */
static void ucma_follow_resolution(struct ucma_id *id, enum rnic_ep_event_type type)
{
	if (id->state != UCMA_ADDR_QUERY)
		return;
	if (type == RNIC_EP_ADDR_RESOLVED)
		id->state = UCMA_ADDR_RESOLVED;
	else if (type == RNIC_EP_ADDR_ERROR)
		id->state = id->unresolved;
}

/*
 * The kernel's cma.c says 0 with every DISCONNECTED of an iWARP device. librdmacm's rsockets count
 * on it: with another status the event is a failed call to them, and nobody else tells a receiver.
 */
static int ucma_status_of(const struct rnic_ep_event *e, const struct ucma_event *ev)
{
	if (e->type == RNIC_EP_ESTABLISHED && ev->type != UCMA_EVENT_ESTABLISHED)
		return -ENOMEM;
	return e->type == RNIC_EP_DISCONNECTED ? 0 : e->status;
}

static void ucma_push_later(struct ucma_channel *ch, struct ucma *u, struct ucma_event *ev)
{
	ucma_channel_push(ch, ev);
	if (!ch->due) {
		ch->due = true;
		ucma_channel_ref(ch);
		TAILQ_INSERT_TAIL(&u->due, ch, due_link);
	}
	engine_wake_after(rnic_engine(u->rnic), &u->tell);
}

void ucma_tell_due(struct engine_doorbell *tell)
{
	struct ucma *u = container_of(tell, struct ucma, tell);
	struct ucma_channel *ch;

	pthread_mutex_lock(&u->lock);
	while ((ch = TAILQ_FIRST(&u->due))) {
		TAILQ_REMOVE(&u->due, ch, due_link);
		ch->due = false;
		if (ucma_channel_tell(ch))
			engine_has_woken(rnic_engine(u->rnic));
		ucma_channel_unref(ch);
	}
	pthread_mutex_unlock(&u->lock);
}

/**
 * The kernel's ucma_connect_event_handler(): a request has its id from the start. To read it takes
 * nothing that may be missing then, when its peer waits. @return NULL: no memory, or no number.
 */
static struct ucma_event *ucma_event_of_request(struct ucma_id *id, const struct rnic_ep_event *e)
{
	struct ucma_id_table *t = &id->ucma->ids;
	struct ucma_id *request = ucma_id_reserve(id->ucma, t);
	struct ucma_event *ev = request ? ucma_event_of_ep(id, e) : NULL;

	if (ev) {
		request->ep = e->request;
		ev->request = request;
	} else if (request) {
		ucma_id_give_back(t, request);
	}
	return ev;
}

/** @return false: there is nobody to be told, or no memory. */
static bool ucma_take_event(struct ucma_id *id, const struct rnic_ep_event *e)
{
	struct ucma_event *ev;

	ucma_follow_resolution(id, e->type);
	/*
	 * The kernel's ucma.c: before accept has named the id nobody can be told. The accept will
	 * fail in its turn.
	 */
	if (!id->uid)
		return false;
	ev = e->request ? ucma_event_of_request(id, e) : ucma_event_of_ep(id, e);
	if (!ev)
		return false;
	ev->status = (uint32_t)ucma_status_of(e, ev);
	ucma_push_later(id->channel, id->ucma, ev);
	return true;
}

void ucma_on_ep_event(const struct rnic_ep_event *e)
{
	struct ucma_id *id = e->context;
	struct ucma *u = id->ucma;

	pthread_mutex_lock(&u->lock);
	/* Of a listener that is dying the requests end with it. */
	if (!id->dying && !ucma_take_event(id, e) && e->refuse)
		*e->refuse = true;
	pthread_mutex_unlock(&u->lock);
}

int ucma_event_post(struct ucma_id *id, enum ucma_event_type type)
{
	struct ucma *u = id->ucma;
	struct ucma_event *ev;

	pthread_mutex_lock(&u->lock);
	ev = ucma_event_begin(ucma_event_alloc(0), id, type);
	if (ev) {
		ucma_channel_push(id->channel, ev);
		ucma_channel_tell(id->channel);
	}
	pthread_mutex_unlock(&u->lock);
	return ev ? 0 : -ENOMEM;
}

/* A request is read: from now on it is an id of its own. Called with the lock. */
static struct ucma_id *ucma_adopt(struct ucma_call *c, struct ucma_event *ev)
{
	struct ucma_id *id = ev->request;

	ucma_id_enter(&c->u->ids, c->ch, id);
	id->state = UCMA_REQUEST;
	id->port_space = ev->id->port_space;
	id->qp_type = ev->id->qp_type;
	id->tos = ev->id->tos;
	id->ud = ev->id->ud;
	id->qkey = ev->id->qkey;
	ev->number = id->number;
	return id;
}

/**
 * As the kernel's ucma_get_event(): an event of a join counts twice. librdmacm waits for its
 * acknowledgement when the program leaves the group, and when it destroys the id.
 */
static void ucma_count_event(const struct ucma *u, const struct ucma_event *ev)
{
	struct ucma_multicast *m =
		ev->type == UCMA_EVENT_MULTICAST_JOIN ? ucma_multicast_find(u, ev->number) : NULL;

	ev->id->events_reported++;
	if (m)
		m->events_reported++;
}

/** An event that was read. */
struct ucma_taken {
	struct ucma_event *event;
	struct ucma_id *adopted; /**< the id of a request, or NULL */
};

/*
 * Take the first event. While a request is being adopted its listener is held: destroying it now
 * would reset the request. Called with the lock.
 */
static int ucma_take_first(struct ucma_call *c, struct ucma_taken *t)
{
	struct ucma *u = c->u;
	struct ucma_event *ev;

	do {
		ev = TAILQ_FIRST(&c->ch->events);
		if (!ev)
			return -ENODATA;
	} while (ev->request && !ucma_id_hold_or_wait(&u->ids, &u->lock, ev->id));
	t->adopted = ev->request ? ucma_adopt(c, ev) : NULL;
	TAILQ_REMOVE(&c->ch->events, ev, link);
	ucma_count_event(u, ev);
	t->event = ev;
	return 0;
}

static void ucma_finish_adoption(struct ucma *u, struct ucma_id *listener, struct ucma_id *id)
{
	struct ip_endpoint local, remote;

	rnic_ep_set_context(id->ep, ucma_on_ep_event, id);
	rnic_ep_addresses(id->ep, &local, &remote);
	pthread_mutex_lock(&u->lock);
	id->family = ip_addr_is_v4(&local.addr) ? AF_INET : AF_INET6;
	ucma_id_release(&u->ids, id);
	ucma_id_release(&u->ids, listener);
	pthread_mutex_unlock(&u->lock);
}

static void ucma_cancel_wait(void *arg)
{
	struct ucma_call *c = arg;

	pthread_mutex_lock(&c->u->lock);
	if (c->asleep)
		ucma_channel_cancel_wait(c->ch);
	ucma_channel_unref(c->ch);
	pthread_mutex_unlock(&c->u->lock);
}

static int ucma_wait(const struct ucma_call *c, uint64_t *counts)
{
	return c->asleep ? ucma_channel_wait(c->ch, counts) : exit_wait(c->u->left, c->ch->own_fd);
}

/* The one place where a command waits, and where its thread may be cancelled (rping does it). */
static int ucma_wait_for_event(struct ucma_call *c, uint64_t *counts)
{
	int err;

	pthread_cleanup_push(ucma_cancel_wait, c);
	pthread_setcancelstate(c->cancel_state, NULL);
	err = ucma_wait(c, counts);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	return err;
}

static void ucma_event_put_conn(const struct ucma_event *ev, struct rdma_ucm_conn_param *p)
{
	p->initiator_depth = ev->initiator_depth;
	p->responder_resources = ev->responder_resources;
	p->private_data_len = ev->private_len;
	memcpy(p->private_data, ev->private_data, ev->private_len);
}

static uint8_t ucma_hop_limit(const struct ucma *u, const struct ip_addr *to)
{
	uint8_t most = ip_addr_is_multicast(to) ? rnic_ud_group_ttl(u->rnic) : UCMA_UD_HOP_LIMIT;

	return most < UCMA_UD_HOP_LIMIT ? most : UCMA_UD_HOP_LIMIT;
}

/* Where to send, as an address handle's attributes. */
static void ucma_event_put_path(
	const struct ucma *u, const struct ucma_event *ev, struct rdma_ucm_ud_param *p)
{
	struct ib_uverbs_ah_attr *ah = &p->ah_attr;
	struct ucma_ud ud;
	int gid;

	memcpy(&ud, ev->private_data, sizeof ud);
	gid = u->gid ? u->gid(u->gid_ctx, &ud.local) : 0;
	p->qp_num = ud.qp;
	p->qkey = ud.qkey;
	memcpy(ah->grh.dgid, ud.remote.b, sizeof ah->grh.dgid);
	ah->grh.sgid_index = gid < 0 ? 0 : (uint8_t)gid;
	ah->grh.hop_limit = ucma_hop_limit(u, &ud.remote);
	ah->grh.traffic_class = ev->tos;
	ah->is_global = 1;
	ah->port_num = 1;
}

static void ucma_event_put_ud(
	const struct ucma *u, const struct ucma_event *ev, struct rdma_ucm_ud_param *p)
{
	if (ev->ud_len)
		ucma_event_put_path(u, ev, p);
	p->private_data_len = ev->private_len;
	memcpy(p->private_data, ev->private_data + ev->ud_len, ev->private_len);
}

static void ucma_event_tell(const struct ucma_call *c, const struct ucma_event *ev)
{
	struct rdma_ucm_event_resp r = {
		.uid = ev->uid, .id = ev->number, .event = ev->type, .status = ev->status};

	if (ev->ud)
		ucma_event_put_ud(c->u, ev, &r.param.ud);
	else
		ucma_event_put_conn(ev, &r.param.conn);
	ucma_respond(c, &r, sizeof r);
}

/** Take the first event, and tell of those that are left. Called with the lock. */
static int ucma_take(struct ucma_call *c, struct ucma_taken *t)
{
	int err = -ENODATA;

	if (!ucma_channel_is_read_first(c->ch))
		err = ucma_take_first(c, t);
	ucma_channel_tell(c->ch);
	return err;
}

static int ucma_look_for_event(struct ucma_call *c, struct ucma_taken *t)
{
	int err;

	pthread_mutex_lock(&c->u->lock);
	err = ucma_take(c, t);
	pthread_mutex_unlock(&c->u->lock);
	return err;
}

/**
 * Before a thread sleeps it drives a round: what it waits for may have come, and then nobody need
 * wake it.
 */
static int ucma_drive_for_event(struct ucma_call *c, struct ucma_taken *t)
{
	int err;

	pthread_mutex_lock(&c->u->lock);
	c->ch->looking++;
	pthread_mutex_unlock(&c->u->lock);
	engine_drive(rnic_engine(c->u->rnic));
	pthread_mutex_lock(&c->u->lock);
	c->ch->looking--;
	err = ucma_take(c, t);
	pthread_mutex_unlock(&c->u->lock);
	return err;
}

static int ucma_sleep_for_event(struct ucma_call *c, struct ucma_taken *t)
{
	uint64_t counts = 0;
	int err;

	err = ucma_wait_for_event(c, &counts);
	pthread_mutex_lock(&c->u->lock);
	if (c->asleep)
		ucma_channel_end_wait(c->ch, counts);
	if (!err)
		err = ucma_take(c, t);
	pthread_mutex_unlock(&c->u->lock);
	return err;
}

static int ucma_await_event(struct ucma_call *c, struct ucma_taken *t)
{
	bool sleeps = ucma_channel_may_sleep(c->ch);
	int err = sleeps ? ucma_drive_for_event(c, t) : -ENODATA;

	if (err != -ENODATA)
		return err;
	pthread_mutex_lock(&c->u->lock);
	/* Not after exit() has begun: that may join this thread. */
	c->asleep = !c->ch->left;
	if (c->asleep)
		ucma_channel_begin_wait(c->ch);
	pthread_mutex_unlock(&c->u->lock);
	if (sleeps)
		engine_hand_over(rnic_engine(c->u->rnic));
	return ucma_sleep_for_event(c, t);
}

int ucma_get_event(struct ucma_call *c)
{
	struct ucma_taken t;
	int err = ucma_look_for_event(c, &t);

	while (err == -ENODATA)
		err = ucma_await_event(c, &t);
	if (err)
		return err;
	if (t.adopted)
		ucma_finish_adoption(c->u, t.event->id, t.adopted);
	ucma_event_tell(c, t.event);
	free(t.event);
	return 0;
}
