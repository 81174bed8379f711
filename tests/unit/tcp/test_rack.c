/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/rack.h"

/* Records without text behind them: the scoreboard does not look at it. */

static struct tcp_sendq q;
static struct tcp_rack k;
static struct tcp_delivery d;

/** @p n records of ten bytes, sent at 100, 101, ... */
static void send(uint32_t n)
{
	q = (struct tcp_sendq){0};
	tcp_rack_init(&k, 1000);
	for (uint32_t i = 0; i < n; i++) {
		sendq_room(&q);
		tcp_sendq_push(&q, NULL, 0, 10, 1000 + 10 * i, 0);
		tcp_sendq_sent(&q, i, 100 + i);
	}
}

static void delivered(uint64_t now)
{
	tcp_rack_delivered(&k, &d, 1000, now);
}

static void sack(uint32_t from, uint32_t to, uint64_t now)
{
	d = (struct tcp_delivery){.credible_until = UINT64_MAX, .fack = k.fack};
	tcp_sendq_sack(&q, (struct tcp_range){1000 + 10 * from, 1000 + 10 * to}, &d);
	delivered(now);
}

static bool lost(uint32_t i)
{
	return (tcp_sendq_at(&q, i)->flags & (TCP_REC_LOST | TCP_REC_REXMIT)) == TCP_REC_LOST;
}

static void test_lost_is_what_was_sent_before_and_is_overdue(void **state)
{
	struct tcp_rack_loss l;

	send(5);
	sack(3, 4, 203); /* the round trip is 100 */
	assert_int_equal(k.rtt, 100);
	l = tcp_rack_detect(&k, &q, 25, 203);
	assert_int_equal(l.lost, 0);
	assert_int_equal(l.next, 100 + 100 + 25);
	l = tcp_rack_detect(&k, &q, 25, 226); /* records 0 and 1 are due */
	assert_int_equal(l.lost, 20);
	assert_true(lost(0) && lost(1) && !lost(2));
	assert_int_equal(l.next, 227);
	l = tcp_rack_detect(&k, &q, 25, 10000);
	assert_true(lost(2));
	assert_false(lost(4)); /* sent later than what arrived */
	assert_int_equal(l.next, 0);
	tcp_sendq_clear(&q);
}

static void test_a_lost_retransmission_is_lost_again(void **state)
{
	struct tcp_rack_loss l;

	send(6);
	sack(1, 3, 202);
	l = tcp_rack_detect(&k, &q, 0, 202);
	assert_int_equal(l.lost, 10);
	assert_int_equal(l.relost, 0);
	tcp_sendq_sent(&q, 0, 210);
	l = tcp_rack_detect(&k, &q, 0, 400);
	assert_int_equal(l.lost, 0); /* nothing later has arrived */
	tcp_sendq_sent(&q, 5, 220);
	sack(5, 6, 320);
	l = tcp_rack_detect(&k, &q, 0, 320);
	assert_true(lost(0));
	assert_int_equal(l.relost, 210);
	tcp_sendq_clear(&q);
}

static void test_sequence_breaks_ties(void **state)
{
	send(1);
	for (uint32_t i = 1; i < 5; i++) {
		sendq_room(&q);
		tcp_sendq_push(&q, NULL, 0, 10, 1000 + 10 * i, 0);
		tcp_sendq_sent(&q, i, 100); /* all in one instant */
	}
	sack(2, 3, 200);
	tcp_rack_detect(&k, &q, 0, 200);
	assert_true(lost(0) && lost(1));
	assert_false(lost(3) || lost(4));
	tcp_sendq_clear(&q);
}

static void test_an_answer_that_comes_too_soon_is_to_the_original(void **state)
{
	send(3);
	tcp_sendq_lose(&q, 0);
	tcp_sendq_sent(&q, 0, 150);
	d = (struct tcp_delivery){.credible_until = 149, .fack = k.fack};
	tcp_sendq_ack(&q, 1010, &d);
	assert_false(d.any);
	assert_int_equal(d.rexmit_at, 150);
	delivered(160);
	assert_int_equal(k.rtt, 0);
	assert_int_equal(k.xmit_ts, 0);
	tcp_sendq_clear(&q);
}

