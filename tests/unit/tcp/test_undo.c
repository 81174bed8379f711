/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight.h"
#include "tcp/undo.h"

static struct flight f;

#define SACK TCP_HAS_SACK_PERMITTED

/** Ten in flight, and a timeout that sent record 0 again. @return cwnd before. */
static uint32_t timed_out(unsigned options)
{
	uint32_t cwnd;

	flight_start(&f, options);
	f.c->rec.tlp_unfit = true; /* no probe before it */
	flight_make(&f, 4);
	ip_double_drain(&f.h.ip);
	cwnd = f.c->cc.cwnd;
	host_advance(&f.h, 240 * MS);
	flight_expect(&f, 0);
	assert_int_equal(f.c->timeouts, 1);
	assert_int_equal(f.c->rec.frto, TCP_FRTO_WAIT);
	host_expect_none(&f.h);
	flight_make(&f, 6); /* not sent yet */
	host_expect_none(&f.h);
	return cwnd;
}

/** Next sent is record @p i, twice: two new ones. */
static void expect_two_new(unsigned i)
{
	flight_expect(&f, i);
	flight_expect(&f, i + 1);
	host_expect_none(&f.h);
}

static void test_frto_finds_a_delay(void **state)
{
	uint32_t cwnd = timed_out(SACK);

	flight_ack(&f, 1); /* step 2b: two new ones, nothing again */
	expect_two_new(14);
	flight_ack(&f, 2); /* step 3b: the originals arrive */
	assert_int_equal(f.c->rto.spurious, 1);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_int_equal(f.c->sendq.lost, 0);
	assert_int_equal(f.c->retransmits, 1);
	host_end(&f.h);
}

static void test_frto_finds_a_loss(void **state)
{
	timed_out(SACK);
	flight_ack(&f, 1);
	expect_two_new(14);
	flight_sack(&f, 1, 14, 15); /* step 3a: the new one arrives, before the rest */
	assert_int_equal(f.c->rto.spurious, 0);
	assert_int_equal(f.c->rec.frto, TCP_FRTO_OFF);
	assert_int_equal(f.c->ca_state, TCP_CA_LOSS);
	assert_true(f.c->cc.cwnd <= 3 * f.c->cc.smss);
	flight_expect(&f, 1); /* conventional recovery */
	host_end(&f.h);
}

static void test_frto_by_sack(void **state)
{
	timed_out(SACK);
	flight_ack(&f, 1);
	expect_two_new(14);
	flight_sack(&f, 1, 5, 6); /* step 3b: an original, behind a hole */
	assert_int_equal(f.c->rto.spurious, 1);
	host_end(&f.h);
}

static void test_frto_all_acknowledged_tells_nothing(void **state)
{
	timed_out(SACK);
	flight_ack(&f, 14); /* step 2a */
	assert_int_equal(f.c->rto.spurious, 0);
	assert_int_equal(f.c->rec.frto, TCP_FRTO_OFF);
	assert_true(f.c->cc.cwnd <= 3 * f.c->cc.smss);
	host_end(&f.h);
}

static void test_frto_needs_new_text(void **state)
{
	flight_start(&f, SACK);
	f.c->rec.tlp_unfit = true;
	tcp_loss_sent(f.c);
	host_advance(&f.h, 240 * MS);
	flight_expect(&f, 0);
	flight_ack(&f, 1); /* there is none: slow start through what is missing */
	flight_expect(&f, 1);
	assert_int_equal(f.c->rec.frto, TCP_FRTO_OFF);
	host_end(&f.h);
}

static void test_frto_without_sack(void **state)
{
	timed_out(0);
	flight_ack(&f, 1);
	expect_two_new(14);
	flight_ack(&f, 2);
	assert_int_equal(f.c->rto.spurious, 1);
	host_end(&f.h);
}

static void test_frto_without_sack_a_duplicate_is_a_loss(void **state)
{
	timed_out(0);
	flight_ack(&f, 0);
	flight_ack(&f, 1);
	flight_expect(&f, 1);
	assert_int_equal(f.c->rto.spurious, 0);
	host_end(&f.h);
}

static void test_frto_survives_a_second_timeout(void **state)
{
	uint32_t cwnd = timed_out(SACK);

	host_advance(&f.h, 460 * MS);
	assert_int_equal(f.c->timeouts, 2);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 2);
	assert_int_equal(f.c->rto.spurious, 1);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_int_equal(f.c->rto.backoff, 0);
	host_end(&f.h);
}

