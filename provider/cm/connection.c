/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/connection.h"

#include "provider/cm/address.h"

#include <errno.h>
#include <infiniband/verbs.h>

/** The kernel's default of /proc/sys/net/rdma_ucm/max_backlog. */
#define MAX_BACKLOG 1024

/** CM reject reasons of IB (IBTA table 95) that the kernel lets a program give; MPA has none. */
#define REASON_NONE                 0
#define REASON_CONSUMER_DEFINED     28
#define REASON_VENDOR_NOT_SUPPORTED 35

int ucma_listen(struct ucma_call *c)
{
	static const struct ip_endpoint anywhere = {{.b = {[10] = 0xff, [11] = 0xff}}, 0};
	uint32_t backlog = c->cmd.listen.backlog;
	int err = ucma_check_port_space(c->id);

	if (err)
		return err;
	if (ucma_state(c) == UCMA_IDLE)
		err = ucma_bind_to(c, &anywhere, AF_INET);
	if (!err && c->id->loopback)
		err = -EADDRNOTAVAIL;
	if (!err)
		err = ucma_step(c, UCMA_ADDR_BOUND, UCMA_LISTEN);
	if (err)
		return err;
	err = rnic_ep_listen(c->id->ep, backlog && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG);
	if (err)
		ucma_step(c, UCMA_LISTEN, UCMA_ADDR_BOUND);
	return err;
}

static int ucma_rc_param(
	struct ucma_call *c, const struct rdma_ucm_conn_param *q, struct rnic_conn_param *p)
{
	if (!q->valid)
		return -EINVAL;
	*p = (struct rnic_conn_param){
		.qp_num = q->qp_num,
		.ird = q->responder_resources,
		.ord = q->initiator_depth,
		.private_data = q->private_data,
		.private_len = q->private_data_len,
		.tos = c->id->tos,
	};
	return 0;
}

/* For UD a peer is told of any QP, with any Q_Key but 0, which stands for that of the id. */
static int ucma_ud_param(
	struct ucma_call *c, const struct rdma_ucm_conn_param *q, struct rnic_conn_param *p)
{
	if (!q->valid)
		return -EINVAL;
	*p = (struct rnic_conn_param){
		.ud_qp = q->qp_num,
		.ud_qkey = q->qkey ? q->qkey : c->id->qkey,
		.private_data = q->private_data,
		.private_len = q->private_data_len,
	};
	return 0;
}

static int ucma_conn_param(
	struct ucma_call *c, const struct rdma_ucm_conn_param *q, struct rnic_conn_param *p)
{
	return c->id->ud ? ucma_ud_param(c, q, p) : ucma_rc_param(c, q, p);
}

int ucma_connect(struct ucma_call *c)
{
	struct rnic_conn_param p;
	int err = ucma_conn_param(c, &c->cmd.connect.conn_param, &p);

	if (!err)
		err = ucma_step(c, UCMA_ROUTE_RESOLVED, UCMA_CONNECT);
	if (err)
		return err;
	/* What the peer answers, and the end. */
	err = ucma_expect(c, 1, 1);
	if (!err)
		err = rnic_ep_connect(c->id->ep, &p);
	if (err)
		ucma_step(c, UCMA_CONNECT, UCMA_ROUTE_RESOLVED);
	return err;
}

static void ucma_set_uid(const struct ucma_call *c, uint64_t uid)
{
	pthread_mutex_lock(&c->u->lock);
	c->id->uid = uid;
	pthread_mutex_unlock(&c->u->lock);
}

/*
 * Without parameters (rdma_establish()) it answers a CONNECT_RESPONSE, which iWARP does not have.
 * As in the kernel's rdma_accept(), one that fails rejects: the peer waits for an answer.
 */
int ucma_accept(struct ucma_call *c)
{
	struct rnic_conn_param p;
	int err;

	if (!c->cmd.accept.conn_param.valid)
		return -EINVAL;
	err = ucma_step(c, UCMA_REQUEST, UCMA_CONNECT);
	if (err)
		return err;
	/* ESTABLISHED may come before the call is back, and needs the name. */
	ucma_set_uid(c, c->cmd.accept.uid);
	err = ucma_conn_param(c, &c->cmd.accept.conn_param, &p);
	if (!err) /* that the peer goes on, and the end */
		err = ucma_expect(c, 0, 2);
	if (!err)
		err = rnic_ep_accept(c->id->ep, &p);
	if (err) {
		ucma_set_uid(c, 0);
		ucma_step(c, UCMA_CONNECT, UCMA_REJECTED);
		rnic_ep_reject(c->id->ep, NULL, 0);
	}
	return err;
}

int ucma_reject(struct ucma_call *c)
{
	const struct rdma_ucm_reject *q = &c->cmd.reject;
	int err;

	if (q->reason != REASON_NONE && q->reason != REASON_CONSUMER_DEFINED &&
		q->reason != REASON_VENDOR_NOT_SUPPORTED)
		return -EINVAL;
	err = ucma_step(c, UCMA_REQUEST, UCMA_REJECTED);
	return err ? err : rnic_ep_reject(c->id->ep, q->private_data, q->private_data_len);
}

int ucma_disconnect(struct ucma_call *c)
{
	int err;

	if (!ucma_step(c, UCMA_REQUEST, UCMA_REJECTED))
		return rnic_ep_reject(c->id->ep, NULL, 0);
	if (ucma_state(c) == UCMA_REJECTED)
		return 0;
	if (ucma_state(c) != UCMA_CONNECT)
		return -EINVAL;
	err = rnic_ep_disconnect(c->id->ep);
	/* The peer may have been first: the kernel's iwcm.c calls that success. */
	return err == -ENOTCONN ? 0 : err;
}

/* As the kernel's cma_ib_init_qp_attr(): one answer for all states. */
static int ucma_init_ud_attr(struct ucma_call *c)
{
	const struct ib_uverbs_qp_attr r = {.qp_state = c->cmd.init_qp_attr.qp_state,
		.qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		.qkey = c->id->qkey,
		.port_num = 1};

	ucma_respond(c, &r, sizeof r);
	return 0;
}

/*
 * As the kernel's iw_cm_init_qp_attr() and rdma_init_qp_attr(): there is little to set, since the
 * connection brings the QP to RTS. The access rights are granted from the start here; atomics
 * among them, as its ib_cm does (iWARP devices of the kernel have none).
 */
int ucma_init_qp_attr(struct ucma_call *c)
{
	struct ib_uverbs_qp_attr r = {.qp_state = c->cmd.init_qp_attr.qp_state, .port_num = 1};

	if (c->id->ud)
		return ucma_init_ud_attr(c);
	switch (r.qp_state) {
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		r.qp_attr_mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT;
		r.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		break;
	case IBV_QPS_RTS:
		r.qp_attr_mask = IBV_QP_PORT;
		break;
	default:
		return -EINVAL;
	}
	ucma_respond(c, &r, sizeof r);
	return 0;
}

/* "Communication established" matters to IB alone. */
int ucma_notify(struct ucma_call *c)
{
	return rnic_ep_has_device(c->id->ep) ? 0 : -EINVAL;
}
