/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include "manual_walk.h"

static void walk_create(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 0, .max_sge = 1}};
	struct ibv_srq_init_attr_ex x = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_context *c = fx.context;

	NIL("ibv_create_srq", "no elements", ibv_create_srq(w.pd, &a), EINVAL);
	a.attr.max_wr = (uint32_t)w.attr.max_srq_wr + 1;
	NIL("ibv_create_srq", "too many", ibv_create_srq(w.pd, &a), EINVAL);
	a.attr.max_wr = 1;
	a.attr.max_sge = (uint32_t)w.attr.max_srq_sge + 1;
	NIL("ibv_create_srq", "too many pieces", ibv_create_srq(w.pd, &a), EINVAL);
	NIL("ibv_create_srq_ex", "no PD", ibv_create_srq_ex(c, &x), EINVAL);
	x.pd = w.pd;
	x.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
		      IBV_SRQ_INIT_ATTR_CQ;
	x.srq_type = IBV_SRQT_XRC;
	x.cq = w.cq;
	NIL("ibv_create_srq_ex", "XRC", ibv_create_srq_ex(c, &x), EOPNOTSUPP);
	x.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_TM;
	x.srq_type = IBV_SRQT_TM;
	NIL("ibv_create_srq_ex", "tag matching", ibv_create_srq_ex(c, &x), EOPNOTSUPP);
}

static void walk_change(void)
{
	struct ibv_srq_attr a = {.srq_limit = 100000};
	struct ibv_async_event ev;

	INT("ibv_modify_srq", "unknown attribute", ibv_modify_srq(w.srq, &a, 8), EINVAL);
	INT("ibv_modify_srq", "resize: no IBV_DEVICE_SRQ_RESIZE",
		ibv_modify_srq(w.srq, &a, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	INT("ibv_modify_srq", "a limit above its size", ibv_modify_srq(w.srq, &a, IBV_SRQ_LIMIT),
		EINVAL);
	a.srq_limit = 2;
	INT("ibv_modify_srq", "plain", ibv_modify_srq(w.srq, &a, IBV_SRQ_LIMIT), 0);
	INT("ibv_query_srq", "plain", ibv_query_srq(w.srq, &a), 0);
	TRUE("ibv_query_srq", "told at once: it is empty", a.srq_limit == 0 && a.max_wr >= 4);
	INT("ibv_get_async_event", "limit reached", ibv_get_async_event(w.srq->context, &ev), 0);
	TRUE("ibv_get_async_event", "limit reached",
		ev.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && ev.element.srq == w.srq);
	ibv_ack_async_event(&ev);
}

static void walk_post_srq(void)
{
	struct ibv_sge sge[2] = {{.addr = (uintptr_t)w.buf, .length = 8, .lkey = w.mr->lkey}};
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = 2}, *bad = NULL;

	INT("ibv_post_srq_recv", "too many pieces", ibv_post_srq_recv(w.srq, &wr, &bad), EINVAL);
	TRUE("ibv_post_srq_recv", "which", bad == &wr);
	wr.num_sge = -1;
	INT("ibv_post_srq_recv", "fewer than none", ibv_post_srq_recv(w.srq, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	for (int rc = 0; rc == 0;)
		rc = ibv_post_srq_recv(w.srq, &wr, &bad);
	INT("ibv_post_srq_recv", "full", ibv_post_srq_recv(w.srq, &wr, &bad), ENOMEM);
}

static void walk_destroy(void)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .send_cq = w.cq, .recv_cq = w.cq};
	struct ibv_recv_wr wr = {0}, *bad = NULL;
	struct ibv_qp *qp;

	a.srq = w.srq;
	qp = ibv_create_qp(w.pd, &a);
	INT("ibv_destroy_srq", "with a QP", ibv_destroy_srq(w.srq), EBUSY);
	INT("ibv_post_recv", "to a QP with an SRQ", ibv_post_recv(qp, &wr, &bad), EINVAL);
	INT("ibv_destroy_qp", "with an SRQ", ibv_destroy_qp(qp), 0);
}

void walk_srq(void **state)
{
	walk_create();
	walk_change();
	walk_post_srq();
	walk_destroy();
}
