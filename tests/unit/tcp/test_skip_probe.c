/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight.h"
#include "tcp/pmtu.h"
#include "tcp/skip_probe.h"

#include <errno.h>
#include <stdlib.h>

static struct flight f;

#define SACK TCP_HAS_SACK_PERMITTED

/** Ten are in flight, ten wait, and the first of those is skipped: 11 goes out. */
static void start(unsigned options)
{
	flight_start(&f, options);
	f.c->cc.cwnd = 10 * LEN;
	flight_make(&f, 10);
	host_expect_none(&f.h);
	f.c->skip_probe_log2 = TCP_SKIP_PROBE_FIRST;
	f.c->sendq.skip_probe = f.c->sendq.head + 10;
	flight_ack(&f, 2);
	host_advance(&f.h, MS);
	assert_true(f.c->skipped);
	flight_expect(&f, 11);
	ip_double_drain(&f.h.ip);
}

static void expect_ca_open(void)
{
	assert_false(f.c->skipped);
	assert_int_equal(f.c->retransmits, 0);
	assert_int_equal(f.c->fast_recoveries, 0);
	assert_int_equal(f.c->timeouts, 0);
	assert_int_equal(f.c->sendq.total_lost, 0);
	assert_false(f.c->rec.rack.reordering_seen);
	assert_true(f.c->cc.cwnd >= 10 * LEN);
}

static void test_an_honest_peer_gets_it_and_nothing_else_changes(void **state)
{
	start(SACK);
	host_advance(&f.h, RTT - MS);
	flight_ack(&f, 10);
	host_advance(&f.h, MS);
	ip_double_drain(&f.h.ip);
	flight_sack(&f, 10, 11, 12);
	flight_expect(&f, 10);
	assert_int_equal(tcp_pipe(f.c), tcp_flight(f.c) - LEN); /* it is there once */
	flight_sack(&f, 10, 11, 16);
	host_advance(&f.h, RTT);
	flight_ack(&f, 20);
	assert_int_equal(llp_unacked(f.h.app.llp), 0);
	expect_ca_open();
	assert_int_equal(tcp_stack_stats(f.h.tcp)->skip_probes, 1);
	assert_int_equal(tcp_stack_stats(f.h.tcp)->optimistic_acks, 0);
	host_end(&f.h);
}

