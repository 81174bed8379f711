/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>

/* RFC 5040 section 3: RDMAP streams are reliable and connected. UD is ours (docs/ud.md). */
static int qp_check_type(struct device *d, enum ibv_qp_type type)
{
	bool told;

	switch (type) {
	case IBV_QPT_RC:
		return 0;
	case IBV_QPT_UC:
		device_has_no(d, "UC queue pairs");
		break;
	case IBV_QPT_UD:
		told = rnic_ud_remark(d->rnic);
		if (rnic_ud_max_message(d->rnic) != 0)
			return 0;
		if (!told)
			device_has_no(d, "UD queue pairs");
		break;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		device_has_no(d, "XRC queue pairs");
		break;
	default:
		device_has_no(d, "raw queue pairs");
		break;
	}
	return -EOPNOTSUPP;
}

static int qp_check_init(const struct ibv_pd *pd, const struct ibv_qp_init_attr *a)
{
	int rc = qp_check_type(device_of(pd->context), a->qp_type);

	if (rc != 0)
		return rc;
	if (!a->send_cq || !a->recv_cq || a->send_cq->context != pd->context ||
		a->recv_cq->context != pd->context || (a->srq && a->srq->context != pd->context))
		return -EINVAL;
	return 0;
}

/* The RNIC holds the capacities to its limits. With an SRQ the receive side's are ignored. */
static int qp_create_rnic_qp(
	struct qp *qp, struct ibv_pd *pd, struct ibv_qp_init_attr *a, uint32_t flags)
{
	struct rnic_qp_init init = {
		.send_cq = OBJECT_OF(cq, a->send_cq)->rnic,
		.recv_cq = OBJECT_OF(cq, a->recv_cq)->rnic,
		.srq = !a->srq ? NULL : OBJECT_OF(srq, a->srq)->rnic,
		.context = qp,
		.max_send_wr = a->cap.max_send_wr,
		.max_recv_wr = !a->srq ? a->cap.max_recv_wr : 0,
		.max_send_sge = a->cap.max_send_sge,
		.max_recv_sge = !a->srq ? a->cap.max_recv_sge : 0,
		.max_inline = a->cap.max_inline_data,
		.sq_sig_all = a->sq_sig_all != 0,
		.ud = qp->ud,
		.block_self_multicast = (flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) != 0,
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

/** @param flags IBV_QP_CREATE_*, of those that there are here. */
static struct qp *qp_create_common(
	struct ibv_pd *pd, struct ibv_qp_init_attr *a, uint32_t flags, bool extended)
{
	int rc = context_is_closed(pd->context) ? -ENODEV : qp_check_init(pd, a);
	struct qp *qp;

	if (rc != 0)
		return fail_null(-rc);
	qp = calloc(1, offsetof(struct qp, ibv) + (extended ? sizeof qp->ex : sizeof qp->ibv));
	if (!qp)
		return fail_null(ENOMEM);
	qp->extended = extended;
	qp->ud = a->qp_type == IBV_QPT_UD;
	qp->device = device_of(pd->context);
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = a->qp_context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = a->send_cq;
	qp->ibv.recv_cq = a->recv_cq;
	qp->ibv.srq = a->srq;
	qp->ibv.qp_type = a->qp_type;
	qp->ibv.state = IBV_QPS_RESET;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	rc = qp_create_rnic_qp(qp, pd, a, flags);
	if (rc != 0) {
		free(qp);
		return fail_null(-rc);
	}
	qp->ibv.qp_num = rnic_qp_num(qp->rnic);
	qp->ibv.handle = qp->ibv.qp_num;
	pd_hold(pd);
	context_add(pd->context, &qp->object, OBJECT_QP);
	return qp;
}

struct ibv_qp *qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct qp *qp = qp_create_common(pd, attr, 0, false);

	return !qp ? NULL : &qp->ibv;
}

#define QP_INIT_MASK \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static uint64_t qp_builders(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? WR_API_UD_OPS : WR_API_OPS;
}

/** Those of IBV_QP_CREATE_* that there are. */
static uint32_t qp_flags(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
}

struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	bool ops = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
	uint32_t flags = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;
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

	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || !attr->pd ||
		attr->pd->context != context)
		return fail_null(EINVAL);
	if ((attr->comp_mask & ~(uint32_t)QP_INIT_MASK) != 0 ||
		(flags & ~qp_flags(attr->qp_type)) != 0 ||
		(ops && (attr->send_ops_flags & ~qp_builders(attr->qp_type)) != 0))
		return fail_null(EOPNOTSUPP);
	qp = qp_create_common(attr->pd, &plain, flags, ops);
	if (!qp)
		return NULL;
	attr->cap = plain.cap;
	if (ops)
		wr_api_set_ops(qp);
	return &qp->ibv;
}

struct ibv_qp_ex *qp_to_ex(struct ibv_qp *ibv)
{
	struct qp *qp = qp_of(ibv);

	return qp->extended ? &qp->ex : NULL;
}

int qp_destroy(struct ibv_qp *ibv)
{
	struct qp *qp = qp_of(ibv);
	struct ibv_context *context = ibv->context;
	struct ibv_pd *pd = ibv->pd;

	if (rnic_qp_is_attached(qp->rnic))
		return fail_errno(-EBUSY);
	context_withdraw(context, &qp->object);
	rnic_qp_retire(qp->rnic);
	/* A thread that has yet to acknowledge an event may use it until then. */
	async_forget(context, &qp->async);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != qp->async.reported)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	rnic_qp_free(qp->rnic);
	free(qp);
	pd_put(pd);
	context_put(context);
	return 0;
}

int qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	/* RFC 5040 section 5.5: placement order is not promised; nor is it here. */
	return 0;
}
