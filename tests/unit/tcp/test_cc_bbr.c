/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc_net.h"
#include "tcp/cc_bbr.h"

#define RATE 12500000u /* 100 Mbit/s */
#define RTT  (20 * MS)
#define BDP  (RATE / 50)

static const struct tcp_cc_ops *const one[] = {&tcp_cc_bbr, NULL};

static const struct net_config plain = {.rate = RATE, .rtt = RTT, .queue = BDP, .seed = 3};

static const struct tcp_bbr *bbr(const struct net *n, unsigned i)
{
	return n->flow[i].c.cc.u.bbr;
}

static void test_fills_the_path(void **state)
{
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 980, 1000);
	assert_in_range(bbr_max_bw(bbr(&n, 0)), RATE / 100 * 99, RATE / 100 * 101);
	assert_in_range(bbr(&n, 0)->min_rtt, RTT, RTT + MS);
	assert_true(n.flow[0].losses * 1000 < n.flow[0].sent / NET_SMSS);
	net_end(&n);
}

/** After Startup the queue is emptied and stays short, but for probes. */
static void test_keeps_the_queue_short(void **state)
{
	uint64_t sum = 0;
	unsigned samples = 0;
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 5 * NET_SECOND);
	for (; samples < 2500; samples++) {
		net_run(&n, 10 * MS);
		sum += n.wire_free > n.now ? n.wire_free - n.now : 0;
	}
	assert_true(sum / samples < RTT / 10);
	net_end(&n);
}

static void test_walks_through_its_states(void **state)
{
	unsigned seen[BBR_PROBE_RTT + 1] = {0}, last = BBR_STARTUP;
	struct net n;

	net_init(&n, &plain, one);
	for (unsigned i = 0; i < 30000; i++) {
		net_run(&n, MS);
		if (bbr(&n, 0)->state != last)
			seen[last = bbr(&n, 0)->state]++;
	}
	assert_int_equal(seen[BBR_STARTUP], 0); /* never again */
	assert_int_equal(seen[BBR_DRAIN], 1);
	/* A probe each 63 rounds or two to three seconds: here, the former. */
	assert_in_range(seen[BBR_UP], 15, 24);
	assert_in_range(seen[BBR_CRUISE], seen[BBR_UP] - 1, seen[BBR_UP] + 1);
	net_end(&n);
}

/** Losses below the threshold are no reason to slow down. */
static void test_a_percent_of_loss_costs_little(void **state)
{
	struct net_config cfg = plain;
	struct net n;

	cfg.loss_ppm = 10000;
	net_init(&n, &cfg, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 900, 990);
	net_end(&n);
	cfg.rtt = 100 * MS;
	cfg.queue = 5 * BDP;
	net_init(&n, &cfg, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 950, 990);
	net_end(&n);
}

/** A queue of a tenth of a BDP overflows with every probe: less than 2 % is lost all the same. */
static void test_shallow_queues(void **state)
{
	struct net_config cfg = plain;
	struct net n;

	cfg.queue = BDP / 10;
	net_init(&n, &cfg, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 900, 1000);
	assert_true(n.flow[0].losses * 200 < n.flow[0].sent / NET_SMSS);
	assert_true(bbr(&n, 0)->inflight_hi < 2 * BDP);
	net_end(&n);
}

/** Above the threshold it does slow down: these losses mean something. */
static void test_too_much_loss_lowers_the_bounds(void **state)
{
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 10 * NET_SECOND);
	n.cfg.loss_ppm = 100000;
	net_run(&n, 2 * NET_SECOND);
	assert_true(bbr(&n, 0)->bw < RATE / 2 || bbr(&n, 0)->inflight_hi < BDP);
	assert_in_range(net_share(&n, 0, 11, 12), 0, 600);
	/* And takes it back when they are over. */
	n.cfg.loss_ppm = 0;
	net_run(&n, 15 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 25, 27), 900, 1000);
	net_end(&n);
}

