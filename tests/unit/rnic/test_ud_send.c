/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs: what is sent, and when. */
#include "ud_pair.h"

#include <errno.h>

static void test_send_errors(void **state)
{
	static const unsigned status[] = {
		RDMAP_WC_LOC_LEN_ERR, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_LOC_QP_OP_ERR};

	for (unsigned i = 0; i < 3; i++) {
		struct rdmap_wqe *w =
			ud_pair_begin(1, i == 0 ? UD_PAIR_MTU + 1 : 10, &ud_pair_to_b);

		if (i == 1)
			w->sge[0].stag = 12345;
		if (i == 2)
			w->op = RDMAP_WR_WRITE;
		rnic_sq_commit(ud.qp[0]);
		w = rnic_sq_next(ud.qp[0]);
		w->wr_id = 2;
		w->op = RDMAP_WR_SEND;
		ud_pair_end();
		assert_int_equal(
			pair_expect(&ud.pair, &ud.pair.a, 1, status[i]).wc.status, status[i]);
		ud_pair_expect_sent(2, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(rnic_qp_get_state(ud.qp[0]), RNIC_QP_ERROR);
		assert_int_equal(ud.wire[0].commits, 0);
		assert_int_equal(ud.wire[0].cancels, i >= 1);
		assert_int_equal(pair_go(ud.qp[0], RNIC_QP_RESET), 0);
		ud_pair_go(ud.qp[0]);
	}
}

/* There is no way to that peer: the datagram is lost, as anywhere. */
static void test_no_way(void **state)
{
	ud.wire[0].begin_rc = -ENETUNREACH;
	ud_pair_send(1, 10);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_ud_get_stats(ud.pair.a.rnic).no_way, 1);
}

/* What has no room waits, and goes in its order. */
static void test_waits(void **state)
{
	ud.wire[0].begin_rc = -EAGAIN;
	for (unsigned i = 0; i < 3; i++) {
		ud_pair_post_recv(7 + i, 100);
		ud_pair_send(i, 10 + i);
	}
	pair_expect_none(&ud.pair, &ud.pair.a);
	ud.wire[0].begin_rc = 0;
	pair_advance(&ud.pair, 1);
	for (unsigned i = 0; i < 3; i++) {
		ud_pair_expect_sent(i, RDMAP_WC_SUCCESS);
		ud_pair_expect_received(7 + i, 10 + i);
	}
	/* Nor is it forgotten what the port has not sent yet. */
	ud.wire[0].stuck = true;
	ud_pair_send(9, 1);
	ud.wire[0].stuck = false;
	ud.wire[0].flushes = 0;
	pair_advance(&ud.pair, 1);
	assert_true(ud.wire[0].flushes != 0);
	ud_pair_expect_sent(9, RDMAP_WC_SUCCESS);
}

/* More than a burst goes on by itself. */
static void test_burst(void **state)
{
	ud_pair_send_many(2 * UD_BURST, 0);
	assert_int_equal(ud.wire[0].commits, UD_BURST);
	pair_advance(&ud.pair, 1);
	assert_int_equal(ud.wire[0].commits, 2 * UD_BURST);
}

/* In SQD nothing is sent; what waits is sent in RTS. */
static void test_sqd(void **state)
{
	ud_pair_post_recv(7, 100);
	assert_int_equal(pair_go(ud.qp[0], RNIC_QP_SQD), 0);
	ud_pair_send(1, 10);
	pair_expect_none(&ud.pair, &ud.pair.a);
	assert_int_equal(pair_go(ud.qp[0], RNIC_QP_RTS), 0);
	ud_pair_expect_sent(1, RDMAP_WC_SUCCESS);
	ud_pair_expect_received(7, 10);
	/* Destroyed while something waits. */
	ud.wire[0].begin_rc = -EAGAIN;
	ud_pair_send(2, 10);
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = NULL;
	pair_advance(&ud.pair, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, ud_pair_setup, ud_pair_teardown)
		TEST(test_send_errors),
		TEST(test_no_way),
		TEST(test_waits),
		TEST(test_burst),
		TEST(test_sqd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
