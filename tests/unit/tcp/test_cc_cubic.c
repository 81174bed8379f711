/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc_flow.h"

/** Reduced by a loss with @p window in flight, and recovered. */
static struct cc_flow reduced(uint32_t window, uint64_t rtt)
{
	struct cc_flow f;

	flow_init(&f, &tcp_cc_cubic, rtt);
	f.cc.cwnd = window;
	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, window, f.now);
	f.cc.cwnd = f.cc.ssthresh;
	return f;
}

static void test_decrease_is_three_tenths(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);

	assert_int_equal(f.cc.ssthresh, 700000);
	assert_int_equal(f.cc.u.cubic.w_max, 1000000);
	/* RFC 8511: less for a mark. */
	f.cc.cwnd = 1000000;
	tcp_cc_congestion(&f.cc, TCP_CC_ECN, 1000000, f.now);
	assert_int_equal(f.cc.ssthresh, 850000);
}

static void test_returns_to_w_max_after_k(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);

	/* K = cbrt(300 / 0.4) = 9.09 s */
	flow_run(&f, 1);
	assert_in_range(f.cc.u.cubic.k, 9080, 9090);
	flow_run(&f, 89);
	assert_in_range(f.cc.cwnd, 970000, 1010000);
}

static void test_concave_then_convex(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);
	uint32_t a, b, c;

	flow_run(&f, 30);
	a = f.cc.cwnd - 700000;
	flow_run(&f, 30);
	b = f.cc.cwnd - 700000 - a;
	flow_run(&f, 60);
	c = f.cc.cwnd;
	flow_run(&f, 60);
	assert_true(a > b);                  /* slowing down towards W_max */
	assert_true(f.cc.cwnd - c > 100000); /* and away from it, faster again */
}

static void test_fast_convergence(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);

	f.queued = 7 * MS;
	flow_ack(&f, 0);
	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 700000, 2 * MS);
	assert_int_equal(f.cc.u.cubic.w_max, 595000); /* 700000 (1 + 0.7) / 2 */
	assert_int_equal(f.cc.ssthresh, 490000);
}

/** A path with room to spare lost something: there is nobody to give way to. */
static void test_no_fast_convergence_without_a_queue(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);

	f.queued = 6 * MS;
	flow_ack(&f, 0);
	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 700000, 2 * MS);
	assert_int_equal(f.cc.u.cubic.w_max, 700000);
	assert_int_equal(f.cc.ssthresh, 490000);
}

/** In slow start, too: the window was not too large. Where packets queue it may have been. */
static void test_loss_in_slow_start(void **state)
{
	static const struct {
		uint64_t queued;
		uint32_t ssthresh;
	} cases[] = {{6 * MS, 70000}, {7 * MS, 35000}};

	for (unsigned i = 0; i < 2; i++) {
		struct cc_flow f;

		flow_init(&f, tcp_cc_find("cubic"), 100 * MS);
		f.cc.cwnd = 100000;
		f.queued = cases[i].queued;
		flow_ack(&f, 0);
		tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 50000, 2 * MS);
		assert_int_equal(f.cc.ssthresh, cases[i].ssthresh);
	}
}

/** RFC 9438 section 4.3: 9/17 of a segment each, from the window before the loss on a whole one. */
static void test_small_windows_grow_like_reno(void **state)
{
	struct cc_flow f = reduced(10000, MS); /* so short that the cubic curve hardly moves */

	assert_int_equal(f.cc.cwnd, 7000);
	flow_run(&f, 6);
	assert_in_range(f.cc.cwnd, 9500, 11000);
	f.cc.cwnd = f.cc.u.cubic.w_est;
	flow_run(&f, 10);
	assert_in_range(f.cc.cwnd, 18500, 21000);
}

static void test_timeout(void **state)
{
	struct cc_flow f;

	flow_init(&f, &tcp_cc_cubic, 100 * MS);
	tcp_cc_timeout(&f.cc, 10000, MS);
	assert_int_equal(f.cc.cwnd, 1000);
	assert_int_equal(f.cc.ssthresh, 7000);
	/* Section 4.8: avoidance begins with its plateau where it is. */
	f.cc.cwnd = f.cc.ssthresh;
	flow_ack(&f, 1000);
	assert_int_equal(f.cc.u.cubic.origin, 7000);
	assert_int_equal(f.cc.u.cubic.k, 0);
}

/** Before any loss the capacity is unknown: a 20th in each round trip at least. */
static void test_early_end_of_slow_start_does_not_last(void **state)
{
	struct cc_flow f;

	flow_init(&f, &tcp_cc_cubic, 100 * MS);
	f.cc.ssthresh = f.cc.cwnd = 100000;
	flow_run(&f, 15);
	assert_true(f.cc.cwnd > 200000);
}

static void test_undo(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);
	struct tcp_cubic before;

	flow_run(&f, 50);
	before = f.cc.u.cubic;
	tcp_cc_congestion(&f.cc, TCP_CC_LOSS, 900000, f.now);
	f.cc.cwnd = f.cc.ssthresh;
	tcp_cc_undo(&f.cc, f.now);
	assert_true(f.cc.cwnd > 900000);
	assert_int_equal(f.cc.ssthresh, 700000);
	assert_memory_equal(&f.cc.u.cubic, &before, sizeof before);
	/* Only once. */
	f.cc.cwnd = 5000;
	tcp_cc_undo(&f.cc, f.now);
	assert_int_equal(f.cc.cwnd, 5000);
}

/** RFC 9438 section 4.2: the curve stands still while the window is not used. */
static void test_time_without_use_does_not_count(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS), g;

	flow_run(&f, 20);
	g = f;
	g.unlimited = true;
	flow_run(&g, 200);
	assert_int_equal(g.cc.cwnd, f.cc.cwnd);
	g.unlimited = false;
	flow_run(&g, 10);
	flow_run(&f, 10);
	assert_in_range(g.cc.cwnd, f.cc.cwnd - 10000, f.cc.cwnd + 1000);
	/* Nor when it was idle, and no ACK came. */
	g.now += 60000 * MS;
	tcp_cc_restart(&g.cc, 60000 * MS, 61000 * MS, g.now);
	flow_run(&g, 1);
	flow_run(&f, 1);
	assert_in_range(g.cc.cwnd, f.cc.cwnd - 10000, f.cc.cwnd + 1000);
}

static void test_decades_of_idling_do_not_overflow(void **state)
{
	struct cc_flow f = reduced(1000000, 100 * MS);

	flow_ack(&f, 1000);
	f.now = UINT64_C(1000000000) * MS;
	flow_ack(&f, 1000);
	assert_in_range(f.cc.cwnd, 700000, 0x40000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decrease_is_three_tenths),
		cmocka_unit_test(test_returns_to_w_max_after_k),
		cmocka_unit_test(test_concave_then_convex),
		cmocka_unit_test(test_fast_convergence),
		cmocka_unit_test(test_no_fast_convergence_without_a_queue),
		cmocka_unit_test(test_small_windows_grow_like_reno),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_loss_in_slow_start),
		cmocka_unit_test(test_early_end_of_slow_start_does_not_last),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_time_without_use_does_not_count),
		cmocka_unit_test(test_decades_of_idling_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
