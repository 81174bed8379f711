/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/lifetime.h"

#include "provider/cm/event.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>

/** What the kernel's ucma_get_qp_type() knows. @return IBV_QPT_*, or -EINVAL. */
static int ucma_qp_type_of(const struct rdma_ucm_create_id *q)
{
	switch (q->ps) {
	case RDMA_PS_TCP:
		return IBV_QPT_RC;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IBV_QPT_UD;
	case RDMA_PS_IB:
		return q->qp_type;
	default:
		return -EINVAL;
	}
}

/* Where there are no UD QPs, such an id is as the kernel's of an iWARP device: of no use. */
static int ucma_create_ep(struct ucma_call *c, struct ucma_id *id)
{
	int err = -EOPNOTSUPP;

	if (id->port_space == RDMA_PS_UDP)
		err = rnic_ep_create_ud(c->u->rnic, ucma_on_ep_event, id, &id->ep);
	id->ud = !err;
	id->qkey = UCMA_UDP_QKEY;
	return err == -EOPNOTSUPP ? rnic_ep_create(c->u->rnic, ucma_on_ep_event, id, &id->ep) : err;
}

int ucma_create_id(struct ucma_call *c)
{
	const struct rdma_ucm_create_id *q = &c->cmd.create_id;
	struct rdma_ucm_create_id_resp r;
	int qp_type = ucma_qp_type_of(q);
	struct ucma_id *id;
	int err;

	if (qp_type < 0)
		return qp_type;
	pthread_mutex_lock(&c->u->lock);
	id = ucma_id_new(c->u, &c->u->ids, c->ch);
	pthread_mutex_unlock(&c->u->lock);
	if (!id)
		return -ENOMEM;
	id->uid = q->uid;
	id->port_space = q->ps;
	id->qp_type = (uint8_t)qp_type;
	err = ucma_create_ep(c, id);
	r.id = id->number;

	pthread_mutex_lock(&c->u->lock);
	if (err)
		ucma_id_remove(&c->u->ids, id);
	else
		ucma_id_release(&c->u->ids, id);
	pthread_mutex_unlock(&c->u->lock);
	if (err)
		ucma_id_free(id);
	else
		ucma_respond(c, &r, sizeof r);
	return err;
}

uint32_t ucma_end_id(struct ucma *u, struct ucma_id *id)
{
	uint32_t events_reported;

	pthread_mutex_lock(&u->lock);
	ucma_id_remove(&u->ids, id);
	events_reported = id->events_reported;
	pthread_mutex_unlock(&u->lock);
	rnic_ep_destroy(id->ep);
	ucma_id_free(id);
	return events_reported;
}

int ucma_destroy_id(struct ucma_call *c)
{
	struct rdma_ucm_destroy_id_resp r = {.events_reported = ucma_end_id(c->u, c->id)};

	c->id = NULL;
	ucma_respond(c, &r, sizeof r);
	return 0;
}

/* The command is written to the new channel, and names the old one. */
int ucma_migrate_id(struct ucma_call *c)
{
	const struct rdma_ucm_migrate_id *q = &c->cmd.migrate_id;
	struct rdma_ucm_migrate_resp r = {0};
	struct ucma *u = c->u;
	struct ucma_channel *from;
	struct ucma_id *id;
	int err;

	/* The kernel's ucma_migrate_id(): no file, or another one's. */
	err = q->fd > INT32_MAX || fcntl((int)q->fd, F_GETFD) < 0 ? -ENOENT : -EINVAL;
	pthread_mutex_lock(&u->lock);
	from = err == -EINVAL ? ucma_channel_find(&u->channels, (int)q->fd) : NULL;
	if (from)
		err = ucma_id_hold(&u->ids, &u->lock, from, q->id, &id);
	if (!err) {
		/* It may have waited: what is closed by now has ended all its ids. */
		if (c->ch->closed)
			err = -EINVAL;
		else
			ucma_id_migrate(id, c->ch);
		r.events_reported = id->events_reported;
		ucma_id_release(&u->ids, id);
	}
	pthread_mutex_unlock(&u->lock);
	if (!err)
		ucma_respond(c, &r, sizeof r);
	return err;
}
