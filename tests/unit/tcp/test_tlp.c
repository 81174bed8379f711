/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight.h"
#include "tcp/tlp.h"

static struct flight f;

#define SACK TCP_HAS_SACK_PERMITTED

static void test_a_lost_tail_is_repaired_without_timeout(void **state)
{
	flight_start(&f, SACK);
	flight_ack(&f, 7); /* 7, 8 and 9 are lost */
	host_advance(&f.h, 2 * RTT - MS);
	host_expect_none(&f.h);
	host_advance(&f.h, 2 * MS);
	flight_expect(&f, 9);
	host_expect_none(&f.h);
	host_advance(&f.h, RTT);
	flight_sack(&f, 7, 9, 10);
	flight_expect(&f, 7);
	host_advance(&f.h, RTT);
	flight_sack(&f, 8, 9, 10);
	flight_expect(&f, 8);
	flight_ack(&f, 10);
	assert_int_equal(f.c->timeouts, 0);
	assert_int_equal(f.c->rec.tlp_probes, 1);
	assert_int_equal(f.c->fast_recoveries, 1);
	host_end(&f.h);
}

static void test_new_text_is_the_better_probe(void **state)
{
	flight_start(&f, SACK);
	f.c->cc.cwnd = 10 * LEN;
	flight_make(&f, 2);
	host_expect_none(&f.h);
	host_advance(&f.h, 2 * RTT);
	flight_expect(&f, 10); /* one, beyond cwnd */
	host_expect_none(&f.h);
	flight_ack(&f, 11);
	assert_false(f.c->rec.tlp_out);
	assert_true(f.c->cc.cwnd >= 10 * LEN);
	host_end(&f.h);
}

static void test_one_probe_then_the_timeout(void **state)
{
	flight_start(&f, SACK);
	host_advance(&f.h, RTT + MS);
	flight_expect(&f, 9);
	host_advance(&f.h, 200 * MS);
	host_expect_none(&f.h); /* the timeout counts from the probe */
	host_advance(&f.h, 30 * MS);
	flight_expect(&f, 0);
	assert_int_equal(f.c->timeouts, 1);
	host_end(&f.h);
}

/**
 * The path took less than what is in flight, and no more may be cut but the oldest: there is no
 * probe. The timeout is next, when it would have been without one.
 */
static void test_the_timeout_follows_a_probe_that_cannot_be_sent(void **state)
{
	uint64_t due;
	struct heard a;

	flight_start(&f, SACK);
	due = f.c->rec.rto_from + tcp_rto_get(&f.c->rto);
	f.h.ip.path_mtu = 600;
	f.c->s->tx_limit = 1;
	host_advance(&f.h, due - 1 - f.h.now);
	host_expect_none(&f.h);
	assert_int_equal(f.c->rec.tlp_probes, 0);
	assert_int_equal(f.c->timeouts, 0);
	host_advance(&f.h, 10 * MS);
	assert_int_equal(f.c->timeouts, 1);
	host_expect(&f.h, &a);
	assert_int_equal(a.h.seq, f.first);
	assert_int_equal(a.len, f.c->emss);
	host_end(&f.h);
}

static void test_no_second_probe_without_a_round_trip(void **state)
{
	flight_start(&f, SACK);
	host_advance(&f.h, RTT + MS);
	flight_expect(&f, 9);
	/* All arrive, the probe too; the answer measures nothing, for 9 was sent twice. */
	flight_ack(&f, 10);
	flight_make(&f, 2);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, 3 * RTT + 60 * MS);
	host_expect_none(&f.h);
	flight_ack(&f, 12); /* this one does */
	flight_make(&f, 4);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, 200 * MS);
	assert_int_equal(ip_double_pending(&f.h.ip), 1);
	host_end(&f.h);
}

static void test_little_in_flight_waits_for_a_delayed_ack(void **state)
{
	flight_init(&f, SACK, "newreno");
	flight_make(&f, 1);
	flight_expect(&f, 0);
	host_advance(&f.h, 2 * RTT + 40 * MS);
	host_expect_none(&f.h);
	host_advance(&f.h, 20 * MS);
	flight_expect(&f, 0);
	host_end(&f.h);
}

/** Section 7.4.2: the probe was the repair. */
static void test_a_repair_is_a_loss_for_congestion_control(void **state)
{
	uint32_t cwnd;

	flight_start(&f, SACK);
	flight_ack(&f, 9);
	cwnd = f.c->cc.cwnd;
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 9);
	flight_ack(&f, 10);
	assert_true(f.c->cc.cwnd >= cwnd); /* it may have been late only: not known yet */
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 11);
	assert_true(f.c->cc.cwnd < cwnd);
	assert_int_equal(f.c->fast_recoveries, 0);
	host_end(&f.h);
}

/** Ten are in flight and the last is lost. @return the window that the repair leaves. */
static uint32_t repaired(const char *congestion_control, bool slow_start)
{
	flight_init(&f, SACK, congestion_control);
	if (!slow_start)
		f.c->cc.ssthresh = f.c->cc.cwnd;
	flight_make(&f, 10);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, RTT);
	flight_ack(&f, 9);
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 9);
	flight_ack(&f, 10);
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 11);
	return f.c->cc.cwnd;
}

