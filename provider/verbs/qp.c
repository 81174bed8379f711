/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)IBV_QPS_RESET == RNIC_QP_RESET && (int)IBV_QPS_INIT == RNIC_QP_INIT &&
		       (int)IBV_QPS_RTR == RNIC_QP_RTR && (int)IBV_QPS_RTS == RNIC_QP_RTS &&
		       (int)IBV_QPS_SQD == RNIC_QP_SQD && (int)IBV_QPS_SQE == RNIC_QP_SQE &&
		       (int)IBV_QPS_ERR == RNIC_QP_ERROR,
	"states are passed through");

#define ACCESS_REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- create, destroy ------------------------------------------------------------------------- */

static int check_init(const struct ibv_pd *pd, const struct ibv_qp_init_attr *a)
{
	const struct rnic_limits *l = rnic_get_limits(device_of(pd->context)->rnic);
	const struct ibv_qp_cap *cap = &a->cap;

	/* RFC 5040 section 3: RDMAP streams are reliable and connected. */
	if (a->qp_type != IBV_QPT_RC)
		return -EOPNOTSUPP;
	if (a->send_cq == NULL || a->recv_cq == NULL || a->send_cq->context != pd->context ||
		a->recv_cq->context != pd->context ||
		(a->srq != NULL && a->srq->context != pd->context))
		return -EINVAL;
	if (cap->max_send_wr > l->max_qp_wr || cap->max_send_sge > l->max_sge ||
		cap->max_inline_data > l->max_inline)
		return -EINVAL;
	/* With an SRQ the receive side's numbers are ignored. */
	if (a->srq == NULL && (cap->max_recv_wr > l->max_qp_wr || cap->max_recv_sge > l->max_sge))
		return -EINVAL;
	return 0;
}

static int create_rnic_qp(struct qp *qp, struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct rnic_qp_init init = {
		.send_cq = OBJECT_OF(cq, a->send_cq)->rnic,
		.recv_cq = OBJECT_OF(cq, a->recv_cq)->rnic,
		.srq = a->srq == NULL ? NULL : OBJECT_OF(srq, a->srq)->rnic,
		.context = qp,
		.max_send_wr = a->cap.max_send_wr,
		.max_recv_wr = a->srq == NULL ? a->cap.max_recv_wr : 0,
		.max_send_sge = a->cap.max_send_sge,
		.max_recv_sge = a->srq == NULL ? a->cap.max_recv_sge : 0,
		.max_inline = a->cap.max_inline_data,
		.sq_sig_all = a->sq_sig_all != 0,
	};
	int rc = rnic_qp_create(OBJECT_OF(pd, pd)->rnic, &init, &qp->rnic);

	if (rc != 0)
		return rc;
	a->cap.max_send_wr = init.max_send_wr;
	a->cap.max_recv_wr = init.max_recv_wr;
	a->cap.max_send_sge = qp->max_send_sge = init.max_send_sge;
	a->cap.max_recv_sge = qp->max_recv_sge = init.max_recv_sge;
	a->cap.max_inline_data = qp->max_inline = init.max_inline;
	return 0;
}

static struct qp *create(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	int rc = check_init(pd, a);
	struct qp *qp;

	if (rc != 0)
		return fail_null(-rc);
	qp = calloc(1, sizeof *qp);
	if (qp == NULL)
		return fail_null(ENOMEM);
	qp->device = device_of(pd->context);
	qp->signal_all = a->sq_sig_all != 0 ? RDMAP_WR_SIGNALED : 0;
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = a->qp_context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = a->send_cq;
	qp->ibv.recv_cq = a->recv_cq;
	qp->ibv.srq = a->srq;
	qp->ibv.qp_type = IBV_QPT_RC;
	qp->ibv.state = IBV_QPS_RESET;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	rc = create_rnic_qp(qp, pd, a);
	if (rc != 0) {
		free(qp);
		return fail_null(-rc);
	}
	qp->ibv.qp_num = rnic_qp_num(qp->rnic);
	qp->ibv.handle = qp->ibv.qp_num;
	context_hold(pd->context);
	return qp;
}

struct ibv_qp *qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct qp *qp = create(pd, attr);

	return qp == NULL ? NULL : &qp->ibv;
}

#define INIT_MASK \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	bool ops = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
	struct ibv_qp_init_attr plain = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
	};
	struct qp *qp;

	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == NULL ||
		attr->pd->context != context)
		return fail_null(EINVAL);
	if ((attr->comp_mask & ~(uint32_t)INIT_MASK) != 0 ||
		((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 &&
			attr->create_flags != 0) ||
		(ops && (attr->send_ops_flags & ~(uint64_t)WR_API_OPS) != 0))
		return fail_null(EOPNOTSUPP);
	qp = create(attr->pd, &plain);
	if (qp == NULL)
		return NULL;
	attr->cap = plain.cap;
	if (ops) {
		qp->extended = true;
		wr_api_set_ops(qp);
	}
	return &qp->ibv;
}

