/* SPDX-License-Identifier: BSD-2-Clause */
/* Two QPs of one program that connect by themselves, in the words of InfiniBand. */
#include "fixture.h"

#include <errno.h>
#include <string.h>

#define PSN(qp) ((qp)->qp_num * 7 & 0xffffff)

static const struct ibv_qp_cap small = {
	.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	return ibv_modify_qp(
		qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.rq_psn = PSN(peer),
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = 1, .is_global = 1}};

	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &a.ah_attr.grh.dgid), 0);
	return ibv_modify_qp(qp, &a,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = PSN(qp),
		.max_rd_atomic = 1};

	return ibv_modify_qp(qp, &a,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void receive(struct lone *l, struct ibv_mr *mr, char *buf)
{
	struct ibv_sge sge = {(uintptr_t)buf, 8, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(l->qp, &wr, &bad), 0);
}

static void send_message(struct lone *l, struct ibv_mr *mr, char *buf)
{
	struct ibv_sge sge = {(uintptr_t)buf, 8, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 2,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	assert_int_equal(ibv_post_send(l->qp, &wr, &bad), 0);
}

static void test_two_of_one_program(void **state)
{
	char from[8] = "message", to[8] = "";
	struct ibv_mr *out, *in;
	struct lone a, b;
	struct ibv_wc wc;

	lone_open(&a, &small, 16, false);
	lone_open(&b, &small, 16, false);
	out = ibv_reg_mr(a.pd, from, sizeof from, IBV_ACCESS_LOCAL_WRITE);
	in = ibv_reg_mr(b.pd, to, sizeof to, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(out);
	assert_non_null(in);
	assert_int_equal(to_init(a.qp), 0);
	assert_int_equal(to_init(b.qp), 0);
	assert_int_equal(to_rtr(b.qp, a.qp), 0);
	assert_int_equal(to_rts(b.qp), 0);
	assert_int_equal(to_rtr(a.qp, b.qp), 0);
	assert_int_equal(to_rts(a.qp), 0);
	send_message(&a, out, from);
	wc = take(a.cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	receive(&b, in, to); /* late */
	wc = take(b.cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 8);
	assert_string_equal(to, "message");
	/* The other's end is seen by the next send. */
	assert_int_equal(ibv_dereg_mr(in), 0);
	lone_close(&b);
	while (a.qp->state != IBV_QPS_ERR) {
		struct ibv_qp_attr now;
		struct ibv_qp_init_attr init;

		send_message(&a, out, from);
		wc = take(a.cq);
		assert_int_equal(ibv_query_qp(a.qp, &now, IBV_QP_STATE, &init), 0);
	}
	assert_int_equal(wc.status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(ibv_dereg_mr(out), 0);
	lone_close(&a);
}

/* InfiniBand's QP may be its own peer; a stream of ours has two ends. */
static void test_itself(void **state)
{
	struct lone l;

	lone_open(&l, &small, 16, false);
	assert_int_equal(to_init(l.qp), 0);
	assert_int_equal(to_rtr(l.qp, l.qp), EINVAL);
	assert_int_equal(l.qp->state, IBV_QPS_INIT);
	lone_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_two_of_one_program),
		OPENED(test_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