static void test_timestamps_find_a_spurious_timeout_at_once(void **state)
{
	uint32_t cwnd = timed_out(SACK | TCP_HAS_TS);

	flight_echo(&f, 250 * MS); /* the original's */
	flight_ack(&f, 1);
	assert_int_equal(f.c->rto.spurious, 1);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_int_equal(f.c->retransmits, 1);
	host_end(&f.h);
}

static void test_timestamps_confirm_a_loss_at_once(void **state)
{
	timed_out(SACK | TCP_HAS_TS);
	host_advance(&f.h, RTT);
	flight_echo(&f, RTT); /* the retransmission's */
	flight_ack(&f, 1);
	assert_int_equal(f.c->rec.frto, TCP_FRTO_OFF); /* nothing to try */
	flight_expect(&f, 1);
	assert_int_equal(f.c->rto.spurious, 0);
	host_end(&f.h);
}

/** Fast recovery for record 0, which was only late. @return cwnd before. */
static uint32_t recovered_wrongly(unsigned options)
{
	uint32_t cwnd;

	flight_start(&f, SACK | options);
	cwnd = f.c->cc.cwnd;
	flight_echo(&f, RTT);
	flight_sack(&f, 0, 1, 4);
	flight_expect(&f, 0);
	assert_true(f.c->cc.ssthresh < cwnd);
	return cwnd;
}

static void test_timestamps_find_a_spurious_recovery(void **state)
{
	uint32_t cwnd = recovered_wrongly(TCP_HAS_TS);

	flight_ack(&f, 4); /* with the time stamp of before the retransmission */
	assert_int_equal(f.c->spurious_recoveries, 1);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_true(f.c->rec.rack.reordering_seen);
	host_end(&f.h);
}

/** A window that another congestion control has begun with meanwhile stays as it makes it. */
static void test_a_spurious_recovery_that_bbr_knows_nothing_of(void **state)
{
	uint32_t cwnd, ssthresh;

	(void)recovered_wrongly(TCP_HAS_TS);
	assert_int_equal(tcp_set_congestion_control(f.h.app.llp, "bbr"), 0);
	f.c->cc.cwnd = cwnd = 30 * LEN;
	ssthresh = f.c->cc.ssthresh;
	assert_true(ssthresh < cwnd);
	flight_ack(&f, 4); /* with the time stamp of before the retransmission */
	assert_int_equal(f.c->spurious_recoveries, 1);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.ssthresh, ssthresh);
	assert_true(f.c->cc.cwnd >= cwnd);
	host_end(&f.h);
}

static void test_timestamps_confirm_a_recovery(void **state)
{
	uint32_t cwnd = recovered_wrongly(TCP_HAS_TS);

	host_advance(&f.h, RTT);
	ip_double_drain(&f.h.ip);
	flight_echo(&f, RTT);
	flight_ack(&f, 10);
	assert_int_equal(f.c->spurious_recoveries, 0);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_true(f.c->cc.cwnd < cwnd);
	host_end(&f.h);
}

static void test_dsack_finds_a_spurious_recovery(void **state)
{
	uint32_t cwnd = recovered_wrongly(0);

	flight_ack(&f, 10);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_true(f.c->cc.cwnd < cwnd);
	flight_sack(&f, 10, 0, 1); /* record 0 came twice */
	assert_int_equal(f.c->spurious_recoveries, 1);
	assert_int_equal(f.c->dsacks, 1);
	assert_true(f.c->cc.cwnd >= cwnd);
	assert_int_equal(f.c->rec.rack.reo_wnd_mult, 2);
	host_end(&f.h);
}

/** The peer tells of a mark. */
static void mark(uint32_t acked)
{
	f.c->ecn.on = true;
	f.p.ack = f.first + acked * LEN;
	peer_send(&f.p, TCP_ECE, NULL, 0);
}

/** RFC 3168 section 6.1.2: a mark in the window that was reduced for a loss is answered by that. */
static void test_a_mark_keeps_the_window_of_a_spurious_recovery(void **state)
{
	(void)recovered_wrongly(TCP_HAS_TS);
	mark(0);
	assert_true(f.c->cwr_pending);
	flight_ack(&f, 4);
	assert_int_equal(f.c->spurious_recoveries, 1); /* nothing else is to be sent again */
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.ssthresh, 10 * LEN / 2);
	assert_int_equal(f.c->cc.cwnd, 10 * LEN / 2);
	host_end(&f.h);
}