struct ibv_qp_ex *qp_to_ex(struct ibv_qp *ibv)
{
	struct qp *qp = OBJECT_OF(qp, ibv);

	return qp->extended ? &qp->ex : NULL;
}

int qp_destroy(struct ibv_qp *ibv)
{
	struct qp *qp = OBJECT_OF(qp, ibv);
	struct ibv_context *context = ibv->context;
	int rc = rnic_qp_destroy(qp->rnic);

	if (rc != 0)
		return fail_errno(rc);
	async_forget(context, &qp->async_reported);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != qp->async_reported)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	free(qp);
	context_put(context);
	return 0;
}

/* ---- modify, query ----------------------------------------------------------------------------
 */

/* The queues keep their sizes (no IBV_DEVICE_RESIZE_MAX_WR), and nothing paces a QP. */
#define ATTR_REFUSED (IBV_QP_CAP | IBV_QP_RATE_LIMIT)
#define ATTR_ALL     (2 * IBV_QP_RATE_LIMIT - 1)

/* What iWARP has no use for may be given and is not looked at: paths, PSNs, retries, Q_Keys. */
static int translate_attr(
	const struct qp *qp, const struct ibv_qp_attr *a, int mask, struct rnic_qp_attr *out)
{
	const struct rnic_limits *l = rnic_get_limits(qp->device->rnic);
	unsigned what = 0;

	if ((mask & ~ATTR_ALL) != 0)
		return -EINVAL;
	if ((mask & ATTR_REFUSED) != 0)
		return -EOPNOTSUPP;
	if ((mask & IBV_QP_CUR_STATE) != 0 &&
		(int)a->cur_qp_state != (int)rnic_qp_get_state(qp->rnic))
		return -EINVAL;
	if ((mask & IBV_QP_PORT) != 0 && a->port_num != 1)
		return -EINVAL;
	if ((mask & IBV_QP_STATE) != 0) {
		if ((unsigned)a->qp_state > IBV_QPS_ERR)
			return -EINVAL;
		out->state = (enum rnic_qp_state)a->qp_state;
		what |= RNIC_QP_STATE;
	}
	if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
		out->access = a->qp_access_flags & ACCESS_REMOTE;
		what |= RNIC_QP_ACCESS;
	}
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
		if (a->max_rd_atomic > l->max_ord)
			return -EINVAL;
		out->ord = a->max_rd_atomic;
		what |= RNIC_QP_ORD;
	}
	if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) {
		if (a->max_dest_rd_atomic > l->max_ird)
			return -EINVAL;
		out->ird = a->max_dest_rd_atomic;
		what |= RNIC_QP_IRD;
	}
	return (int)what;
}

int qp_modify(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct qp *qp = OBJECT_OF(qp, ibv);
	struct rnic_qp_attr to = {0};
	int what = translate_attr(qp, attr, mask, &to);
	int rc = what;

	if (what > 0)
		rc = rnic_qp_modify(qp->rnic, (unsigned)what, &to);
	/*
	 * rdma_disconnect() moves an iWARP QP to SQD first and gives up if that fails; but the peer
	 * may have ended the connection before, and then there is nothing left to drain.
	 */
	if (rc == -EINVAL && what == RNIC_QP_STATE && to.state == RNIC_QP_SQD &&
		rnic_qp_get_state(qp->rnic) == RNIC_QP_ERROR)
		rc = 0;
	ibv->state = (enum ibv_qp_state)rnic_qp_get_state(qp->rnic);
	return fail_errno(rc);
}

int qp_query(
	struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
	struct qp *qp = OBJECT_OF(qp, ibv);
	struct rnic_qp_init init = {0};
	struct rnic_qp_attr now = {0};
	struct ibv_port_attr port;

	rnic_qp_query(qp->rnic, &now, &init);
	memset(attr, 0, sizeof *attr);
	ibv->state = (enum ibv_qp_state)now.state;
	attr->qp_state = attr->cur_qp_state = ibv->state;
	attr->qp_access_flags = now.access;
	attr->max_rd_atomic = (uint8_t)now.ord;
	attr->max_dest_rd_atomic = (uint8_t)now.ird;
	attr->port_num = 1;
	if (query_port(ibv->context, 1, &port, sizeof port) == 0)
		attr->path_mtu = port.active_mtu;
	attr->cap.max_send_wr = init.max_send_wr;
	attr->cap.max_recv_wr = init.max_recv_wr;
	attr->cap.max_send_sge = init.max_send_sge;
	attr->cap.max_recv_sge = init.max_recv_sge;
	attr->cap.max_inline_data = init.max_inline;
	if (init_attr != NULL)
		*init_attr = (struct ibv_qp_init_attr){
			.qp_context = ibv->qp_context,
			.send_cq = ibv->send_cq,
			.recv_cq = ibv->recv_cq,
			.srq = ibv->srq,
			.cap = attr->cap,
			.qp_type = ibv->qp_type,
			.sq_sig_all = qp->signal_all != 0,
		};
	return 0;
}

int qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	/* RFC 5040 section 5.5: placement order is not promised; nor is it here. */
	return 0;
}