static void test_reordering_is_seen(void **state)
{
	send(5);
	sack(3, 4, 203);
	assert_false(k.reordering_seen);
	tcp_sendq_lose(&q, 1);
	tcp_sendq_sent(&q, 1, 204);
	sack(1, 2, 300); /* that was sent again: it tells nothing */
	assert_false(k.reordering_seen);
	sack(2, 3, 300);
	assert_true(k.reordering_seen);
	tcp_sendq_clear(&q);
}

static void test_reordering_window(void **state)
{
	send(1);
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, false, 2), 25);
	/* DupThresh and recovery need no wait while no reordering was seen. */
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, false, 3), 0);
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 0), 0);
	k.reordering_seen = true;
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 3), 25);
	/* It grows once in a round trip with D-SACKs, up to SRTT. */
	tcp_rack_dsack(&k, 2000);
	tcp_rack_dsack(&k, 2000);
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 3), 50);
	d = (struct tcp_delivery){.fack = 2000};
	tcp_rack_delivered(&k, &d, 2000, 300);
	for (uint32_t end = 3000; end < 9000; end += 1000) {
		tcp_rack_dsack(&k, end);
		tcp_rack_delivered(&k, &d, end, 300);
	}
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 3), 120);
	/* And is small again after sixteen recoveries without one. */
	for (int i = 0; i < 15; i++)
		tcp_rack_recovered(&k);
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 3), 120);
	tcp_rack_recovered(&k);
	assert_int_equal(tcp_rack_reo_wnd(&k, 100, 120, true, 3), 25);
	tcp_sendq_clear(&q);
}

/** RFC 8985 section 6.2: the multiple grows by one a round trip, and does not wrap. */
static void test_many_dsacks(void **state)
{
	tcp_rack_init(&k, 1000);
	for (uint32_t i = 1; i <= 1000; i++) {
		uint8_t before = k.reo_wnd_mult;

		k.in_dsack_round = false;
		tcp_rack_dsack(&k, 1000 + i);
		assert_int_equal(k.reo_wnd_mult, before == UINT8_MAX ? UINT8_MAX : before + 1);
	}
	assert_int_equal(k.reo_wnd_mult, UINT8_MAX);
}

static void test_timeout_spares_what_is_young(void **state)
{
	send(5);
	sack(4, 5, 204);
	assert_int_equal(k.rtt, 100);
	tcp_sendq_lose(&q, 3);
	tcp_sendq_sent(&q, 3, 1000);
	/* Section 6.3: the first, and what is older than the round trip and the window. */
	assert_int_equal(tcp_rack_timeout(&k, &q, 25, 1050), 30);
	assert_true(lost(0) && lost(1) && lost(2));
	assert_false(lost(3));
	tcp_sendq_clear(&q);
}

/** 90,000 in flight with 1,000 holes: an ACK for each must not cost a walk over them. */
static void test_a_large_flight(void **state)
{
	const uint32_t n = 90000, every = 90;
	uint32_t total = 0;

	send(n);
	for (uint32_t i = 1; i < n; i++) {
		struct tcp_rack_loss l;
		uint64_t now = 100 + n + i;

		if (i % every == 0)
			continue;
		/* The block that an ACK repeats reaches back to the last hole. */
		sack(i / every * every + 1, i + 1, now);
		l = tcp_rack_detect(&k, &q, 100, now);
		total += l.lost;
		if (l.lost)
			tcp_sendq_sent(&q, tcp_sendq_first_lost(&q), now);
	}
	assert_in_range(total, 9900, 10000);
	/* And blocks that span all of it find the rest at once. */
	for (uint32_t i = 0; i < n; i++)
		sack(1, n, 300000);
	assert_int_equal(q.n_sacked, n - 1);
	tcp_sendq_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_dsacks),
		cmocka_unit_test(test_lost_is_what_was_sent_before_and_is_overdue),
		cmocka_unit_test(test_a_lost_retransmission_is_lost_again),
		cmocka_unit_test(test_sequence_breaks_ties),
		cmocka_unit_test(test_an_answer_that_comes_too_soon_is_to_the_original),
		cmocka_unit_test(test_reordering_is_seen),
		cmocka_unit_test(test_reordering_window),
		cmocka_unit_test(test_timeout_spares_what_is_young),
		cmocka_unit_test(test_a_large_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
