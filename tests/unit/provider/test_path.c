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
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

	return ibv_modify_qp(
		qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr_with(struct ibv_qp *qp, const struct ibv_qp *peer, uint32_t psn)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = 1, .is_global = 1}};

	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &a.ah_attr.grh.dgid), 0);
	return ibv_modify_qp(qp, &a,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_rtr(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	return to_rtr_with(qp, peer, PSN(peer));
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

static void receive_nothing(struct lone *l)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

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

static void write_and_read(struct lone *l, struct ibv_mr *mr, char *from, char *to)
{
	struct ibv_sge out = {(uintptr_t)from, 8, mr->lkey}, back = {(uintptr_t)from, 8, mr->lkey};
	struct ibv_send_wr read = {.wr_id = 4,
		.sg_list = &back,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)to, mr->rkey}};
	struct ibv_send_wr write = read, *bad;

	write.opcode = IBV_WR_RDMA_WRITE;
	write.wr_id = 3;
	write.sg_list = &out;
	write.next = &read;
	assert_int_equal(ibv_post_send(l->qp, &write, &bad), 0);
	for (uint64_t id = 3; id <= 4; id++) {
		struct ibv_wc wc = take(l->cq);

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, id);
	}
	assert_string_equal(to, from);
}

/* Of a send to itself there are two completions, in either order. */
static void exchange_with_itself(struct lone *l, struct ibv_mr *mr, char *from, char *to)
{
	unsigned seen = 0;

	receive(l, mr, to);
	send_message(l, mr, from);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = take(l->cq);

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		seen |= 1u << wc.wr_id;
	}
	assert_int_equal(seen, 1u << 1 | 1u << 2);
	assert_string_equal(to, from);
}

/* InfiniBand's QP may be its own peer. */
static void test_itself(void **state)
{
	char buf[3][8] = {"first", "second", ""};
	struct ibv_mr *mr;
	struct lone l;

	lone_open(&l, &small, 16, false);
	mr = ibv_reg_mr(l.pd, buf, sizeof buf,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	/* Also a second time, after a reset. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(to_init(l.qp), 0);
		assert_int_equal(to_rtr(l.qp, l.qp), 0);
		assert_int_equal(to_rts(l.qp), 0);
		exchange_with_itself(&l, mr, buf[i], buf[2]);
		write_and_read(&l, mr, buf[1 - i], buf[2]);
		assert_int_equal(qp_go(l.qp, IBV_QPS_RESET), 0);
	}
	/* What is still posted when it ends is flushed, once. */
	assert_int_equal(to_init(l.qp), 0);
	receive(&l, mr, buf[2]);
	assert_int_equal(to_rtr(l.qp, l.qp), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_ERR), 0);
	assert_int_equal(take(l.cq).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	lone_close(&l);
}

/* Starting PSNs that do not meet are found at RTS, as between two. */
static void test_itself_with_another_psn(void **state)
{
	struct lone l, other;

	lone_open(&other, &small, 16, false);
	lone_open(&l, &small, 16, false);
	assert_int_equal(to_init(l.qp), 0);
	assert_int_equal(to_rtr_with(l.qp, l.qp, PSN(other.qp)), 0);
	receive_nothing(&l);
	assert_int_equal(to_rts(l.qp), 0);
	assert_int_equal(take(l.cq).status, IBV_WC_WR_FLUSH_ERR);
	lone_close(&l);
	lone_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_two_of_one_program),
		OPENED(test_itself),
		OPENED(test_itself_with_another_psn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
