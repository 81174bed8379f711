/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs that are destroyed while something of them is still to be sent. */
#include "ud_pair.h"

#include <errno.h>

/* A program that ends does not take back what it has posted. */
static void test_destroyed(void **state)
{
	ud_pair_send_many(2 * UD_BURST, 0);
	assert_int_equal(ud.wire[0].commits, UD_BURST);
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = NULL;
	assert_int_equal(ud.wire[0].commits, 2 * UD_BURST);
	assert_true(ud.wire[0].flushes != 0);
	pair_advance(&ud.pair, 1);
	assert_int_equal(ud.wire[0].commits, 2 * UD_BURST);
}

static void send_one_more(void)
{
	ud_pair_send_many(1, 0);
}

/* Nor is it waited for a thread that goes on posting. */
static void test_destroyed_while_posted_to(void **state)
{
	ud_pair_send_many(2 * UD_BURST, 0);
	ud.wire[0].sending = send_one_more;
	rnic_qp_retire(ud.qp[0]);
	assert_in_range(ud.wire[0].commits, 2 * UD_BURST, 3 * UD_BURST);
	assert_int_equal(rnic_sq_begin(ud.qp[0]), -EINVAL);
	rnic_qp_free(ud.qp[0]);
	ud.qp[0] = NULL;
}

/* Nor does one that fails then tell of a QP that is gone. */
static void test_destroyed_by_a_send_that_fails(void **state)
{
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(ud.pair.a.pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = ud_pair_qp(&ud.pair.a, srq);
	ud_pair_go(ud.qp[0]);
	ud.wire[0].begin_rc = -EAGAIN;
	ud_pair_begin(1, 10, &ud_pair_to_b)->sge[0].stag ^= 0x100;
	ud_pair_end();
	ud.wire[0].begin_rc = 0;
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = NULL;
	assert_int_equal(ud.wire[0].cancels, 1);
	assert_int_equal(ud.pair.a.n_events, 0);
	pair_expect_none(&ud.pair, &ud.pair.a);
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

/* Its completions, which nobody will poll, take no room from the others at its CQ. */
static void test_destroyed_at_a_full_cq(void **state)
{
	struct rnic_qp *other = ud_pair_qp(&ud.pair.a, NULL);

	ud_pair_go(other);
	assert_int_equal(rnic_cq_resize(ud.pair.a.cq, UD_BURST), 0);
	ud_pair_send_many(2 * UD_BURST, RDMAP_WR_SIGNALED);
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = NULL;
	assert_int_equal(ud.wire[0].commits, 2 * UD_BURST);
	pair_expect_none(&ud.pair, &ud.pair.a);
	assert_int_equal(pair_count_async(&ud.pair.a, RNIC_EVENT_CQ_ERROR), 0);
	assert_int_equal(rnic_qp_get_state(other), RNIC_QP_RTS);
	assert_int_equal(rnic_qp_destroy(other), 0);
}

/* Many that have no way do not keep back what is behind them. */
static void test_destroyed_without_a_way(void **state)
{
	uint64_t before = rnic_ud_get_stats(ud.pair.a.rnic).no_way;

	ud_pair_send_many(3 * UD_BURST, 0);
	ud.wire[0].begin_rc = -EHOSTUNREACH;
	assert_int_equal(rnic_qp_destroy(ud.qp[0]), 0);
	ud.qp[0] = NULL;
	assert_int_equal(rnic_ud_get_stats(ud.pair.a.rnic).no_way - before, 2 * UD_BURST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, ud_pair_setup, ud_pair_teardown)
		TEST(test_destroyed),
		TEST(test_destroyed_while_posted_to),
		TEST(test_destroyed_by_a_send_that_fails),
		TEST(test_destroyed_at_a_full_cq),
		TEST(test_destroyed_without_a_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
