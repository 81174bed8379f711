/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs: what arrives, and what does not. */
#include "ud_pair.h"

#include <errno.h>
#include <string.h>

/* A GRH of 40 octets, then the message; none of it was there before. */
static void test_message(void **state)
{
	static const uint8_t grh[] = {
		0x60, 0x40, 0, 0, 0, 100, 0x1b, 61, [8] = 1, [24] = 2, [39] = 0};
	struct rdmap_wc wc;

	ud_pair_post_recv(7, 1000);
	ud_pair_send(1, 100);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	wc = ud_pair_expect_received(7, 100);
	assert_int_equal(wc.flags, RDMAP_WC_GRH);
	assert_memory_equal(ud.pair.b.buf + UD_PAIR_AT_B, grh, sizeof grh);
	assert_int_equal(ud.wire[0].to_port, UD_PAIR_PORT);
	assert_int_equal(ud.wire[0].path.tos, 4);
	assert_int_equal(ud_pair_stats().received, 1);
	assert_int_equal(rnic_ud_get_stats(ud.pair.a.rnic).sent, 1);
}

static void test_immediate(void **state)
{
	struct rdmap_wqe *w;
	struct rdmap_wc wc;

	assert_true(rnic_qp_takes_send_imm(ud.qp[0]));
	ud_pair_post_recv(7, 1000);
	ud_pair_post_recv(8, 1000);
	w = ud_pair_begin(1, 3, &ud_pair_to_b);
	w->op = RDMAP_WR_SEND_IMM;
	w->imm = 0x01020304;
	w->flags = RDMAP_WR_INLINE | RDMAP_WR_SOLICITED;
	w->num_sge = 0;
	memcpy(rdmap_wqe_inline(w), ud.pair.a.buf, 3);
	ud_pair_end();
	wc = ud_pair_expect_received(7, 3);
	assert_int_equal(wc.flags, RDMAP_WC_GRH | RDMAP_WC_WITH_IMM | RDMAP_WC_SOLICITED);
	assert_int_equal(wc.imm, 0x01020304);
	pair_expect_none(&ud.pair, &ud.pair.a);
	ud_pair_send(2, 0);
	ud_pair_expect_sent(2, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_expect_received(8, 0).flags, RDMAP_WC_GRH);
}

/* An empty element is passed over, whatever its key. */
static void test_gather_empty(void **state)
{
	struct rdmap_wqe *w;

	ud_pair_post_recv(7, 1000);
	w = ud_pair_begin(1, 3, &ud_pair_to_b);
	w->sge[1] = w->sge[0];
	w->sge[0] = (struct rdmap_sge){.len = 0};
	w->num_sge = 2;
	ud_pair_end();
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(7, 3);
}

/* The message and its GRH lie across the elements of a list. */
static void test_scatter(void **state)
{
	struct rdmap_rqe *e;

	assert_int_equal(rnic_rq_begin(ud.qp[1]), 0);
	e = rnic_rq_next(ud.qp[1]);
	e->wr_id = 7;
	e->length = 60;
	e->num_sge = 2;
	for (unsigned i = 0; i < 2; i++)
		e->sge[i] =
			(struct rdmap_sge){.addr = (uintptr_t)ud.pair.b.buf + UD_PAIR_AT_B + 30 * i,
				.len = 30,
				.stag = rnic_mr_stag(ud.pair.b.mr)};
	rnic_rq_commit(ud.qp[1]);
	rnic_rq_end(ud.qp[1]);
	ud_pair_send(1, 20);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(7, 20);
}