/** ACKs for 64 packets at a time: what they clump together is added to the window. */
static void test_stretched_acks(void **state)
{
	struct net_config cfg = plain;
	struct net n;

	cfg.acks = 64;
	net_init(&n, &cfg, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 970, 1000);
	assert_true(u32_max(bbr(&n, 0)->extra_acked.young, bbr(&n, 0)->extra_acked.old) >
		    32 * NET_SMSS);
	net_end(&n);
}

static void test_marks_keep_the_queue_shorter(void **state)
{
	struct net_config cfg = plain;
	struct net n;

	cfg.mark = BDP / 10;
	net_init(&n, &cfg, one);
	net_run(&n, 30 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 5, 30), 950, 1000);
	assert_true(n.queue_max_late < BDP / 2);
	net_end(&n);
}

static void test_shares_with_its_like_and_with_cubic(void **state)
{
	static const struct tcp_cc_ops *const like[] = {&tcp_cc_bbr, &tcp_cc_bbr, NULL};
	static const struct tcp_cc_ops *const cubic[] = {&tcp_cc_bbr, &tcp_cc_cubic, NULL};
	struct net n;

	net_init(&n, &plain, like);
	n.flow[1].start += 10 * NET_SECOND;
	net_run(&n, 60 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 40, 60), 380, 620);
	assert_in_range(net_share(&n, 1, 30, 50), 380, 620);
	net_end(&n);
	net_init(&n, &plain, cubic);
	net_run(&n, 60 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 30, 60), 150, 850);
	assert_in_range(net_share(&n, 1, 30, 60), 150, 850);
	net_end(&n);
}

/** The path becomes longer: after ten seconds it is believed. */
static void test_a_longer_path_is_found(void **state)
{
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 10 * NET_SECOND);
	n.cfg.rtt = 3 * RTT;
	n.cfg.queue = 3 * BDP;
	net_run(&n, 20 * NET_SECOND);
	assert_in_range(bbr(&n, 0)->min_rtt, 3 * RTT, 3 * RTT + 6 * MS);
	assert_in_range(net_share(&n, 0, 25, 29), 900, 1000);
	net_end(&n);
}

/** A narrower one is believed at once, a wider one by the next probes. */
static void test_the_bandwidth_changes(void **state)
{
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 10 * NET_SECOND);
	n.cfg.rate = RATE / 4;
	net_run(&n, 10 * NET_SECOND);
	assert_in_range(bbr_max_bw(bbr(&n, 0)), RATE / 4, RATE / 4 + RATE / 100);
	n.cfg.rate = RATE;
	net_run(&n, 20 * NET_SECOND);
	assert_in_range(net_share(&n, 0, 35, 39), 900, 1000);
	net_end(&n);
}

/** After an outage the samples tell of next to nothing: the smallest window goes out all the same.
 */
static void test_pacing_has_a_floor(void **state)
{
	struct tcp_rate_sample s = {.interval = 60 * NET_SECOND, .delivered = 1000};
	struct tcp_cc_ack a = {
		.srtt = RTT, .rtt = RTT, .acked = 1000, .delivered = 1000, .rate = &s};
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_bbr, 1000, false, MS);
	for (unsigned i = 1; i < 100; i++) {
		s.prior_delivered = i * 1000;
		s.total_delivered = i * 1000 + 1000;
		a.now = i * 60 * NET_SECOND;
		tcp_cc_on_ack(&cc, &a);
	}
	assert_in_range(tcp_cc_pacing_rate(&cc, 0, RTT), 4000 * 50, 4001 * 50);
	tcp_cc_fini(&cc);
}

static void test_timeout_and_undo(void **state)
{
	struct tcp_cc *cc;
	uint32_t before;
	struct net n;

	net_init(&n, &plain, one);
	net_run(&n, 10 * NET_SECOND);
	cc = &n.flow[0].c.cc;
	before = cc->cwnd;
	tcp_cc_timeout(cc, before, n.now);
	assert_int_equal(cc->cwnd, NET_SMSS);
	tcp_cc_recovered(cc, n.now);
	assert_int_equal(cc->cwnd, before);
	tcp_cc_timeout(cc, before, n.now);
	tcp_cc_undo(cc, n.now);
	assert_int_equal(cc->cwnd, before);
	tcp_cc_restart(cc, 10 * NET_SECOND, NET_SECOND, n.now);
	assert_int_equal(cc->cwnd, before); /* what the path was stays known */
	net_end(&n);
}

