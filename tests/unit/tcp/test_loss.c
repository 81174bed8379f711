/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight.h"
#include "tcp/loss.h"

static struct flight f;

#define SACK TCP_HAS_SACK_PERMITTED

static void test_third_duplicate_ack_retransmits(void **state)
{
	flight_start(&f, 0);
	flight_ack(&f, 0);
	flight_ack(&f, 0);
	host_expect_none(&f.h);
	flight_ack(&f, 0);
	flight_expect(&f, 0);
	host_expect_none(&f.h);
	assert_int_equal(f.c->fast_recoveries, 1);
	assert_int_equal(f.c->cc.ssthresh, 5000);
	assert_int_equal(f.c->ca_state, TCP_CA_RECOVERY);
	/* Each further one is a segment of 1460 that has left: new text goes out, half as much. */
	flight_make(&f, 3);
	for (int i = 0; i < 4; i++)
		flight_ack(&f, 0);
	flight_expect(&f, 10);
	flight_expect(&f, 11);
	flight_ack(&f, 12);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.cwnd, 5000);
	host_end(&f.h);
}

static void test_limited_transmit(void **state)
{
	flight_start(&f, 0); /* RFC 3042; the window would hold it otherwise */
	f.c->cc.cwnd = 10000;
	flight_make(&f, 4);
	host_expect_none(&f.h);
	flight_ack(&f, 0);
	flight_expect(&f, 10);
	host_expect_none(&f.h);
	host_end(&f.h);
}

static void test_partial_ack_retransmits_the_next_hole(void **state)
{
	flight_start(&f, 0);
	for (int i = 0; i < 3; i++)
		flight_ack(&f, 0);
	flight_expect(&f, 0);
	flight_ack(&f, 4);
	flight_expect(&f, 4);
	flight_ack(&f, 7);
	flight_expect(&f, 7);
	flight_ack(&f, 10);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	host_expect_none(&f.h);
	assert_int_equal(f.c->retransmits, 3);
	assert_int_equal(f.c->fast_recoveries, 1);
	host_end(&f.h);
}

static void test_no_second_recovery_for_what_go_back_repeats(void **state)
{
	flight_start(&f, 0); /* RFC 6582 section 4 */
	for (int i = 0; i < 3; i++)
		flight_ack(&f, 0);
	flight_ack(&f, 10);
	ip_double_drain(&f.h.ip);
	flight_make(&f, 4);
	ip_double_drain(&f.h.ip);
	for (int i = 0; i < 5; i++)
		flight_ack(&f, 10);
	assert_int_equal(f.c->fast_recoveries, 1);
	flight_ack(&f, 11);
	for (int i = 0; i < 3; i++)
		flight_ack(&f, 11);
	assert_int_equal(f.c->fast_recoveries, 2);
	host_end(&f.h);
}

static void test_text_or_window_make_no_duplicate(void **state)
{
	flight_start(&f, 0);
	for (int i = 0; i < 5; i++)
		peer_send(&f.p, 0, "x", 1);
	for (int i = 0; i < 5; i++) {
		f.p.wnd -= 10;
		flight_ack(&f, 0);
	}
	assert_int_equal(f.c->fast_recoveries, 0);
	host_end(&f.h);
}

static void test_sack_tells_which(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 1, 2);
	flight_sack(&f, 0, 1, 3);
	host_expect_none(&f.h);
	flight_sack(&f, 0, 1, 4);
	flight_expect(&f, 0);
	/* 4 and 5 are missing too; in recovery what was sent before 6 is lost when 6 has come. */
	flight_sack(&f, 0, 6, 8);
	flight_expect(&f, 4);
	flight_expect(&f, 5);
	host_expect_none(&f.h);
	flight_ack(&f, 10);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.cwnd, f.c->cc.ssthresh);
	assert_int_equal(f.c->retransmits, 3);
	assert_int_equal(f.c->sendq.sacked + f.c->sendq.lost + f.c->sendq.rexmit, 0);
	host_end(&f.h);
}

static void test_duplicates_without_news_do_not_count_with_sack(void **state)
{
	flight_start(&f, SACK);
	for (int i = 0; i < 5; i++)
		flight_sack(&f, 0, 1, 2);
	for (int i = 0; i < 5; i++)
		flight_ack(&f, 0);
	host_expect_none(&f.h);
	assert_int_equal(f.c->fast_recoveries, 0);
	host_end(&f.h);
}