/* What comes from behind the gap lets the window grow as it would have without it, and once. */
static void test_the_gap_costs_no_growth(void **state)
{
	uint32_t cwnd;

	start(SACK);
	flight_make(&f, 40);
	host_advance(&f.h, RTT - MS);
	flight_ack(&f, 10);
	cwnd = f.c->cc.cwnd;
	host_advance(&f.h, MS);
	for (unsigned i = 12; i <= 20; i++) {
		host_advance(&f.h, MS); /* for what is paced */
		flight_sack(&f, 10, 11, i);
		assert_int_equal(f.c->cc.cwnd, cwnd + (i - 11) * LEN);
	}
	flight_ack(&f, 20);
	assert_int_equal(f.c->cc.cwnd, cwnd + 10 * LEN);
	assert_false(f.c->own_gap); /* another may be a loss */
	expect_ca_open();
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

/* The path has become smaller meanwhile: a piece that was left behind would look lost. */
static void test_a_path_that_shrank_meanwhile(void **state)
{
	struct heard a, b;

	start(SACK);
	f.c->path.mtu = 600;
	host_advance(&f.h, RTT - MS);
	flight_ack(&f, 10);
	host_advance(&f.h, MS);
	ip_double_drain(&f.h.ip);
	assert_in_range(f.c->emss, LEN / 2, LEN - 1);
	flight_sack(&f, 10, 11, 12);
	host_expect(&f.h, &a);
	host_expect(&f.h, &b);
	assert_int_equal(a.h.seq, f.first + 10 * LEN);
	assert_int_equal(b.h.seq, a.h.seq + a.len);
	assert_int_equal(a.len + b.len, LEN);
	flight_sack(&f, 10, 11, 16);
	host_advance(&f.h, RTT);
	flight_ack(&f, 20);
	expect_ca_open();
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

/* The duplicates that go on for a round trip are no loss, and let out what they stand for. */
static void test_an_honest_peer_without_sack(void **state)
{
	start(0);
	host_advance(&f.h, RTT - MS);
	flight_ack(&f, 10);
	host_advance(&f.h, MS);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 10);
	flight_expect(&f, 10);
	for (unsigned i = 0; i < 6; i++)
		flight_ack(&f, 10);
	host_advance(&f.h, RTT);
	flight_ack(&f, 20);
	expect_ca_open();
	assert_int_equal(f.c->rate.delivered, 20 * LEN);
	host_end(&f.h);
}

/** The last ACK brought a reset, and the user hears of it. */
static void expect_reset(void)
{
	struct heard a;

	host_expect(&f.h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(f.h.app.closed, 1);
	assert_int_equal(f.h.app.error, -ECONNABORTED);
	assert_int_equal(tcp_stack_stats(f.h.tcp)->optimistic_acks, 1);
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

static void test_whoever_acknowledges_it_is_reset(void **state)
{
	start(SACK);
	flight_ack(&f, 10);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 11);
	expect_reset();
	start(0);
	flight_ack(&f, 12);
	expect_reset();
	start(SACK); /* one byte of it */
	peer_send_at(&f.p, TCP_ACK, f.p.seq, f.first + 10 * LEN + 1, NULL, 0);
	expect_reset();
}

static void test_a_sack_block_is_an_acknowledgment(void **state)
{
	start(SACK);
	flight_sack(&f, 2, 10, 12);
	expect_reset();
	start(SACK);
	flight_sack(&f, 2, 5, 11);
	expect_reset();
	start(SACK);
	peer_sack(&f.p, f.first + 2 * LEN,
		&(struct tcp_range){f.first + 11 * LEN - 1, f.first + 12 * LEN}, 1);
	expect_reset();
}

/* What tells nothing of it: D-SACKs, blocks before it or of nowhere, text with an old ACK. */
static void test_other_blocks_say_nothing(void **state)
{
	start(SACK);
	flight_sack(&f, 2, 0, 1);
	flight_sack(&f, 2, 4, 10);
	flight_sack(&f, 2, 9, 60);
	flight_sack(&f, 2, 12, 10);
	peer_send(&f.p, 0, "x", 1);
	assert_true(f.c->skipped);
	assert_int_equal(f.h.app.closed, 0);
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

/* Nothing reports the gap: the timers send it like any other, and the test is over. */
static void test_the_timeout_sends_it(void **state)
{
	start(0);
	flight_ack(&f, 10);
	host_advance(&f.h, RTT);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, 250 * MS);
	assert_int_equal(f.c->timeouts, 1);
	flight_expect(&f, 10);
	assert_false(f.c->skipped);
	flight_ack(&f, 20);
	assert_int_equal(f.h.app.closed, 0);
	host_end(&f.h);
}

/* The peer's window ends behind it: the tail loss probe is its first transmission, no loss. */
static void test_a_probe_sends_it(void **state)
{
	flight_start(&f, SACK);
	f.c->cc.cwnd = 10 * LEN;
	flight_make(&f, 10);
	f.c->skip_probe_log2 = TCP_SKIP_PROBE_FIRST;
	f.c->sendq.skip_probe = f.c->sendq.head + 10;
	f.p.wnd = LEN;
	flight_ack(&f, 10);
	host_expect_none(&f.h);
	assert_true(f.c->skipped);
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 10);
	host_expect_none(&f.h);
	f.p.wnd = 65535;
	flight_ack(&f, 11);
	expect_ca_open();
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

static void test_when_it_is_not_the_time(void **state)
{
	start(SACK);
	f.c->skipped = false;
	tcp_sendq_at(&f.c->sendq, 8)->flags = 0;
	f.c->sendq.skip_probe = f.c->sendq.head;
	assert_true(tcp_skip_probe_due(f.c));
	f.c->ca_state = TCP_CA_RECOVERY;
	assert_false(tcp_skip_probe_begin(f.c));
	f.c->ca_state = TCP_CA_LOSS;
	assert_false(tcp_skip_probe_begin(f.c));
	f.c->ca_state = TCP_CA_CWR;
	assert_false(tcp_skip_probe_begin(f.c));
	f.c->ca_state = TCP_CA_OPEN;
	f.c->emss = LEN - 1;
	assert_false(tcp_skip_probe_begin(f.c));
	f.c->emss = LEN;
	assert_true(f.c->sendq.nxt < f.c->sendq.count);
	f.c->push_seq = tcp_record_end(tcp_sendq_at(&f.c->sendq, f.c->sendq.nxt));
	assert_false(tcp_skip_probe_begin(f.c)); /* nothing would follow it */
	assert_false(f.c->skipped);
	host_end(&f.h);
}

/* A path MTU probe repeats text in flight: what was never sent must not be in it. */
static void test_no_path_mtu_probe_meanwhile(void **state)
{
	start(SACK);
	f.c->mtu = 1200;
	tcp_pmtu_path_changed(f.c);
	tcp_pmtu_consider(f.c);
	assert_int_equal(tcp_stack_stats(f.h.tcp)->pmtu_probes, 0);
	f.c->skipped = false;
	tcp_pmtu_consider(f.c);
	assert_int_equal(tcp_stack_stats(f.h.tcp)->pmtu_probes, 1);
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

/* From the 4096th record on, at a place that nobody knows; then twice as far each time. */
static void test_how_often(void **state)
{
	uint32_t before[2], at;

	for (unsigned i = 0; i < 2; i++) {
		flight_init(&f, SACK, "newreno");
		assert_int_equal(f.c->sendq.skip_probe - f.c->sendq.head, 4096);
		f.c->sendq.nxt = 4096;
		assert_true(tcp_skip_probe_due(f.c));
		f.c->sendq.ring = calloc(1, sizeof *f.c->sendq.ring);
		f.c->sendq.cap = 1;
		assert_false(tcp_skip_probe_begin(f.c));
		before[i] = f.c->sendq.skip_probe - f.c->sendq.head;
		assert_in_range(before[i], 4097, 8192);
		free(f.c->sendq.ring);
		f.c->sendq.ring = NULL;
		f.c->sendq.cap = 0;
		f.c->sendq.nxt = 1;
		for (uint32_t log = 13; log < 25; log++) {
			uint32_t d = 1u << u32_min(log, 18);

			f.c->skipped = true;
			tcp_skip_probe_over(f.c, &(struct tcp_record){.flags = TCP_REC_SKIPPED});
			at = f.c->sendq.skip_probe - f.c->sendq.head - 1;
			assert_in_range(at, d, 2 * d - 1);
		}
		f.c->sendq.nxt = 80000; /* a long path: by its flights */
		f.c->skipped = true;
		tcp_skip_probe_over(f.c, &(struct tcp_record){.flags = TCP_REC_SKIPPED});
		at = f.c->sendq.skip_probe - f.c->sendq.head - 80000;
		assert_in_range(at, 128 * 80000, 2 * 128 * 80000);
		f.c->sendq.nxt = 0;
		host_end(&f.h);
	}
	assert_int_not_equal(before[0], before[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_honest_peer_gets_it_and_nothing_else_changes),
		cmocka_unit_test(test_the_gap_costs_no_growth),
		cmocka_unit_test(test_a_path_that_shrank_meanwhile),
		cmocka_unit_test(test_an_honest_peer_without_sack),
		cmocka_unit_test(test_whoever_acknowledges_it_is_reset),
		cmocka_unit_test(test_a_sack_block_is_an_acknowledgment),
		cmocka_unit_test(test_other_blocks_say_nothing),
		cmocka_unit_test(test_the_timeout_sends_it),
		cmocka_unit_test(test_a_probe_sends_it),
		cmocka_unit_test(test_when_it_is_not_the_time),
		cmocka_unit_test(test_no_path_mtu_probe_meanwhile),
		cmocka_unit_test(test_how_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
