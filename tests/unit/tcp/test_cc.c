/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static void test_names(void **state)
{
	assert_ptr_equal(tcp_cc_find("newreno"), &tcp_cc_newreno);
	assert_ptr_equal(tcp_cc_find("cubic"), &tcp_cc_cubic);
	assert_non_null(tcp_cc_find(NULL));
	assert_null(tcp_cc_find("vegas"));
	assert_null(tcp_cc_find(""));
}

static void test_initial_window(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1448, false);
	assert_int_equal(cc.cwnd, 14480);
	tcp_cc_init(&cc, &tcp_cc_newreno, 8948, false);
	assert_int_equal(cc.cwnd, 17896); /* two segments: RFC 6928 */
	tcp_cc_init(&cc, &tcp_cc_newreno, 2000, false);
	assert_int_equal(cc.cwnd, 14600);
	tcp_cc_init(&cc, &tcp_cc_newreno, 1448, true);
	assert_int_equal(cc.cwnd, 1448);
}

static void test_slow_start_stops_at_ssthresh(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false);
	cc.ssthresh = cc.cwnd + 300;
	assert_int_equal(tcp_cc_slow_start(&cc, 1000), 700);
	assert_int_equal(cc.cwnd, cc.ssthresh);
}

static void test_segment_size_changes(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, true);
	tcp_cc_set_smss(&cc, 1400);
	assert_int_equal(cc.cwnd, 1400);
	assert_int_equal(tcp_cc_floor(&cc, 5), 2800);
	assert_int_equal(tcp_cc_floor(&cc, 5000), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_initial_window),
		cmocka_unit_test(test_slow_start_stops_at_ssthresh),
		cmocka_unit_test(test_segment_size_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
