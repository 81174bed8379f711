/* SPDX-License-Identifier: BSD-2-Clause */
/* Offences that need a peer; each leaves the connection as it was, but the last. */
#include "manual_walk.h"

/* A Write, and a Read of what was written. */
static void still_moves_data(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 1000);

	fill(fx.client.buf, 11);
	aim(&wr, 0);
	client_posts(&wr);
	take_sent(wr.wr_id);
	wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, 1000);
	sge.addr += 2000;
	aim(&wr, 0);
	client_posts(&wr);
	take_sent(wr.wr_id);
	assert_memory_equal(fx.client.buf, fx.client.buf + 2000, 1000);
}

static void walk_requests(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_TSO}, *bad = NULL;
	struct ibv_qp *qp = fx.client.id->qp;

	INT("ibv_post_send", "no TSO", ibv_post_send(qp, &wr, &bad), EOPNOTSUPP);
	TRUE("ibv_post_send", "which", bad == &wr);
	still_moves_data();
}

/* A window in use keeps its region (ibv_dereg_mr(3)), and goes at any time. */
static void walk_bound(void)
{
	struct ibv_mw *mw = server_window(64);

	INT("ibv_dereg_mr", "with a window", ibv_dereg_mr(fx.server.mr), EBUSY);
	MINUS("ibv_rereg_mr", "with a window",
		ibv_rereg_mr(fx.server.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			IBV_ACCESS_LOCAL_WRITE),
		EBUSY);
	INT("ibv_dealloc_mw", "a bound one", ibv_dealloc_mw(mw), 0);
	still_moves_data();
}

static void walk_states(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .port_num = 1};
	struct ibv_qp *qp = fx.client.id->qp;

	INT("ibv_modify_qp", "back to RTR", ibv_modify_qp(qp, &a, IBV_QP_STATE), EINVAL);
	a.qp_state = IBV_QPS_INIT;
	INT("ibv_modify_qp", "back to INIT", ibv_modify_qp(qp, &a, IBV_QP_STATE), EINVAL);
	a.qp_state = IBV_QPS_SQE;
	INT("ibv_modify_qp", "to SQE", ibv_modify_qp(qp, &a, IBV_QP_STATE), EINVAL);
	a.qp_state = IBV_QPS_RTS;
	INT("ibv_modify_qp", "RTS again", ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	still_moves_data();
}

/* ibv_modify_qp(3), en_sqd_async_notify; ibv_get_async_event(3), IBV_EVENT_SQ_DRAINED. */
static void walk_drain(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1}, now;
	struct ibv_qp *qp = fx.client.id->qp;
	struct ibv_qp_init_attr init;
	struct ibv_async_event ev;

	INT("ibv_modify_qp", "drain",
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	INT("ibv_get_async_event", "drained", ibv_get_async_event(qp->context, &ev), 0);
	TRUE("ibv_get_async_event", "drained",
		ev.event_type == IBV_EVENT_SQ_DRAINED && ev.element.qp == qp);
	ibv_ack_async_event(&ev);
	INT("ibv_query_qp", "drained", ibv_query_qp(qp, &now, IBV_QP_STATE, &init), 0);
	TRUE("ibv_query_qp", "drained", now.qp_state == IBV_QPS_SQD && now.sq_draining == 0);
	a.qp_state = IBV_QPS_RTS;
	INT("ibv_modify_qp", "go on", ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	still_moves_data();
}

/* What is posted to a QP in ERROR completes flushed, however late. */
static void walk_end(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);
	struct ibv_wc wc;

	assert_int_equal(qp_go(fx.client.id->qp, IBV_QPS_ERR), 0);
	for (unsigned i = 0; i < 3; i++) {
		post_recv(&fx.client, i);
		wc = take(fx.client.id->recv_cq);
		INT("ibv_post_recv", "in ERROR", wc.status, IBV_WC_WR_FLUSH_ERR);
		client_posts(&wr);
		wc = take(fx.client.id->send_cq);
		INT("ibv_post_send", "in ERROR", wc.status, IBV_WC_WR_FLUSH_ERR);
	}
	INT("ibv_modify_qp", "drain what has ended", qp_go(fx.client.id->qp, IBV_QPS_SQD), 0);
}

void walk_connected(void **state)
{
	walk_requests();
	walk_bound();
	walk_states();
	walk_drain();
	walk_end();
}
