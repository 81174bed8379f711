/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static void test_names(void **state)
{
	assert_ptr_equal(tcp_cc_find("newreno"), &tcp_cc_newreno);
	assert_ptr_equal(tcp_cc_find("cubic"), &tcp_cc_cubic);
	assert_ptr_equal(tcp_cc_find("bbr"), &tcp_cc_bbr);
	assert_ptr_equal(tcp_cc_find(NULL), &tcp_cc_cubic);
	assert_null(tcp_cc_find("vegas"));
	assert_null(tcp_cc_find(""));
}

static void test_initial_window(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1448, false, MS);
	assert_int_equal(cc.cwnd, 14480);
	tcp_cc_init(&cc, &tcp_cc_newreno, 8948, false, MS);
	assert_int_equal(cc.cwnd, 17896); /* two segments: RFC 6928 */
	tcp_cc_init(&cc, &tcp_cc_newreno, 2000, false, MS);
	assert_int_equal(cc.cwnd, 14600);
	tcp_cc_init(&cc, &tcp_cc_newreno, 1448, true, MS);
	assert_int_equal(cc.cwnd, 1448);
}

static void test_slow_start_stops_at_ssthresh(void **state)
{
	struct tcp_cc_ack a = {.acked = 1000};
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	cc.ssthresh = cc.cwnd + 300;
	assert_int_equal(tcp_cc_slow_start(&cc, &a), 700);
	assert_int_equal(cc.cwnd, cc.ssthresh);
}

static void test_only_a_used_window_grows(void **state)
{
	struct tcp_cc_ack a = {.acked = 1000, .prior_in_flight = 5000};
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	assert_false(tcp_cc_may_grow(&cc, &a));
	a.prior_in_flight = 5001;
	assert_true(tcp_cc_may_grow(&cc, &a)); /* slow start: more than half of it in use */
	a.prior_in_flight = 1000;
	assert_true(tcp_cc_may_grow(&cc, &a)); /* or was */
	cc.cwnd = 10002;
	assert_false(tcp_cc_may_grow(&cc, &a)); /* until twice that */
	a.cwnd_limited = true;
	assert_true(tcp_cc_may_grow(&cc, &a));
	a.in_recovery = true;
	assert_false(tcp_cc_may_grow(&cc, &a));
	a = (struct tcp_cc_ack){.acked = 1000, .prior_in_flight = 5000};
	cc.ssthresh = cc.cwnd;
	assert_false(tcp_cc_may_grow(&cc, &a));
}

/** What was in flight before a reduction says nothing of the window after it. */
static void test_a_reduced_window_is_to_be_used_again(void **state)
{
	struct tcp_cc_ack a = {.acked = 1000, .prior_in_flight = 10000};
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	assert_true(tcp_cc_may_grow(&cc, &a));
	a.prior_in_flight = 1000;
	tcp_cc_timeout(&cc, 10000, MS);
	cc.cwnd = 2000;
	assert_false(tcp_cc_may_grow(&cc, &a));
	a.prior_in_flight = 2000;
	assert_true(tcp_cc_may_grow(&cc, &a));
	a.prior_in_flight = 500;
	tcp_cc_restart(&cc, 3600000 * MS, 200 * MS, 1000 * MS);
	assert_false(tcp_cc_may_grow(&cc, &a));
}

/** RFC 5681 section 4.1. */
static void test_idle_times_wear_the_window_down(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	cc.cwnd = 160000;
	cc.ssthresh = 50000;
	tcp_cc_restart(&cc, 199 * MS, 200 * MS, 1000 * MS);
	assert_int_equal(cc.cwnd, 160000);
	tcp_cc_restart(&cc, 450 * MS, 200 * MS, 1000 * MS);
	assert_int_equal(cc.cwnd, 40000);
	assert_int_equal(cc.ssthresh, 120000);
	tcp_cc_restart(&cc, 3600000 * MS, 200 * MS, 1000 * MS);
	assert_int_equal(cc.cwnd, 10000);
	cc.cwnd = 2000;
	tcp_cc_restart(&cc, 3600000 * MS, 200 * MS, 1000 * MS);
	assert_int_equal(cc.cwnd, 2000);
}