/** What is believed lost only when the timeout is over waits for that. */
static void test_the_timeout_comes_before_reordering_is_over(void **state)
{
	flight_start(&f, SACK);
	f.c->rec.rto_from = f.h.now + MS - tcp_rto_get(&f.c->rto);
	flight_sack(&f, 0, 5, 6);
	assert_int_equal(f.c->rec.timer, TCP_TIMER_RTO);
	host_expect_none(&f.h);
	host_advance(&f.h, 2 * MS);
	assert_int_equal(f.c->timeouts, 1);
	flight_expect(&f, 0);
	flight_ack(&f, 10);
	assert_int_equal(tcp_flight(f.c), 0);
	host_end(&f.h);
}

static void test_senseless_blocks(void **state)
{
	/* Inverted, long ago, beyond what was sent, empty, the byte that the ACK asks for. */
	static const int32_t bad[][2] = {{5000, 4000}, {-5000, -1000}, {9000, 99000}, {3000, 3000},
		{0, 3000}, {-2000, 3000}};

	flight_start(&f, SACK);
	for (size_t i = 0; i < 6; i++) {
		struct tcp_range r = {f.first + (uint32_t)bad[i][0], f.first + (uint32_t)bad[i][1]};

		peer_sack(&f.p, f.first, &r, 1);
	}
	assert_int_equal(f.c->sendq.sacked, 0);
	assert_int_equal(f.c->rec.rack.reo_wnd_mult, 1);
	host_expect_none(&f.h);
	host_end(&f.h);
}

static void test_blocks_of_one_ack_are_no_reordering(void **state)
{
	struct tcp_range r[2];

	flight_start(&f, SACK);
	r[0] = (struct tcp_range){f.first + 6 * LEN, f.first + 7 * LEN}; /* most recent first */
	r[1] = (struct tcp_range){f.first + 2 * LEN, f.first + 3 * LEN};
	peer_sack(&f.p, f.first, r, 2);
	assert_false(f.c->rec.rack.reordering_seen);
	host_end(&f.h);
}

static void test_timeout_sends_the_first_and_doubles(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 3, 4); /* one: the reordering window opens, and 0 to 2 are lost */
	host_advance(&f.h, RTT / 4 + MS);
	flight_expect(&f, 0);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, 230 * MS);
	flight_expect(&f, 0);
	host_expect_none(&f.h);
	assert_int_equal(f.c->timeouts, 1);
	assert_int_equal(f.c->cc.cwnd, f.c->emss);
	host_advance(&f.h, 420 * MS);
	host_expect_none(&f.h);
	host_advance(&f.h, 30 * MS);
	flight_expect(&f, 0);
	assert_int_equal(f.c->timeouts, 2);
	/* It arrives: slow start through what is missing. */
	flight_ack(&f, 1);
	flight_expect(&f, 1);
	host_end(&f.h);
}

/* What was found lost before it does not go first, or F-RTO would wait for the peer in vain. */
static void test_timeout_sends_the_oldest(void **state)
{
	flight_start(&f, SACK);
	f.c->cc.cwnd = LEN;
	tcp_sendq_lose(&f.c->sendq, 1);
	tcp_sendq_lose(&f.c->sendq, 5);
	tcp_sendq_lose(&f.c->sendq, 3);
	flight_ack(&f, 3);
	host_expect_none(&f.h);
	host_advance(&f.h, 230 * MS);
	flight_expect(&f, 3);
	assert_int_equal(f.c->timeouts, 1);
	flight_ack(&f, 4);
	flight_expect(&f, 4);
	host_end(&f.h);
}

static void test_timeout_without_sack_goes_back(void **state)
{
	flight_start(&f, 0);
	host_advance(&f.h, 230 * MS);
	flight_expect(&f, 0);
	host_expect_none(&f.h);
	assert_int_equal(f.c->sendq.lost, 10 * LEN);
	flight_ack(&f, 1);
	flight_expect(&f, 1);
	host_end(&f.h);
}

static void test_what_the_peer_reneged_is_sent_again(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 1, 3);
	flight_ack(&f, 1); /* but it had 1: it should have been acknowledged */
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, 11 * MS); /* not the whole timeout */
	flight_expect(&f, 1);
	assert_int_equal(f.c->sendq.sacked, 0);
	assert_int_equal(f.c->timeouts, 1);
	host_end(&f.h);
}

