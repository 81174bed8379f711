/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct tcp_cc start(void)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false);
	return cc;
}

static void test_slow_start_doubles(void **state)
{
	struct tcp_cc cc = start();

	for (int i = 0; i < 10; i++)
		cc.ops->ack(&cc, 1000, MS, 0);
	assert_int_equal(cc.cwnd, 20000);
}

static void test_avoidance_adds_a_segment_per_window(void **state)
{
	struct tcp_cc cc = start();

	cc.ssthresh = cc.cwnd;
	for (int i = 0; i < 10; i++)
		cc.ops->ack(&cc, 1000, MS, 0);
	assert_int_equal(cc.cwnd, 11000);
	for (int i = 0; i < 11; i++)
		cc.ops->ack(&cc, 1000, MS, 0);
	assert_int_equal(cc.cwnd, 12000);
}

static void test_congestion_halves(void **state)
{
	struct tcp_cc cc = start();

	cc.ops->congestion(&cc, 9000, 0);
	assert_int_equal(cc.ssthresh, 4500);
	assert_int_equal(cc.cwnd, 4500);
	cc.ops->congestion(&cc, 1000, 0);
	assert_int_equal(cc.ssthresh, 2000);
}

static void test_timeout_begins_anew(void **state)
{
	struct tcp_cc cc = start();

	cc.ops->timeout(&cc, 9000, 0);
	assert_int_equal(cc.ssthresh, 4500);
	assert_int_equal(cc.cwnd, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_start_doubles),
		cmocka_unit_test(test_avoidance_adds_a_segment_per_window),
		cmocka_unit_test(test_congestion_halves),
		cmocka_unit_test(test_timeout_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
