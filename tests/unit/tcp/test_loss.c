/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;
static uint32_t first; /**< sequence number of record 0 */

#define LEN 1000

/** Ten records of LEN bytes in flight. */
static void start(unsigned options)
{
	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, options | TCP_HAS_MSS);
	c = tcp_conn_of(h.app.llp);
	first = p.ack;
	for (uint32_t i = 0; i < 10; i++)
		app_send_pattern(&h.app, i * LEN, LEN);
	assert_int_equal(ip_double_pending(&h.ip), 10);
	ip_double_drain(&h.ip);
}

static void expect_record(unsigned i)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.seq, first + i * LEN);
	assert_int_equal(a.len, LEN);
	for (uint32_t k = 0; k < LEN; k++)
		assert_int_equal(a.text[k], (uint8_t)((i * LEN + k) * 31 >> 3));
}

static void sack(unsigned acked, unsigned from, unsigned to)
{
	const struct tcp_range r = {first + from * LEN, first + to * LEN};

	peer_sack(&p, first + acked * LEN, &r, 1);
}

static void ack(unsigned n)
{
	p.ack = first + n * LEN;
	peer_send(&p, 0, NULL, 0);
}

static void test_third_duplicate_ack_retransmits(void **state)
{
	start(0);
	ack(0);
	ack(0);
	host_expect_none(&h);
	ack(0);
	expect_record(0);
	host_expect_none(&h);
	assert_int_equal(c->fast_recoveries, 1);
	assert_int_equal(c->cc.cwnd, 5000);
	assert_true(c->recovery);
	/* Further ones let new text out, when enough has left. */
	app_send_pattern(&h.app, 10 * LEN, LEN);
	for (int i = 0; i < 6; i++)
		ack(0);
	expect_record(10);
	host_expect_none(&h);
	ack(11);
	assert_false(c->recovery);
	assert_int_equal(c->cc.cwnd, 5000);
	host_end(&h);
}

static void test_partial_ack_retransmits_the_next_hole(void **state)
{
	start(0);
	for (int i = 0; i < 3; i++)
		ack(0);
	expect_record(0);
	ack(4);
	expect_record(4);
	ack(7);
	expect_record(7);
	ack(10);
	assert_false(c->recovery);
	host_expect_none(&h);
	assert_int_equal(c->retransmits, 3);
	assert_int_equal(c->fast_recoveries, 1);
	host_end(&h);
}

static void test_text_or_window_make_no_duplicate(void **state)
{
	start(0);
	for (int i = 0; i < 5; i++)
		peer_send(&p, 0, "x", 1);
	for (int i = 0; i < 5; i++) {
		p.wnd -= 10;
		ack(0);
	}
	assert_int_equal(c->fast_recoveries, 0);
	host_end(&h);
}

static void test_sack_tells_which(void **state)
{
	start(TCP_HAS_SACK_PERMITTED);
	sack(0, 1, 2);
	sack(0, 1, 3);
	host_expect_none(&h);
	sack(0, 1, 4);
	expect_record(0);
	host_expect_none(&h);
	/* 5 is missing too: known when three above it have come. */
	sack(0, 6, 8);
	host_expect_none(&h);
	sack(0, 6, 9);
	expect_record(4); /* five SACKed above it */
	expect_record(5);
	host_expect_none(&h);
	ack(10);
	assert_false(c->recovery);
	assert_int_equal(c->retransmits, 3);
	assert_int_equal(c->sendq.sacked + c->sendq.lost + c->sendq.rexmit, 0);
	host_end(&h);
}

static void test_duplicates_without_news_do_not_count_with_sack(void **state)
{
	start(TCP_HAS_SACK_PERMITTED);
	for (int i = 0; i < 5; i++)
		sack(0, 1, 2);
	host_expect_none(&h);
	for (int i = 0; i < 5; i++)
		ack(0);
	host_expect_none(&h);
	host_end(&h);
}

static void test_senseless_blocks(void **state)
{
	static const int32_t bad[][2] = {{5000, 4000}, {-5000, -1000}, {9000, 99000}, {3000, 3000}};

	start(TCP_HAS_SACK_PERMITTED);
	for (size_t i = 0; i < 4; i++) {
		struct tcp_range r = {first + (uint32_t)bad[i][0], first + (uint32_t)bad[i][1]};

		peer_sack(&p, first, &r, 1);
	}
	assert_int_equal(c->sendq.sacked, 0);
	host_expect_none(&h);
	host_end(&h);
}

static void test_timeout_sends_the_first_and_doubles(void **state)
{
	start(TCP_HAS_SACK_PERMITTED);
	sack(0, 3, 5);
	host_advance(&h, 210 * MS);
	expect_record(0);
	host_expect_none(&h);
	assert_int_equal(c->cc.cwnd, c->emss);
	host_advance(&h, 390 * MS);
	host_expect_none(&h);
	host_advance(&h, 20 * MS);
	expect_record(0);
	/* It arrives: slow start through what is missing; 3 and 4 are not sent again. */
	ack(1);
	expect_record(1);
	ack(2);
	expect_record(2);
	expect_record(5);
	host_end(&h);
}

static void test_timeout_forgets_what_the_peer_reneged(void **state)
{
	start(TCP_HAS_SACK_PERMITTED);
	sack(0, 1, 3);
	ack(1); /* but 1 is said to be SACKed: it should have been acknowledged */
	ip_double_drain(&h.ip);
	host_advance(&h, 300 * MS);
	expect_record(1);
	assert_int_equal(c->sendq.sacked, 0);
	host_end(&h);
}

static void test_no_fast_recovery_within_timeout_recovery(void **state)
{
	start(0);
	host_advance(&h, 210 * MS);
	expect_record(0);
	for (int i = 0; i < 5; i++)
		ack(0);
	assert_int_equal(c->fast_recoveries, 0);
	host_end(&h);
}

static void test_small_records_count_as_segments(void **state)
{
	uint32_t seq;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	c = tcp_conn_of(h.app.llp);
	seq = p.ack;
	for (int i = 0; i < 6; i++)
		app_send(&h.app, "0123456789", 10);
	ip_double_drain(&h.ip);
	peer_sack(&p, seq, &(struct tcp_range){seq + 10, seq + 40}, 1);
	{
		struct heard a;

		host_expect(&h, &a);
		assert_int_equal(a.h.seq, seq);
		assert_int_equal(a.len, 10);
	}
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_third_duplicate_ack_retransmits),
		cmocka_unit_test(test_partial_ack_retransmits_the_next_hole),
		cmocka_unit_test(test_text_or_window_make_no_duplicate),
		cmocka_unit_test(test_sack_tells_which),
		cmocka_unit_test(test_duplicates_without_news_do_not_count_with_sack),
		cmocka_unit_test(test_senseless_blocks),
		cmocka_unit_test(test_timeout_sends_the_first_and_doubles),
		cmocka_unit_test(test_timeout_forgets_what_the_peer_reneged),
		cmocka_unit_test(test_no_fast_recovery_within_timeout_recovery),
		cmocka_unit_test(test_small_records_count_as_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