/** RFC 5681 equation 4 means what was in flight when the loss happened, not when it was noticed. */
static void test_a_repair_costs_no_more_than_fast_recovery(void **state)
{
	uint32_t cwnd;

	assert_int_equal(repaired("newreno", true), 10 * LEN / 2);
	assert_int_equal(f.c->cc.ssthresh, 10 * LEN / 2);
	host_end(&f.h);
	assert_int_equal(repaired("newreno", false), 10 * LEN / 2);
	host_end(&f.h);
	assert_in_range(repaired("cubic", false), 10 * LEN * 7 / 10, 12 * LEN);
	host_end(&f.h);
	cwnd = repaired("bbr", true); /* its model bounds the window, a single loss does not */
	assert_true(cwnd >= 10 * LEN);
	host_end(&f.h);
}

/** One alone in flight may have been as much as the path takes. */
static void test_a_repair_of_a_small_flight_leaves_two_segments(void **state)
{
	flight_init(&f, SACK, "newreno");
	flight_make(&f, 1);
	flight_expect(&f, 0);
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 0);
	flight_ack(&f, 1);
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 2);
	assert_int_equal(f.c->cc.ssthresh, 2 * f.c->cc.smss);
	host_end(&f.h);
}

static void spurious(void (*tell)(void))
{
	uint32_t cwnd;

	flight_start(&f, SACK);
	flight_ack(&f, 9);
	cwnd = f.c->cc.cwnd;
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 9);
	tell();
	assert_false(f.c->rec.tlp_out);
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 11);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_int_equal(f.c->rec.rack.reo_wnd_mult, 1); /* the probe's duplicate is no news */
	host_end(&f.h);
}

static void tell_by_dsack(void)
{
	flight_ack(&f, 10);
	flight_sack(&f, 10, 9, 10);
}

static void tell_by_duplicate(void)
{
	flight_ack(&f, 10);
	flight_make(&f, 1); /* a duplicate ACK needs something outstanding */
	ip_double_drain(&f.h.ip);
	f.made--;
	flight_ack(&f, 10);
}

static void tell_by_duplicate_of_all(void)
{
	flight_ack(&f, 10);
	flight_ack(&f, 10);
}

static void test_both_arrived_says_an_ack_of_all(void **state)
{
	spurious(tell_by_duplicate_of_all);
}

static void test_both_arrived_says_dsack(void **state)
{
	spurious(tell_by_dsack);
}

static void test_both_arrived_says_a_duplicate_ack(void **state)
{
	spurious(tell_by_duplicate);
}

/** The window has fallen for a mark meanwhile: once for both. */
static void test_a_repair_beside_a_mark_costs_nothing_more(void **state)
{
	uint32_t cwnd;

	flight_start(&f, SACK);
	f.c->ecn.on = true;
	flight_ack(&f, 9);
	host_advance(&f.h, 2 * RTT + 60 * MS);
	flight_expect(&f, 9);
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	f.p.ack = f.first + 10 * LEN;
	peer_send(&f.p, TCP_ECE, NULL, 0);
	assert_int_equal(f.c->ca_state, TCP_CA_CWR);
	assert_true(f.c->rec.tlp_out);
	cwnd = f.c->cc.ssthresh;
	flight_ack(&f, 11);
	assert_false(f.c->rec.tlp_out);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.ssthresh, cwnd);
	assert_int_equal(f.c->cc.cwnd, cwnd);
	host_end(&f.h);
}

static void test_none_without_sack(void **state)
{
	flight_start(&f, 0);
	host_advance(&f.h, 190 * MS);
	host_expect_none(&f.h);
	host_end(&f.h);
}

static void test_the_fin_is_probed(void **state)
{
	struct heard a;

	flight_start(&f, SACK);
	llp_shutdown(f.h.app.llp);
	host_expect(&f.h, &a);
	assert_true(a.h.flags & TCP_FIN);
	host_advance(&f.h, 2 * RTT + MS);
	host_expect(&f.h, &a);
	assert_true(a.h.flags & TCP_FIN);
	host_end(&f.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lost_tail_is_repaired_without_timeout),
		cmocka_unit_test(test_new_text_is_the_better_probe),
		cmocka_unit_test(test_one_probe_then_the_timeout),
		cmocka_unit_test(test_the_timeout_follows_a_probe_that_cannot_be_sent),
		cmocka_unit_test(test_no_second_probe_without_a_round_trip),
		cmocka_unit_test(test_little_in_flight_waits_for_a_delayed_ack),
		cmocka_unit_test(test_a_repair_is_a_loss_for_congestion_control),
		cmocka_unit_test(test_a_repair_costs_no_more_than_fast_recovery),
		cmocka_unit_test(test_a_repair_of_a_small_flight_leaves_two_segments),
		cmocka_unit_test(test_both_arrived_says_an_ack_of_all),
		cmocka_unit_test(test_both_arrived_says_dsack),
		cmocka_unit_test(test_both_arrived_says_a_duplicate_ack),
		cmocka_unit_test(test_a_repair_beside_a_mark_costs_nothing_more),
		cmocka_unit_test(test_none_without_sack),
		cmocka_unit_test(test_the_fin_is_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