static void test_srq(void **state)
{
	struct rnic_srq *srq;
	struct rdmap_rqe *e;

	assert_int_equal(rnic_srq_create(ud.pair.b.pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(ud.qp[1]), 0);
	ud.qp[1] = ud_pair_qp(&ud.pair.b, srq);
	ud_pair_go(ud.qp[1]);
	assert_int_equal(rnic_srq_begin(srq), 0);
	e = rnic_srq_next(srq);
	e->wr_id = 9;
	e->length = 100;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){.addr = (uintptr_t)ud.pair.b.buf + UD_PAIR_AT_B,
		.len = 100,
		.stag = rnic_mr_stag(ud.pair.b.mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
	ud_pair_send(1, 61); /* one octet too many: the element stays */
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	ud_pair_send(2, 60);
	ud_pair_expect_sent(2, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(9, 60);
	assert_int_equal(ud_pair_stats().too_long, 1);
	ud_pair_send(3, 60);
	ud_pair_expect_sent(3, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_stats().no_receive, 1);
	assert_int_equal(rnic_qp_destroy(ud.qp[1]), 0);
	ud.qp[1] = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

/* Dropped and counted: no completion, and what is posted stays. */
static void test_dropped(void **state)
{
	struct rnic_ud_to to = ud_pair_to_b;

	ud_pair_send(1, 100);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_stats().no_receive, 1);
	ud_pair_post_recv(7, RNIC_UD_GRH_LEN + 99);
	ud_pair_send(2, 100);
	ud_pair_expect_sent(2, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_stats().too_long, 1);
	to.qkey ^= 1;
	ud_pair_begin(3, 10, &to);
	ud_pair_end();
	ud_pair_expect_sent(3, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_stats().wrong_qkey, 1);
	ud_pair_begin(4, 10, &ud_pair_to_b)->remote_stag =
		rnic_qp_num(ud.pair.b.qp); /* reliable, connected */
	ud_pair_end();
	ud_pair_begin(5, 10, &ud_pair_to_b)->remote_stag += 77;
	ud_pair_end();
	ud_pair_expect_sent(4, RDMAP_WC_SUCCESS);
	ud_pair_expect_sent(5, RDMAP_WC_SUCCESS);
	assert_int_equal(ud_pair_stats().no_qp, 2);
	pair_expect_none(&ud.pair, &ud.pair.b);
	to.qkey = 0x80000000; /* ours */
	ud_pair_begin(6, 99, &to);
	ud_pair_end();
	ud_pair_expect_sent(6, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(7, 99);
}

static void test_states(void **state)
{
	static const enum rnic_qp_state states[] = {RNIC_QP_RESET, RNIC_QP_INIT, RNIC_QP_ERROR};

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pair_go(ud.qp[1], RNIC_QP_RESET), 0);
		if (states[i] != RNIC_QP_RESET)
			assert_int_equal(pair_go(ud.qp[1], states[i]), 0);
		ud_pair_send(i, 10);
		ud_pair_expect_sent(i, RDMAP_WC_SUCCESS);
		assert_int_equal(ud_pair_stats().no_qp, i + 1);
	}
	assert_int_equal(pair_go(ud.qp[1], RNIC_QP_RESET), 0);
	assert_int_equal(ud.qp[1]->ud->qkey, 0);
	ud_pair_go(ud.qp[1]);
	assert_int_equal(pair_go(ud.qp[1], RNIC_QP_SQD), 0);
	ud_pair_post_recv(7, 100);
	ud_pair_send(9, 10);
	ud_pair_expect_sent(9, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(7, 10);
}

static void test_malformed(void **state)
{
	const struct ud_path path = {.ttl = 1};
	uint8_t bytes[UD_OVERHEAD] = {0};

	for (size_t len = 0; len <= sizeof bytes; len++)
		ud.wire[1].input(ud.wire[1].user, &path, bytes, len);
	assert_int_equal(ud_pair_stats().bad, sizeof bytes + 1);
	ud.wire[1].net.refused = 3;
	assert_int_equal(ud_pair_stats().refused, 3);
}

/* The program's own mistake: its receive says so, and the QP is in ERROR. */
static void test_receive_without_memory(void **state)
{
	struct rdmap_rqe *e;

	assert_int_equal(rnic_rq_begin(ud.qp[1]), 0);
	e = rnic_rq_next(ud.qp[1]);
	e->wr_id = 7;
	e->length = 100;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){.addr = 8, .len = 100, .stag = 12345};
	rnic_rq_commit(ud.qp[1]);
	rnic_rq_end(ud.qp[1]);
	ud_pair_post_recv(8, 100);
	ud_pair_send(1, 10);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	pair_expect(&ud.pair, &ud.pair.b, 7, RDMAP_WC_LOC_PROT_ERR);
	pair_expect(&ud.pair, &ud.pair.b, 8, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(rnic_qp_get_state(ud.qp[1]), RNIC_QP_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, ud_pair_setup, ud_pair_teardown)
		TEST(test_message),
		TEST(test_immediate),
		TEST(test_gather_empty),
		TEST(test_scatter),
		TEST(test_srq),
		TEST(test_dropped),
		TEST(test_states),
		TEST(test_malformed),
		TEST(test_receive_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
