/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/cc_bbr.h"
#include "tcp/pace.h"

#define SMSS 1000
#define RTT  (100 * MS)

static struct tcp_cc cc;
static struct tcp_bbr *b;
static struct tcp_rate_sample s;
static struct tcp_cc_ack a;

/** A sender without a past at @p window bytes per round trip of 100 ms. */
static void start(uint32_t window)
{
	tcp_cc_init(&cc, &tcp_cc_bbr, SMSS, false, MS);
	b = cc.u.bbr;
	cc.cwnd = 2 * window;
	s = (struct tcp_rate_sample){.total_delivered = 0xffff0000u};
	s.prior_delivered = s.total_delivered;
	b->next_round = b->loss_round = b->loss_round_delivered = s.total_delivered;
	a = (struct tcp_cc_ack){.now = 1000 * MS, .srtt = RTT, .rtt = RTT, .rate = &s};
}

static void end(void)
{
	tcp_cc_fini(&cc);
}

/** One ACK for @p delivered bytes, sent a round trip ago; @p lost of them were lost beside. */
static void ack(uint32_t delivered, uint32_t lost)
{
	a.now += RTT;
	a.delivered = a.acked = s.delivered = delivered;
	a.lost = s.lost = lost;
	s.interval = RTT;
	s.prior_delivered = s.total_delivered;
	s.total_delivered += delivered;
	s.tx_in_flight = delivered + lost;
	bbr_update_min_rtt(b, &a);
	bbr_update_model(&cc, &a);
}

static void test_bandwidth_is_the_best_of_two_cycles(void **state)
{
	start(100 * SMSS);
	ack(200 * SMSS, 0);
	ack(100 * SMSS, 0);
	assert_int_equal(bbr_max_bw(b), 2000 * SMSS);
	bbr_next_bw_cycle(b);
	ack(100 * SMSS, 0);
	assert_int_equal(bbr_max_bw(b), 2000 * SMSS);
	bbr_next_bw_cycle(b);
	assert_int_equal(bbr_max_bw(b), 1000 * SMSS);
	bbr_next_bw_cycle(b); /* of nothing measured nothing is made */
	assert_int_equal(bbr_max_bw(b), 1000 * SMSS);
	end();
}

/** A sender with nothing to send, or no window for it, proves only the rate that it reached. */
static void test_limited_samples_only_raise(void **state)
{
	start(100 * SMSS);
	ack(100 * SMSS, 0);
	bbr_next_bw_cycle(b);
	s.app_limited = true;
	ack(50 * SMSS, 0);
	assert_int_equal(b->max_bw[1], 0);
	ack(150 * SMSS, 0);
	assert_int_equal(b->max_bw[1], 1500 * SMSS);
	assert_int_equal(b->full_bw_count, 0);
	end();
}

static void test_full_after_three_rounds_without_growth(void **state)
{
	start(100 * SMSS);
	for (uint32_t w = 10 * SMSS; w < 300 * SMSS; w *= 2)
		ack(w, 0);
	ack(190 * SMSS, 0); /* grew by less than a quarter */
	ack(190 * SMSS, 0);
	assert_false(b->full_bw_reached);
	ack(240 * SMSS, 0); /* it did grow after all */
	for (int i = 0; i < 2; i++)
		ack(250 * SMSS, 0);
	assert_false(b->full_bw_reached);
	ack(250 * SMSS, 0);
	assert_true(b->full_bw_reached && b->full_bw_now);
	end();
}

/** Rounds are counted from the first sample on, however much was delivered before. */
static void test_rounds_of_one_that_begins_late(void **state)
{
	start(100 * SMSS);
	b->next_round = b->loss_round = b->loss_round_delivered = 0;
	s.total_delivered = 0xc0000000u;
	a.ece = true;
	ack(100 * SMSS, 0);
	assert_true(b->too_much_marked);
	assert_int_equal(b->ecn_alpha, BBR_UNIT); /* all of it was marked */
	for (int i = 0; i < 3; i++) {
		assert_false(b->full_bw_reached);
		ack(100 * SMSS, 0);
	}
	assert_true(b->full_bw_reached);
	end();
}

/**
 * What chance makes of 2 % is no more than 2 %: by twice the deviation, 2, 9 and 228 segments of
 * 10, 236 and 10,000.
 */
static void test_threshold_of_losses(void **state)
{
	static const struct {
		uint32_t all, least;
	} of[] = {{10, 2}, {236, 10}, {10000, 229}};

	start(100 * SMSS);
	for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
		s.tx_in_flight = of[i].all * SMSS;
		s.lost = (of[i].least - 1) * SMSS;
		assert_false(bbr_inflight_too_high(&cc, &a));
		s.lost = of[i].least * SMSS;
		assert_true(bbr_inflight_too_high(&cc, &a));
	}
	end();
}