/** What was believed of a loss is so now: the window is not taken back. But BBR's is no guess. */
static void test_a_confirmed_loss(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	cc.prior_cwnd = 50000;
	tcp_cc_confirm(&cc);
	tcp_cc_undo(&cc, MS);
	assert_int_equal(cc.cwnd, 10000);
	tcp_cc_fini(&cc);
	tcp_cc_init(&cc, &tcp_cc_bbr, 1000, false, MS);
	cc.prior_cwnd = 50000;
	tcp_cc_confirm(&cc);
	tcp_cc_undo(&cc, MS);
	assert_int_equal(cc.cwnd, 50000);
	tcp_cc_fini(&cc);
}

static void test_pacing_rate(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false, MS);
	assert_int_equal(tcp_cc_pacing_rate(&cc, 0, 0), 0);
	assert_int_equal(tcp_cc_pacing_rate(&cc, 0, 10 * MS), 2000000);
	cc.ssthresh = cc.cwnd;
	assert_int_equal(tcp_cc_pacing_rate(&cc, 0, 10 * MS), 1200000);
	assert_int_equal(tcp_cc_pacing_rate(&cc, 20000, 10 * MS), 2400000);
	cc.cwnd = TCP_CWND_MAX; /* no overflow */
	assert_int_equal(tcp_cc_pacing_rate(&cc, 0, 1000 * MS), TCP_CWND_MAX + TCP_CWND_MAX / 5);
}

static void test_info(void **state)
{
	struct tcp_cc cc = {0};
	struct tcp_cc_info i;

	tcp_cc_get_info(&cc, &i);
	assert_string_equal(i.name, "");
	tcp_cc_init(&cc, &tcp_cc_cubic, 1000, false, MS);
	tcp_cc_get_info(&cc, &i);
	assert_string_equal(i.name, "cubic");
	assert_string_equal(i.phase, "slow start");
}

static void test_segment_size_changes(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, true, MS);
	tcp_cc_set_smss(&cc, 1400);
	assert_int_equal(cc.cwnd, 1400);
	assert_int_equal(tcp_cc_floor(&cc, 5), 2800);
	assert_int_equal(tcp_cc_floor(&cc, 5000), 5000);
}

/* As recovery may leave it when all is believed lost (RFC 6937). */
static void test_a_window_of_nothing_has_begun(void **state)
{
	struct tcp_cc cc = {.ops = &tcp_cc_cubic};
	struct tcp_cc_info i;

	assert_false(tcp_cc_begun(&cc));
	tcp_cc_init(&cc, &tcp_cc_cubic, 1000, false, MS);
	cc.cwnd = 0;
	assert_true(tcp_cc_begun(&cc));
	tcp_cc_switch(&cc, &tcp_cc_bbr, MS);
	tcp_cc_get_info(&cc, &i);
	assert_string_equal(i.phase, "Startup");
	assert_true(cc.cwnd >= 1000);
	cc.cwnd = 0;
	tcp_cc_switch(&cc, &tcp_cc_cubic, MS);
	assert_true(cc.cwnd >= 1000);
	/* Its window in segments is what CUBIC divides by, in congestion avoidance. */
	assert_true(cc.ssthresh >= 1000);
	tcp_cc_fini(&cc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_initial_window),
		cmocka_unit_test(test_slow_start_stops_at_ssthresh),
		cmocka_unit_test(test_only_a_used_window_grows),
		cmocka_unit_test(test_a_reduced_window_is_to_be_used_again),
		cmocka_unit_test(test_idle_times_wear_the_window_down),
		cmocka_unit_test(test_a_confirmed_loss),
		cmocka_unit_test(test_pacing_rate),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_segment_size_changes),
		cmocka_unit_test(test_a_window_of_nothing_has_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
