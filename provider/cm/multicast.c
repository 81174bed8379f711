/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/multicast.h"

#include "provider/cm/address.h"
#include "provider/cm/event.h"

#include <errno.h>
#include <stdlib.h>

/* ---- joins by number, all with the lock ---------------------------------------------------- */

struct ucma_multicast *ucma_multicast_find(const struct ucma *u, uint32_t number)
{
	struct ucma_multicast *m;

	LIST_FOREACH (m, &u->multicasts, link)
		if (m->number == number)
			return m;
	return NULL;
}

bool ucma_multicast_has(const struct ucma_multicast *m, const struct ucma_event *ev)
{
	return ev->type == UCMA_EVENT_MULTICAST_JOIN && ev->number == m->number;
}

static void ucma_multicast_add(struct ucma *u, struct ucma_multicast *m)
{
	while (ucma_multicast_find(u, u->next_multicast))
		u->next_multicast++;
	m->number = u->next_multicast++;
	LIST_INSERT_HEAD(&u->multicasts, m, link);
	LIST_INSERT_HEAD(&m->id->multicasts, m, of_id);
}

static void ucma_multicast_remove(struct ucma_multicast *m)
{
	LIST_REMOVE(m, link);
	LIST_REMOVE(m, of_id);
}

void ucma_multicast_forget(struct ucma_id *id)
{
	struct ucma_multicast *m;

	while ((m = LIST_FIRST(&id->multicasts))) {
		ucma_multicast_remove(m);
		free(m);
	}
}

/* ---- joining ------------------------------------------------------------------------------- */

/** As the kernel's rdma_join_multicast(). */
static int ucma_multicast_check(const struct ucma_call *c)
{
	enum ucma_id_state state = ucma_state(c);

	return c->id->ud && (state == UCMA_ADDR_BOUND || state == UCMA_ADDR_RESOLVED) ? 0 : -EINVAL;
}

static void ucma_multicast_fill(const struct ucma_multicast *m, struct ucma_event *ev)
{
	struct ucma_ud ud = {.qp = RNIC_UD_QP_GROUP, .qkey = m->id->qkey, .remote = m->group};
	struct ip_endpoint local, remote;

	rnic_ep_addresses(m->id->ep, &local, &remote);
	ud.local = local.addr;
	ev->ud_len = sizeof ud;
	memcpy(ev->private_data, &ud, sizeof ud);
}

/** The event may be read before the call is back: first the answer. */
static void ucma_multicast_tell(
	struct ucma_call *c, struct ucma_multicast *m, struct ucma_event *ev)
{
	struct rdma_ucm_create_id_resp r;

	ucma_multicast_fill(m, ev);
	pthread_mutex_lock(&c->u->lock);
	ucma_multicast_add(c->u, m);
	r.id = m->number;
	ucma_respond(c, &r, sizeof r);
	ucma_event_begin(ev, m->id, UCMA_EVENT_MULTICAST_JOIN);
	ev->uid = m->uid;
	ev->number = m->number;
	ucma_channel_push(m->id->channel, ev);
	ucma_channel_tell(m->id->channel);
	pthread_mutex_unlock(&c->u->lock);
}

static int ucma_multicast_join(struct ucma_call *c, const void *sa, uint64_t uid, bool member)
{
	struct ucma_multicast *m = calloc(1, sizeof *m);
	struct ucma_event *ev = ucma_event_alloc(sizeof(struct ucma_ud));
	struct ip_endpoint group;
	sa_family_t family;
	int err = m && ev ? ucma_multicast_check(c) : -ENOMEM;

	if (!err)
		err = ucma_address_get(sa, &group, &family);
	if (!err && !ip_addr_is_multicast(&group.addr))
		err = -EINVAL;
	if (!err && member)
		err = rnic_ep_join(c->id->ep, &group.addr);
	if (err) {
		free(m);
		free(ev);
		return err;
	}
	*m = (struct ucma_multicast){
		.id = c->id, .uid = uid, .group = group.addr, .member = member};
	ucma_multicast_tell(c, m, ev);
	return 0;
}

int ucma_join_ip_multicast(struct ucma_call *c)
{
	const struct rdma_ucm_join_ip_mcast *q = &c->cmd.join_ip_multicast;

	return ucma_multicast_join(c, &q->addr, q->uid, true);
}

int ucma_join_multicast(struct ucma_call *c)
{
	const struct rdma_ucm_join_mcast *q = &c->cmd.join_multicast;

	if (q->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED || !q->addr_size ||
		q->addr_size != ucma_sockaddr_size(&q->addr))
		return -EINVAL;
	return ucma_multicast_join(
		c, &q->addr, q->uid, q->join_flags == RDMA_MC_JOIN_FLAG_FULLMEMBER);
}

/* ---- leaving ------------------------------------------------------------------------------- */

/** Hold the id whose join the call names. @return NULL with @p err: there is none. */
static struct ucma_multicast *ucma_multicast_hold(struct ucma_call *c, int *err)
{
	struct ucma *u = c->u;
	struct ucma_multicast *m;

	do {
		m = ucma_multicast_find(u, c->cmd.leave_multicast.id);
		*err = !m ? -ENOENT : m->id->channel != c->ch ? -EINVAL : 0;
	} while (!*err && !ucma_id_hold_or_wait(&u->ids, &u->lock, m->id));
	if (*err)
		return NULL;
	c->id = m->id;
	return m;
}

int ucma_leave_multicast(struct ucma_call *c)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct ucma_multicast *m;
	int err;

	pthread_mutex_lock(&c->u->lock);
	m = ucma_multicast_hold(c, &err);
	if (m) {
		ucma_channel_purge(c->ch, m->id, m);
		ucma_multicast_remove(m);
		r.events_reported = m->events_reported;
	}
	pthread_mutex_unlock(&c->u->lock);
	if (!m)
		return err;
	if (m->member)
		(void)rnic_ep_leave(m->id->ep, &m->group);
	free(m);
	ucma_respond(c, &r, sizeof r);
	return 0;
}