/** @p n segments are acknowledged, of a flight of so many, a round trip after the last ones. */
static void acked(struct tcp_cc *cc, uint64_t *now, uint32_t *total, uint32_t n, uint32_t flight)
{
	struct tcp_rate_sample s = {.interval = RTT,
		.delivered = flight * NET_SMSS,
		.total_delivered = *total += n * NET_SMSS,
		.prior_delivered = *total - flight * NET_SMSS,
		.tx_in_flight = flight * NET_SMSS};
	const struct tcp_cc_ack a = {.now = *now += RTT * n / flight,
		.srtt = RTT,
		.min_rtt = RTT,
		.rtt = RTT,
		.acked = n * NET_SMSS,
		.delivered = n * NET_SMSS,
		.prior_in_flight = flight * NET_SMSS,
		.in_flight = (flight - n) * NET_SMSS,
		.snd_una = *total,
		.snd_nxt = *total + flight * NET_SMSS,
		.cwnd_limited = true,
		.rate = &s};

	tcp_cc_on_ack(cc, &a);
}

/** An outage is long enough that the least round trip is to be measured anew, first of all. */
static void test_probe_rtt_after_a_timeout(void **state)
{
	uint32_t total = 100 * NET_SMSS, before;
	uint64_t now = NET_SECOND;
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_bbr, NET_SMSS, false, now);
	for (unsigned i = 0; i < 6000; i++)
		acked(&cc, &now, &total, 1, 100);
	before = cc.cwnd;
	assert_true(before >= 100 * NET_SMSS);
	now += 6 * NET_SECOND;
	tcp_cc_timeout(&cc, 100 * NET_SMSS, now);
	acked(&cc, &now, &total, 1, 1);
	assert_int_equal(cc.u.bbr->state, BBR_PROBE_RTT);
	tcp_cc_recovered(&cc, now);
	for (unsigned i = 0; i < 50; i++)
		acked(&cc, &now, &total, 1, 2);
	assert_int_not_equal(cc.u.bbr->state, BBR_PROBE_RTT);
	assert_true(cc.cwnd >= before / 2);
	tcp_cc_fini(&cc);
}

/** Before its first rate sample it goes by the handshake's round trip. */
static void test_first_pacing_rate(void **state)
{
	struct tcp_rate_sample none = {0};
	struct tcp_cc_ack a = {.now = 50 * MS, .srtt = RTT, .rate = &none};
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_bbr, 1000, false, MS);
	assert_int_equal(tcp_cc_pacing_rate(&cc, 0, RTT), 0);
	tcp_cc_on_ack(&cc, &a);
	assert_in_range(tcp_cc_pacing_rate(&cc, 0, RTT), 1380000, 1390000);
	tcp_cc_fini(&cc);
	tcp_cc_fini(&cc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fills_the_path),
		cmocka_unit_test(test_keeps_the_queue_short),
		cmocka_unit_test(test_walks_through_its_states),
		cmocka_unit_test(test_a_percent_of_loss_costs_little),
		cmocka_unit_test(test_shallow_queues),
		cmocka_unit_test(test_too_much_loss_lowers_the_bounds),
		cmocka_unit_test(test_stretched_acks),
		cmocka_unit_test(test_marks_keep_the_queue_shorter),
		cmocka_unit_test(test_shares_with_its_like_and_with_cubic),
		cmocka_unit_test(test_a_longer_path_is_found),
		cmocka_unit_test(test_the_bandwidth_changes),
		cmocka_unit_test(test_pacing_has_a_floor),
		cmocka_unit_test(test_timeout_and_undo),
		cmocka_unit_test(test_probe_rtt_after_a_timeout),
		cmocka_unit_test(test_first_pacing_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