static void test_no_fast_recovery_within_timeout_recovery(void **state)
{
	flight_start(&f, 0);
	host_advance(&f.h, 210 * MS);
	flight_expect(&f, 0);
	for (int i = 0; i < 5; i++)
		flight_ack(&f, 0);
	assert_int_equal(f.c->fast_recoveries, 0);
	host_end(&f.h);
}

static void test_small_records_count_as_segments(void **state)
{
	struct heard a;
	uint32_t seq;

	flight_init(&f, SACK, "newreno");
	seq = f.first;
	for (int i = 0; i < 6; i++)
		app_send(&f.h.app, "0123456789", 10);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, RTT);
	peer_sack(&f.p, seq, &(struct tcp_range){seq + 10, seq + 40}, 1);
	host_expect(&f.h, &a);
	assert_int_equal(a.h.seq, seq);
	assert_int_equal(a.len, 10);
	host_end(&f.h);
}

static void test_a_lost_retransmission_is_found_without_timeout(void **state)
{
	uint32_t ssthresh;

	flight_start(&f, SACK);
	flight_make(&f, 20);
	ip_double_drain(&f.h.ip); /* 4 more: the initial window is 14,600 */
	host_advance(&f.h, MS);
	flight_sack(&f, 0, 1, 4);
	flight_expect(&f, 0);
	ssthresh = f.c->cc.ssthresh;
	ip_double_drain(&f.h.ip);
	flight_sack(&f, 0, 1, 10); /* ACKs clock out new text after the retransmission of 0 */
	assert_true(ip_double_pending(&f.h.ip) > 0);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, RTT);
	ip_double_drain(&f.h.ip);
	flight_sack(&f, 0, 1, 15); /* what was sent later arrives, 0 does not */
	flight_expect(&f, 0);
	/* RFC 5681 section 4.3: a lost retransmission is a second congestion. */
	assert_true(f.c->cc.ssthresh < ssthresh);
	/* And once more. */
	ip_double_drain(&f.h.ip);
	flight_sack(&f, 0, 1, 16);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, RTT);
	ip_double_drain(&f.h.ip);
	flight_sack(&f, 0, 1, (f.c->snd_nxt - f.first) / LEN);
	flight_expect(&f, 0);
	assert_int_equal(f.c->timeouts, 0);
	assert_int_equal(f.c->fast_recoveries, 1);
	host_end(&f.h);
}

/** Where some packets are late, one that was sent again may be, too. */
static void test_a_retransmission_that_may_be_late_is_no_second_congestion(void **state)
{
	uint32_t ssthresh;

	flight_start(&f, SACK);
	flight_make(&f, 20);
	ip_double_drain(&f.h.ip);
	host_advance(&f.h, MS);
	flight_sack(&f, 0, 1, 4);
	flight_expect(&f, 0);
	ssthresh = f.c->cc.ssthresh;
	f.c->rec.rack.reordering_seen = true;
	flight_sack(&f, 0, 1, 10);
	host_advance(&f.h, RTT);
	assert_int_equal(f.c->retransmits, 1);
	flight_sack(&f, 0, 1, 15);
	host_advance(&f.h, RTT / 2);
	assert_int_equal(f.c->retransmits, 2);
	assert_int_equal(f.c->timeouts, 0);
	assert_int_equal(f.c->ca_state, TCP_CA_RECOVERY);
	assert_int_equal(f.c->cc.ssthresh, ssthresh);
	host_end(&f.h);
}

static void test_reordering_sends_nothing_again(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 1, 2); /* 0 is late, by less than a quarter of the round trip */
	host_advance(&f.h, RTT / 5);
	flight_ack(&f, 2);
	host_advance(&f.h, RTT / 4);
	host_expect_none(&f.h);
	assert_int_equal(f.c->fast_recoveries, 0);
	assert_true(f.c->rec.rack.reordering_seen);
	/* From now on three SACKed segments are no proof either. */
	flight_sack(&f, 2, 3, 8);
	host_expect_none(&f.h);
	host_advance(&f.h, RTT / 5);
	flight_ack(&f, 8);
	host_expect_none(&f.h);
	assert_int_equal(f.c->retransmits, 0);
	host_end(&f.h);
}

static void test_reordering_timer_finds_the_loss(void **state)
{
	flight_start(&f, SACK);
	flight_sack(&f, 0, 1, 2);
	host_expect_none(&f.h);
	host_advance(&f.h, RTT / 4 - MS);
	host_expect_none(&f.h);
	host_advance(&f.h, 2 * MS);
	flight_expect(&f, 0);
	assert_int_equal(f.c->ca_state, TCP_CA_RECOVERY);
	assert_int_equal(f.c->timeouts, 0);
	host_end(&f.h);
}