static void test_a_mark_keeps_the_window_of_a_spurious_timeout(void **state)
{
	uint32_t cwnd = timed_out(SACK);

	mark(1);
	expect_two_new(14);
	flight_ack(&f, 2);
	assert_int_equal(f.c->rto.spurious, 1);
	assert_int_equal(f.c->sendq.lost, 0);
	assert_true(f.c->cc.ssthresh < cwnd);
	assert_true(f.c->cc.cwnd <= f.c->cc.ssthresh);
	host_end(&f.h);
}

static void test_dsack_for_one_of_two_is_no_proof(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 2, 8); /* 0 and 1 are sent again */
	flight_expect(&f, 0);
	host_advance(&f.h, 5 * MS); /* paced */
	flight_expect(&f, 1);
	flight_ack(&f, 10);
	flight_sack(&f, 10, 0, 1);
	assert_int_equal(f.c->retransmits, 2);
	assert_int_equal(f.c->spurious_recoveries, 0);
	flight_sack(&f, 10, 1, 2);
	assert_int_equal(f.c->spurious_recoveries, 1);
	host_end(&f.h);
}

static void test_duplicates_that_the_network_made(void **state)
{
	flight_start(&f, SACK);
	flight_ack(&f, 5);
	for (unsigned i = 0; i < 5; i++)
		flight_sack(&f, 5, i, i + 1);
	assert_int_equal(f.c->dsacks, 0); /* nothing was sent again */
	assert_int_equal(f.c->rec.rack.reo_wnd_mult, 1);
	host_end(&f.h);
}

/** What is taken back while a closed window is probed leaves the probes alone. */
static void test_dsack_beside_a_closed_window(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 1, 4);
	flight_expect(&f, 0);
	f.p.wnd = 0;
	flight_make(&f, 1);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, f.c->sendq.nxt);
	flight_make(&f, 2);
	assert_int_equal(tcp_flight(f.c), 0);
	assert_true(f.c->persist);
	assert_true(f.c->rec.undo_on);
	flight_sack(&f, (f.c->snd_una - f.first) / LEN, 0, 1);
	assert_false(f.c->rec.undo_on);
	assert_int_equal(f.c->spurious_recoveries, 1);
	assert_true(f.c->persist);
	assert_int_not_equal(f.c->rtx_at, TIMER_NEVER);
	host_expect_none(&f.h);
	host_advance(&f.h, 1000 * MS);
	assert_true(ip_double_pending(&f.h.ip) > 0);
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

static void test_dsack_of_a_later_time_undoes_nothing(void **state)
{
	recovered_wrongly(0);
	flight_ack(&f, 10);
	flight_make(&f, 3);
	ip_double_drain(&f.h.ip);
	flight_ack(&f, 11);
	flight_ack(&f, 13);
	flight_sack(&f, 13, 0, 1);
	assert_int_equal(f.c->spurious_recoveries, 0);
	host_end(&f.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frto_finds_a_delay),
		cmocka_unit_test(test_frto_finds_a_loss),
		cmocka_unit_test(test_frto_by_sack),
		cmocka_unit_test(test_frto_all_acknowledged_tells_nothing),
		cmocka_unit_test(test_frto_needs_new_text),
		cmocka_unit_test(test_frto_without_sack),
		cmocka_unit_test(test_frto_without_sack_a_duplicate_is_a_loss),
		cmocka_unit_test(test_frto_survives_a_second_timeout),
		cmocka_unit_test(test_timestamps_find_a_spurious_timeout_at_once),
		cmocka_unit_test(test_timestamps_confirm_a_loss_at_once),
		cmocka_unit_test(test_timestamps_find_a_spurious_recovery),
		cmocka_unit_test(test_a_spurious_recovery_that_bbr_knows_nothing_of),
		cmocka_unit_test(test_timestamps_confirm_a_recovery),
		cmocka_unit_test(test_dsack_finds_a_spurious_recovery),
		cmocka_unit_test(test_a_mark_keeps_the_window_of_a_spurious_recovery),
		cmocka_unit_test(test_a_mark_keeps_the_window_of_a_spurious_timeout),
		cmocka_unit_test(test_dsack_for_one_of_two_is_no_proof),
		cmocka_unit_test(test_duplicates_that_the_network_made),
		cmocka_unit_test(test_dsack_of_a_later_time_undoes_nothing),
		cmocka_unit_test(test_dsack_beside_a_closed_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
