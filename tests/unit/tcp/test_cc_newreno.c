/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc_flow.h"

static struct cc_flow start(void)
{
	struct cc_flow f;

	flow_init(&f, &tcp_cc_newreno, 10 * MS);
	return f;
}

static void test_slow_start_doubles(void **state)
{
	struct cc_flow f = start();

	flow_run(&f, 1);
	assert_int_equal(f.cc.cwnd, 20000);
}

static void test_avoidance_adds_a_segment_per_window(void **state)
{
	struct cc_flow f = start();

	f.cc.ssthresh = f.cc.cwnd;
	flow_run(&f, 1);
	assert_int_equal(f.cc.cwnd, 11000);
	flow_run(&f, 1);
	assert_int_equal(f.cc.cwnd, 12000);
}

/** RFC 3465: what counts is bytes, so neither division nor stretching of ACKs changes it. */
static void test_growth_is_by_bytes(void **state)
{
	struct cc_flow f = start();

	f.cc.ssthresh = f.cc.cwnd;
	for (unsigned i = 0; i < 10000; i++)
		flow_ack(&f, 1);
	assert_int_equal(f.cc.cwnd, 11000);
	f = start();
	f.cc.ssthresh = f.cc.cwnd;
	flow_ack(&f, 10000);
	assert_int_equal(f.cc.cwnd, 11000);
	flow_ack(&f, 1000000); /* of a window that had been far larger */
	assert_int_equal(f.cc.cwnd, 12000);
}

static void test_congestion_halves(void **state)
{
	struct cc_flow f = start();

	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 9000, 0);
	assert_int_equal(f.cc.ssthresh, 4500);
	assert_int_equal(f.cc.cwnd, 10000); /* comes down by PRR, which is not the module's */
	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 1000, 0);
	assert_int_equal(f.cc.ssthresh, 2000);
}

/** RFC 8511. */
static void test_a_mark_takes_a_fifth(void **state)
{
	struct cc_flow f = start();

	tcp_cc_congestion(&f.cc, TCP_CC_ECN, 10000, 0);
	assert_int_equal(f.cc.ssthresh, 8000);
}

static void test_timeout_begins_anew(void **state)
{
	struct cc_flow f = start();

	tcp_cc_timeout(&f.cc, 9000, 0);
	assert_int_equal(f.cc.ssthresh, 4500);
	assert_int_equal(f.cc.cwnd, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_start_doubles),
		cmocka_unit_test(test_avoidance_adds_a_segment_per_window),
		cmocka_unit_test(test_growth_is_by_bytes),
		cmocka_unit_test(test_congestion_halves),
		cmocka_unit_test(test_a_mark_takes_a_fifth),
		cmocka_unit_test(test_timeout_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