/** Below the threshold no bound comes down; above it by 0.7, but not below what was delivered. */
static void test_lower_bounds(void **state)
{
	start(1000 * SMSS);
	b->state = BBR_CRUISE;
	ack(1000 * SMSS, 0);
	bbr_advance_latest(b, &a);
	ack(990 * SMSS, 10 * SMSS);
	assert_true(b->bw_lo == UINT64_MAX && b->inflight_lo == BBR_INFINITE);
	bbr_advance_latest(b, &a);
	ack(900 * SMSS, 100 * SMSS);
	assert_int_equal(b->bw_lo, 9900 * SMSS); /* of the latest two rounds the better */
	bbr_advance_latest(b, &a);
	bbr_reset_congestion_signals(b);
	ack(300 * SMSS, 700 * SMSS);
	assert_int_equal(b->bw_lo, UINT64_C(9900) * SMSS * 179 / 256);
	bbr_reset_lower_bounds(b);
	assert_true(b->bw_lo == UINT64_MAX && b->inflight_lo == BBR_INFINITE);
	/* Nor while it probes: what is lost then, the probe's end answers. */
	b->state = BBR_UP;
	ack(500 * SMSS, 500 * SMSS);
	assert_true(b->bw_lo == UINT64_MAX && b->inflight_lo == BBR_INFINITE);
	end();
}

/** Draft section 5.3.1.3: in several places, and more than the threshold. */
static void test_losses_end_startup(void **state)
{
	start(1000 * SMSS);
	ack(1000 * SMSS, 900 * SMSS); /* all at once */
	assert_false(b->full_bw_reached);
	for (int i = 0; i < 5; i++) { /* a round of six */
		a.lost = 20 * SMSS;
		s.prior_delivered = b->loss_round - 1;
		bbr_update_model(&cc, &a);
	}
	ack(1000 * SMSS, 20 * SMSS);
	assert_true(b->full_bw_reached);
	assert_in_range(b->inflight_hi, 1000 * SMSS, 1001 * SMSS);
	end();
}

/** However many places there are in which something is lost. */
static void test_losses_in_many_places(void **state)
{
	start(1000 * SMSS);
	ack(1000 * SMSS, 0);
	a.lost = 1;
	s.prior_delivered = b->loss_round - 1;
	for (int i = 0; i < 300; i++)
		bbr_update_model(&cc, &a);
	assert_int_equal(b->loss_events, UINT8_MAX);
	ack(1000 * SMSS, 200 * SMSS);
	assert_true(b->full_bw_reached);
	end();
}

static void test_shortest_round_trip(void **state)
{
	start(1000 * SMSS);
	ack(1000 * SMSS, 0);
	assert_int_equal(b->min_rtt, RTT);
	a.rtt = RTT / 2;
	ack(1000 * SMSS, 0);
	assert_int_equal(b->min_rtt, RTT / 2);
	/* A queue stands: after 5 s it is to be emptied, after 10 s what came since is believed. */
	a.rtt = RTT;
	for (int i = 0; i < 49; i++)
		ack(1000 * SMSS, 0);
	a.now += 2 * RTT;
	assert_true(bbr_update_min_rtt(b, &a));
	assert_int_equal(b->min_rtt, RTT / 2);
	for (int i = 0; i < 52; i++)
		ack(1000 * SMSS, 0);
	assert_int_equal(b->min_rtt, RTT);
	end();
}

/** No queue stands: nothing has to be emptied. */
static void test_an_empty_queue_is_not_emptied(void **state)
{
	start(1000 * SMSS);
	for (int i = 0; i < 100; i++) {
		a.rtt = RTT + (i % 2 ? RTT / 200 : 0);
		ack(1000 * SMSS, 0);
		assert_false(bbr_update_min_rtt(b, &a));
	}
	end();
}

static void test_volumes(void **state)
{
	start(1000 * SMSS);
	assert_int_equal(bbr_bdp(&cc, 1000000, BBR_UNIT), tcp_cc_initial_window(SMSS));
	ack(1000 * SMSS, 0);
	assert_int_equal(bbr_bdp(&cc, 1000000, BBR_UNIT), 100000);
	assert_int_equal(bbr_bdp(&cc, 1000000, BBR_UNIT / 2), 50000);
	assert_int_equal(bbr_bdp(&cc, UINT64_C(1) << 40, BBR_UNIT), TCP_CWND_MAX);
	assert_int_equal(bbr_inflight(&cc, 1000000, BBR_UNIT), 100000 + 3 * 2 * SMSS);
	assert_int_equal(bbr_inflight(&cc, 10, BBR_UNIT), 4 * SMSS);
	assert_true(bbr_inflight(&cc, UINT64_C(1) << 40, BBR_UNIT) > TCP_CWND_MAX);
	assert_int_equal(bbr_inflight_with_headroom(&cc), BBR_INFINITE);
	b->inflight_hi = 256 * SMSS;
	assert_int_equal(bbr_inflight_with_headroom(&cc), (256 - 38) * SMSS);
	b->inflight_hi = SMSS;
	assert_int_equal(bbr_inflight_with_headroom(&cc), 4 * SMSS);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bandwidth_is_the_best_of_two_cycles),
		cmocka_unit_test(test_limited_samples_only_raise),
		cmocka_unit_test(test_full_after_three_rounds_without_growth),
		cmocka_unit_test(test_rounds_of_one_that_begins_late),
		cmocka_unit_test(test_threshold_of_losses),
		cmocka_unit_test(test_lower_bounds),
		cmocka_unit_test(test_losses_end_startup),
		cmocka_unit_test(test_losses_in_many_places),
		cmocka_unit_test(test_shortest_round_trip),
		cmocka_unit_test(test_an_empty_queue_is_not_emptied),
		cmocka_unit_test(test_volumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
