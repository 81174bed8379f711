/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

/** Acknowledge whole windows, one per 100 ms, for @p rounds of them. */
static uint64_t run(struct tcp_cc *cc, uint64_t now, unsigned rounds)
{
	while (rounds--) {
		uint32_t w = cc->cwnd;

		now += 100 * MS;
		for (uint32_t done = 0; done < w; done += 1000)
			cc->ops->ack(cc, 1000, 100 * MS, now);
	}
	return now;
}

static struct tcp_cc reduced(uint64_t now)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_cubic, 1000, false);
	cc.cwnd = 1000000;
	cc.ops->congestion(&cc, 1000000, now);
	return cc;
}

static void test_decrease_is_three_tenths(void **state)
{
	struct tcp_cc cc = reduced(MS);

	assert_int_equal(cc.cwnd, 700000);
	assert_int_equal(cc.ssthresh, 700000);
	assert_int_equal(cc.u.cubic.w_max, 1000000);
}

static void test_returns_to_w_max_after_k(void **state)
{
	struct tcp_cc cc = reduced(MS);

	/* K = cbrt(300 / 0.4) = 9.09 s */
	run(&cc, MS, 1);
	assert_in_range(cc.u.cubic.k, 9080, 9090);
	run(&cc, 101 * MS, 89);
	assert_in_range(cc.cwnd, 970000, 1010000);
}

static void test_concave_then_convex(void **state)
{
	struct tcp_cc cc = reduced(MS);
	uint64_t now = run(&cc, MS, 30);
	uint32_t a = cc.cwnd - 700000, b, c;

	now = run(&cc, now, 30);
	b = cc.cwnd - 700000 - a;
	now = run(&cc, now, 60);
	c = cc.cwnd;
	run(&cc, now, 60);
	assert_true(a > b);                /* slowing down towards W_max */
	assert_true(cc.cwnd - c > 100000); /* and away from it, faster again */
}

static void test_fast_convergence(void **state)
{
	struct tcp_cc cc = reduced(MS);

	cc.ops->congestion(&cc, 700000, 2 * MS);
	assert_int_equal(cc.u.cubic.w_max, 595000); /* 700000 (1 + 0.7) / 2 */
	assert_int_equal(cc.cwnd, 490000);
}

static void test_small_windows_grow_like_reno(void **state)
{
	struct tcp_cc cc;
	uint64_t now = MS;

	tcp_cc_init(&cc, &tcp_cc_cubic, 1000, false);
	cc.ops->congestion(&cc, 10000, now);
	assert_int_equal(cc.cwnd, 7000);
	for (unsigned i = 0; i < 10; i++) { /* 1 ms round trips: the cubic curve hardly moves */
		uint32_t w = cc.cwnd;

		now += MS;
		for (uint32_t done = 0; done < w; done += 1000)
			cc.ops->ack(&cc, 1000, MS, now);
	}
	assert_in_range(cc.cwnd, 11000, 13500); /* 9/17 of a segment each */
}

static void test_timeout(void **state)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_cubic, 1000, false);
	cc.ops->timeout(&cc, 10000, MS);
	assert_int_equal(cc.cwnd, 1000);
	assert_int_equal(cc.ssthresh, 7000);
}

static void test_decades_of_idling_do_not_overflow(void **state)
{
	struct tcp_cc cc = reduced(MS);

	cc.ops->ack(&cc, 1000, MS, 2 * MS);
	cc.ops->ack(&cc, 1000, MS, UINT64_C(1000000000) * MS);
	assert_in_range(cc.cwnd, 700000, 0x40000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decrease_is_three_tenths),
		cmocka_unit_test(test_returns_to_w_max_after_k),
		cmocka_unit_test(test_concave_then_convex),
		cmocka_unit_test(test_fast_convergence),
		cmocka_unit_test(test_small_windows_grow_like_reno),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_decades_of_idling_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