static void test_ecn_reduces_without_sending_again(void **state)
{
	flight_start(&f, SACK);
	tcp_loss_ecn(f.c);
	tcp_loss_ecn(f.c);                        /* once per window */
	assert_int_equal(f.c->cc.ssthresh, 8000); /* RFC 8511 */
	assert_int_equal(f.c->ca_state, TCP_CA_CWR);
	flight_ack(&f, 5);
	assert_true(f.c->cc.cwnd <= 8000);
	/* A loss in the same window does not reduce again. */
	flight_sack(&f, 5, 6, 9);
	flight_expect(&f, 5);
	assert_int_equal(f.c->cc.ssthresh, 8000);
	flight_ack(&f, 10);
	assert_int_equal(f.c->ca_state, TCP_CA_OPEN);
	assert_int_equal(f.c->cc.cwnd, 8000);
	host_end(&f.h);
}

static void test_a_path_that_comes_back(void **state)
{
	flight_start(&f, SACK);
	host_advance(&f.h, 20000 * MS);
	assert_true(f.c->rto.backoff > 4);
	ip_double_drain(&f.h.ip);
	/* The peer is heard again: what it asks for goes out, back-off or not. */
	flight_ack(&f, 1);
	flight_expect(&f, 1);
	assert_true(tcp_rto_get(&f.c->rto) <= TCP_RTO_KEPT);
	flight_ack(&f, 11); /* what is behind the outage measures the path */
	host_end(&f.h);
}

static void test_a_dead_path_ends_the_connection(void **state)
{
	flight_start(&f, SACK);
	host_advance(&f.h, 99000 * MS);
	assert_int_equal(f.h.app.closed, 0);
	host_advance(&f.h, 60000 * MS);
	assert_int_equal(f.h.app.closed, 1);
	assert_int_equal(f.h.app.error, -ETIMEDOUT);
	host_end(&f.h);
}

/* RFC 3465 section 2.3: the first ACK after it may cover what came long ago. */
static void test_growth_after_a_timeout_is_by_one_segment(void **state)
{
	uint32_t cwnd;

	flight_start(&f, 0);
	host_advance(&f.h, 300 * MS);
	assert_int_equal(f.c->timeouts, 1);
	cwnd = f.c->cc.cwnd;
	flight_ack(&f, 6);
	assert_int_equal(f.c->cc.cwnd, cwnd + f.c->cc.smss);
	ip_double_drain(&f.h.ip);
	host_end(&f.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_third_duplicate_ack_retransmits),
		cmocka_unit_test(test_limited_transmit),
		cmocka_unit_test(test_partial_ack_retransmits_the_next_hole),
		cmocka_unit_test(test_no_second_recovery_for_what_go_back_repeats),
		cmocka_unit_test(test_text_or_window_make_no_duplicate),
		cmocka_unit_test(test_sack_tells_which),
		cmocka_unit_test(test_duplicates_without_news_do_not_count_with_sack),
		cmocka_unit_test(test_the_timeout_comes_before_reordering_is_over),
		cmocka_unit_test(test_senseless_blocks),
		cmocka_unit_test(test_blocks_of_one_ack_are_no_reordering),
		cmocka_unit_test(test_timeout_sends_the_first_and_doubles),
		cmocka_unit_test(test_timeout_sends_the_oldest),
		cmocka_unit_test(test_timeout_without_sack_goes_back),
		cmocka_unit_test(test_what_the_peer_reneged_is_sent_again),
		cmocka_unit_test(test_no_fast_recovery_within_timeout_recovery),
		cmocka_unit_test(test_small_records_count_as_segments),
		cmocka_unit_test(test_a_lost_retransmission_is_found_without_timeout),
		cmocka_unit_test(test_a_retransmission_that_may_be_late_is_no_second_congestion),
		cmocka_unit_test(test_reordering_sends_nothing_again),
		cmocka_unit_test(test_reordering_timer_finds_the_loss),
		cmocka_unit_test(test_ecn_reduces_without_sending_again),
		cmocka_unit_test(test_a_path_that_comes_back),
		cmocka_unit_test(test_a_dead_path_ends_the_connection),
		cmocka_unit_test(test_growth_after_a_timeout_is_by_one_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
