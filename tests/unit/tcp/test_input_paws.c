/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection against wrapped sequence numbers, and time stamps (RFC 7323). */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** A fresh connection; what was sent on the way is forgotten. */
static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
	ip_double_drain(&h.ip);
}

static void test_paws(void **state)
{
	start(TCP_HAS_TS);
	p.tsval = 8000;
	peer_send(&p, 0, "a", 1);
	assert_int_equal(c->ts_recent, 8000);
	ip_double_drain(&h.ip);
	p.tsval = 7999;
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "b", 1);
	assert_int_equal(h.app.n_got, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 1);
	{
		struct heard a;

		host_expect(&h, &a);
		assert_int_equal(a.h.ack, p.seq);
		assert_int_equal(a.h.tsecr, 8000);
	}
	/* A reset is not subject to it. */
	peer_send_at(&p, TCP_RST, p.seq, 0, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void text_with_time(uint32_t off, const char *text, uint32_t tsval)
{
	p.tsval = tsval;
	peer_send_at(&p, TCP_ACK, p.seq + off, p.ack, text, 1);
}

/** A retransmission must not make what is only late too old: it was sent after the gap opened. */
static void test_paws_spares_what_fills_a_gap(void **state)
{
	start(TCP_HAS_TS);
	p.tsval = 8000;
	peer_send(&p, 0, "a", 1);
	text_with_time(1, "c", 8010);
	text_with_time(3, "e", 8012);
	text_with_time(0, "b", 8020); /* again, sent late */
	assert_int_equal(c->ts_recent, 8020);
	assert_int_equal(h.app.n_got, 3);
	text_with_time(2, "d", 7999); /* older than what came before the gap: from another turn */
	assert_int_equal(h.app.n_got, 3);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 1);
	text_with_time(2, "d", 8011);
	assert_int_equal(h.app.n_got, 5);
	assert_int_equal(c->ts_recent, 8020);
	text_with_time(4, "f", 8019); /* no gap any more */
	assert_int_equal(h.app.n_got, 5);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 2);
	host_end(&h);
}

/** An ACK of nothing new that says that the second record has come. */
static void sack_with_time(uint32_t seq, uint32_t tsval)
{
	const struct tcp_range r = {p.ack + 3, p.ack + 6};

	p.tsval = tsval;
	p.seq += seq;
	peer_sack(&p, p.ack, &r, 1);
	p.seq -= seq;
}

/** ACKs that are overtaken tell what they tell, but for the window. */
static void test_paws_spares_overtaken_acks(void **state)
{
	uint32_t wnd;

	start(TCP_HAS_TS | TCP_HAS_SACK_PERMITTED);
	app_send(&h.app, "abc", 3);
	app_send(&h.app, "def", 3);
	ip_double_drain(&h.ip);
	p.tsval = 8000;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->ts_recent, 8000);
	wnd = c->snd_wnd;
	p.wnd = 100;
	sack_with_time(1, 7999); /* text is missing before it: who knows where it is from */
	sack_with_time(0, 8000 - 5000);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 2);
	assert_int_equal(c->sendq.sacked, 0);
	sack_with_time(0, 7990);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 2);
	assert_int_equal(c->sendq.sacked, 3);
	assert_int_equal(c->snd_wnd, wnd);
	assert_int_equal(c->ts_recent, 8000);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_paws_over_the_wrap_of_the_clock(void **state)
{
	start(TCP_HAS_TS);
	c->ts_recent = 0xfffffff0;
	p.tsval = 5;
	peer_send(&p, 0, "a", 1);
	assert_int_equal(h.app.n_got, 1);
	host_end(&h);
}

static void test_paws_after_24_days(void **state)
{
	start(TCP_HAS_TS);
	host_advance(&h, UINT64_C(25) * 24 * 3600 * 1000 * MS);
	p.tsval = c->ts_recent - 1000;
	peer_send(&p, 0, "a", 1);
	assert_int_equal(h.app.n_got, 1);
	host_end(&h);
}

static void test_segment_without_timestamp_is_dropped(void **state)
{
	start(TCP_HAS_TS);
	p.ts = false;
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "a", 1);
	assert_int_equal(h.app.n_got, 0);
	host_expect_none(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->paws_drops, 1);
	host_end(&h);
}

static void test_ts_recent_only_from_the_left_edge(void **state)
{
	start(TCP_HAS_TS);
	p.tsval = 9000;
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "a", 1); /* out of order */
	assert_int_equal(c->ts_recent, 7000);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paws),
		cmocka_unit_test(test_paws_spares_what_fills_a_gap),
		cmocka_unit_test(test_paws_spares_overtaken_acks),
		cmocka_unit_test(test_paws_over_the_wrap_of_the_clock),
		cmocka_unit_test(test_paws_after_24_days),
		cmocka_unit_test(test_segment_without_timestamp_is_dropped),
		cmocka_unit_test(test_ts_recent_only_from_the_left_edge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
