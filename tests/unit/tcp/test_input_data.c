/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start_with(unsigned options, const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, options, cfg);
}

static void start(unsigned options)
{
	start_with(options, NULL);
}

/** No more acknowledgments at once. */
static void settle(void)
{
	while (c->quick_acks)
		peer_send(&p, 0, "x", 1);
	host_advance(&h, 50 * MS);
	ip_double_drain(&h.ip);
	h.app.n_got = 0;
	h.app.shows = 0;
}

static void expect_ack(uint32_t ack)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.ack, ack);
	host_expect_none(&h);
}

static void test_text_goes_up_and_is_acknowledged(void **state)
{
	start(0);
	peer_send(&p, TCP_PSH, "hello", 5);
	assert_int_equal(h.app.n_got, 5);
	assert_memory_equal(h.app.got, "hello", 5);
	expect_ack(p.seq);
	assert_int_equal(h.app.shows, 1);
	host_end(&h);
}

/** An ACK waits a quarter of the round trip, from 1 to 40 ms; without one it waits long. */
static void test_delayed_ack(void **state)
{
	static const struct {
		uint64_t min_rtt, srtt, delay;
	} cases[] = {
		{0, 0, 40 * MS},
		{MS / 5, 70 * MS, MS},
		{80 * MS, 0, 20 * MS},
		{80 * MS, 400 * MS, 20 * MS},
		{400 * MS, 0, 40 * MS},
		{0, 80 * MS, 20 * MS},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		start(0);
		settle();
		c->rto.srtt = cases[i].srtt;
		if (cases[i].min_rtt)
			tcp_min_rtt_sample(&c->rec.min_rtt, cases[i].min_rtt, h.tcp->now_ms);
		peer_send(&p, 0, "hello", 5);
		host_advance(&h, cases[i].delay - MS / 10);
		host_expect_none(&h);
		host_advance(&h, MS / 5);
		expect_ack(p.seq);
		host_end(&h);
	}
}

static void test_every_second_full_segment(void **state)
{
	uint8_t text[1460] = {0};

	start(TCP_HAS_MSS);
	settle();
	peer_send(&p, 0, text, 1460);
	host_expect_none(&h);
	peer_send(&p, 0, text, 1460);
	expect_ack(p.seq);
	host_end(&h);
}

static void test_one_ack_for_a_burst(void **state)
{
	struct tcp_segment s = {.flags = TCP_ACK, .wnd = 65535, .len = 1000};
	uint8_t text[1000] = {0};

	start(0);
	settle();
	for (int i = 0; i < 8; i++) {
		s.seq = p.seq;
		s.ack = p.ack;
		host_hear(&h, PORT, &s, text);
		p.seq += 1000;
	}
	host_round(&h);
	expect_ack(p.seq);
	host_end(&h);
}

/** So do bursts while ACKs are quick, of even and odd length. */
static void test_one_ack_for_each_of_the_first_bursts(void **state)
{
	struct tcp_segment s = {.flags = TCP_ACK, .wnd = 65535, .len = 1000};
	uint8_t text[1000] = {0};

	start(0);
	for (int burst = 1; burst <= 5; burst++) {
		for (int i = 0; i < burst; i++) {
			s.seq = p.seq;
			s.ack = p.ack;
			host_hear(&h, PORT, &s, text);
			p.seq += 1000;
		}
		host_round(&h);
		expect_ack(p.seq);
		host_expect_none(&h);
	}
	host_end(&h);
}

/** What fills a gap is acknowledged with all that waited behind it, not before that. */
static void test_no_ack_between_a_gap_and_what_it_held_back(void **state)
{
	static const unsigned order[] = {0, 2, 3, 4, 5, 1};
	struct tcp_segment s = {.flags = TCP_ACK, .wnd = 65535, .len = 1000};
	uint8_t text[1000] = {0};
	struct heard a;

	start(TCP_HAS_SACK_PERMITTED);
	s.ack = p.ack;
	for (unsigned i = 0; i < 6; i++) {
		s.seq = p.seq + 1000 * order[i];
		host_hear(&h, PORT, &s, text);
	}
	host_round(&h);
	do {
		host_expect(&h, &a);
		assert_int_equal(a.h.ack, p.seq + 6000);
	} while (ip_double_pending(&h.ip));
	host_end(&h);
}

/** Two duplicates, or more islands than one option tells, in one round: an ACK for each. */
static void test_nothing_is_left_out_of_sack(void **state)
{
	struct tcp_segment s = {.flags = TCP_ACK, .wnd = 65535, .len = 10};
	struct heard a;
	unsigned dups = 0, first = 0;
	uint32_t seen = 0;

	start(TCP_HAS_SACK_PERMITTED);
	peer_send(&p, 0, "0123456789", 10);
	settle();
	s.ack = p.ack;
	for (uint32_t i = 1; i <= 8; i++) { /* eight islands */
		s.seq = p.seq + 20 * i;
		host_hear(&h, PORT, &s, "0123456789");
	}
	for (uint32_t i = 1; i <= 3; i++) { /* three of them again */
		s.seq = p.seq + 20 * i;
		host_hear(&h, PORT, &s, "0123456789");
	}
	host_round(&h);
	while (ip_double_pending(&h.ip)) {
		host_expect(&h, &a);
		for (unsigned i = 0; i < a.h.n_sack; i++) {
			uint32_t k = (a.h.sack[i].left - p.seq) / 20;

			if (i + 1 < a.h.n_sack && a.h.sack[i].left == a.h.sack[i + 1].left)
				dups++;
			seen |= 1u << k;
		}
		first++;
	}
	assert_int_equal(dups, 3);
	assert_int_equal(seen, 0x1fe);
	assert_true(first <= 11);
	host_end(&h);
}

static void expect_sack(unsigned n, const struct tcp_range *r, uint32_t base)
{
	struct heard a;

	host_expect(&h, &a);
	host_expect_none(&h);
	assert_int_equal(a.h.n_sack, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(a.h.sack[i].left - base, r[i].left);
		assert_int_equal(a.h.sack[i].right - base, r[i].right);
	}
}

/** The examples of RFC 2883 section 4, its sequence numbers less 1000, or 500, as ours begin. */
static void test_partial_duplicates(void **state)
{
	static const uint8_t text[1500];
	uint32_t base;

	start(TCP_HAS_SACK_PERMITTED);
	settle();
	base = p.seq;
	/* Example 4: the first half is old, and the rest joins what follows. */
	peer_send_at(&p, TCP_ACK, base + 1000, p.ack, text, 500);
	expect_sack(1, (struct tcp_range[]){{1000, 1500}}, base);
	peer_send_at(&p, TCP_ACK, base, p.ack, text, 500);
	expect_sack(1, (struct tcp_range[]){{1000, 1500}}, base);
	peer_send_at(&p, TCP_ACK, base, p.ack, text, 1000);
	expect_sack(1, (struct tcp_range[]){{0, 500}}, base);
	assert_int_equal(c->rcv_nxt, base + 1500);
	/* Example 5: two old parts with a new one between, ending in order. */
	base = p.seq = c->rcv_nxt;
	peer_send_at(&p, TCP_ACK, base + 2000, p.ack, text, 500);
	peer_send_at(&p, TCP_ACK, base, p.ack, text, 500);
	peer_send_at(&p, TCP_ACK, base + 1000, p.ack, text, 500);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, base, p.ack, text, 1500);
	expect_sack(2, (struct tcp_range[]){{0, 500}, {2000, 2500}}, base);
	assert_int_equal(c->rcv_nxt, base + 1500);
	/* Example 6: the same above a gap. */
	base = p.seq = c->rcv_nxt;
	peer_send_at(&p, TCP_ACK, base + 4000, p.ack, text, 500);
	peer_send_at(&p, TCP_ACK, base + 2000, p.ack, text, 500);
	peer_send_at(&p, TCP_ACK, base + 3000, p.ack, text, 500);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, base + 2000, p.ack, text, 1500);
	expect_sack(4, (struct tcp_range[]){{2000, 2500}, {2000, 3500}, {4000, 4500}, {500, 1000}},
		base);
	host_end(&h);
}

/** In order, but with an end that was there already. */
static void test_duplicate_at_the_end_of_what_fills_a_gap(void **state)
{
	static const uint8_t text[100];
	uint32_t base;

	start(TCP_HAS_SACK_PERMITTED);
	settle();
	base = p.seq;
	peer_send_at(&p, TCP_ACK, base + 50, p.ack, text, 100);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, base, p.ack, text, 80);
	expect_sack(1, (struct tcp_range[]){{50, 80}}, base);
	assert_int_equal(c->rcv_nxt, base + 150);
	host_end(&h);
}

/** A full segment has no room for SACK: what there is to tell follows on its own. */
static void test_text_does_not_swallow_sack(void **state)
{
	struct heard a;

	start(TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	settle();
	h.app.take = 0;
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	ip_double_drain(&h.ip);
	c->ack_now = false;
	host_hear(&h, PORT,
		&(struct tcp_segment){
			.flags = TCP_ACK, .seq = p.seq + 20, .ack = p.ack, .wnd = 65535, .len = 1},
		"y");
	app_send_pattern(&h.app, 0, c->emss);
	host_round(&h);
	host_expect(&h, &a);
	assert_int_equal(a.len, c->emss);
	assert_int_equal(a.h.n_sack, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 2);
	host_expect_none(&h);
	host_end(&h);
}

/** What was SACKed goes only where the connection could not go on otherwise (RFC 2018 section 8).
 */
static void test_gap_is_filled_though_memory_is_short(void **state)
{
	static const uint8_t text[1000];
	struct heard a;

	start(TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	settle();
	h.app.take = 0;
	peer_send(&p, 0, text, 1000);
	peer_send_at(&p, TCP_ACK, p.seq + 1000, p.ack, text, 1000);
	peer_send_at(&p, TCP_ACK, p.seq + 3000, p.ack, text, 1000);
	ip_double_drain(&h.ip);
	h.tcp->rx_limit = h.tcp->rx_held;
	peer_send_at(&p, TCP_ACK, p.seq + 5000, p.ack, text, 1000); /* no more of those */
	assert_int_equal(tcp_stack_stats(h.tcp)->out_of_order_drops, 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 2);
	h.tcp->rx_hard_limit = h.tcp->rx_held;
	peer_send(&p, 0, text, 1000);
	assert_int_equal(tcp_stack_stats(h.tcp)->reneged, 1); /* the farthest */
	assert_int_equal(c->rcv_nxt, p.seq + 1000);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 0);
	host_end(&h);
}

/* The connection that holds most behind a gap makes room for one that holds little. */
static void test_gaps_share_the_memory(void **state)
{
	static const uint8_t text[1000];
	struct tcp_conn *greedy;
	uint32_t before;
	struct peer q;

	start(TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	greedy = c;
	for (uint32_t i = 1; i <= 40; i++)
		peer_send_at(&p, TCP_ACK, p.seq + 2000 * i, p.ack, text, 1000);
	ip_double_drain(&h.ip);
	h.app.connected = 0;
	peer_connected(&q, &h, TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	c = tcp_conn_of(h.app.llp);
	h.tcp->rx_limit = h.tcp->rx_held;
	before = greedy->ooo_state->ooo.held;
	assert_in_range(before, 20, 40);
	for (unsigned n = 0; n < 100 && greedy->ooo_state->ooo.held == before; n++)
		peer_send_at(&q, TCP_ACK, q.seq + 1000, q.ack, text, 1000);
	assert_int_equal(greedy->ooo_state->ooo.held, before - before / 2); /* the farthest went */
	assert_int_equal(c->ooo_state->ooo.held, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->reneged, before / 2);
	/* That one takes nothing back from one that has less. */
	h.tcp->rx_limit = h.tcp->rx_held;
	for (uint32_t i = 41; i < 60; i++)
		peer_send_at(&p, TCP_ACK, p.seq + 2000 * i, p.ack, text, 1000);
	assert_int_equal(c->ooo_state->ooo.held, 1);
	ip_double_drain(&h.ip);
	h.app.llp = &greedy->llp;
	host_end(&h);
}

/* A connection that holds as much as it may takes nothing from others while there is memory. */
static void test_own_limit_takes_from_nobody(void **state)
{
	static const uint8_t text[1000];
	struct tcp_conn *other;
	struct peer q;

	start(TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	other = c;
	for (uint32_t i = 1; i <= 20; i++)
		peer_send_at(&p, TCP_ACK, p.seq + 2000 * i, p.ack, text, 1000);
	ip_double_drain(&h.ip);
	h.app.connected = 0;
	peer_connected(&q, &h, TCP_HAS_SACK_PERMITTED | TCP_HAS_MSS);
	c = tcp_conn_of(h.app.llp);
	peer_send_at(&q, TCP_ACK, q.seq + 1000, q.ack, text, 1000);
	ip_double_drain(&h.ip);
	h.tcp->rx_limit = 1 << 20;
	c->ooo_state->ooo.held += 10000; /* as if */
	other->ooo_state->ooo.held += 30000;
	for (unsigned n = 0; n < 2000; n++)
		peer_send_at(&q, TCP_ACK, q.seq + 3000, q.ack, text, 1000);
	assert_int_equal(c->ooo_state->ooo.n, 1);
	assert_int_equal(other->ooo_state->ooo.n, 20);
	assert_int_equal(tcp_stack_stats(h.tcp)->reneged, 0);
	c->ooo_state->ooo.held -= 10000;
	other->ooo_state->ooo.held -= 30000;
	ip_double_drain(&h.ip);
	h.app.llp = &other->llp;
	host_end(&h);
}

static void test_reply_carries_the_ack(void **state)
{
	struct heard a;

	start(0);
	settle();
	h.app.reply = true;
	peer_send(&p, 0, "ping", 4);
	host_expect(&h, &a);
	assert_int_equal(a.len, 4);
	assert_int_equal(a.h.ack, p.seq);
	host_expect_none(&h);
	p.ack += 4;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 100 * MS);
	host_expect_none(&h);
	host_end(&h);
}

static void test_gap_is_kept_and_filled(void **state)
{
	struct heard a;

	start(TCP_HAS_SACK_PERMITTED);
	settle();
	peer_send_at(&p, TCP_ACK, p.seq + 3, p.ack, "def", 3);
	host_expect(&h, &a); /* at once, with the block */
	assert_int_equal(a.h.ack, p.seq);
	assert_int_equal(a.h.n_sack, 1);
	assert_int_equal(a.h.sack[0].left, p.seq + 3);
	assert_int_equal(a.h.sack[0].right, p.seq + 6);
	peer_send_at(&p, TCP_ACK, p.seq + 9, p.ack, "jkl", 3);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 2);
	assert_int_equal(a.h.sack[0].left, p.seq + 9);
	assert_int_equal(h.app.n_got, 0);
	peer_send(&p, 0, "abc", 3);
	assert_memory_equal(h.app.got, "abcdef", 6);
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq + 3);
	assert_int_equal(a.h.n_sack, 1);
	peer_send_at(&p, TCP_ACK, p.seq + 3, p.ack, "ghi", 3);
	assert_memory_equal(h.app.got, "abcdefghijkl", 12);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 0);
	assert_int_equal(c->out_of_order, 2);
	host_end(&h);
}

static void test_duplicate_is_reported(void **state)
{
	struct heard a;

	start(TCP_HAS_SACK_PERMITTED);
	peer_send(&p, 0, "abcdef", 6);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, p.seq - 6, p.ack, "abc", 3); /* wholly */
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 1);
	assert_int_equal(a.h.sack[0].left, p.seq - 6);
	assert_int_equal(a.h.sack[0].right, p.seq - 3);
	peer_send_at(&p, TCP_ACK, p.seq - 3, p.ack, "defghi", 6); /* in part */
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq + 3);
	assert_int_equal(a.h.n_sack, 1);
	assert_int_equal(a.h.sack[0].left, p.seq - 3);
	assert_int_equal(a.h.sack[0].right, p.seq);
	assert_memory_equal(h.app.got, "abcdefghi", 9);
	peer_send_at(&p, TCP_ACK, p.seq + 9, p.ack, "xyz", 3);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, p.seq + 9, p.ack, "xyz", 3); /* beyond the gap */
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 2);
	assert_int_equal(a.h.sack[0].left, p.seq + 9);
	assert_int_equal(a.h.sack[1].left, p.seq + 9);
	host_end(&h);
}

static void test_fin_beyond_a_gap(void **state)
{
	start(0);
	peer_send_at(&p, TCP_ACK | TCP_FIN, p.seq + 3, p.ack, "def", 3);
	assert_int_equal(h.app.eof, 0);
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.n_got, 6);
	assert_int_equal(h.app.eof, 1);
	assert_int_equal(c->state, TCP_CLOSE_WAIT);
	assert_int_equal(c->rcv_nxt, p.seq + 4);
	host_end(&h);
}

static void test_bare_fin_beyond_a_gap(void **state)
{
	start(0);
	peer_send_at(&p, TCP_ACK | TCP_FIN, p.seq + 3, p.ack, NULL, 0);
	assert_int_equal(h.app.eof, 0);
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

static void fill_window(void)
{
	static uint8_t text[1460];
	uint32_t left;

	while ((left = tcp_rcv_wnd(c)))
		peer_send(&p, 0, text, left < 1460 ? left : 1460);
}

static void test_window_closes_and_opens(void **state)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 1 << 20};
	struct heard a;

	start_with(TCP_HAS_MSS, &cfg);
	h.app.take = 0;
	fill_window();
	ip_double_drain(&h.ip);
	assert_true(c->recvq.bytes >= 1 << 19);
	/* A probe: nothing of it fits, but it is answered. */
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "p", 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.wnd, 0);
	assert_int_equal(a.h.ack, p.seq);
	/* An ACK counts although the window is closed. */
	app_send(&h.app, "q", 1);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack + 1, "p", 1);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	ip_double_drain(&h.ip);
	/* The user reads a byte: too little to tell. Then all: told at once. */
	h.app.take = 1;
	llp_resume(h.app.llp);
	host_expect_none(&h);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.h.wnd, 65535);
	host_expect_none(&h);
	host_end(&h);
}

static void test_text_beyond_the_window_is_cut(void **state)
{
	start(0);
	h.app.take = 0;
	c->rcv_adv = c->rcv_nxt + 3;
	peer_send_at(&p, TCP_ACK | TCP_FIN, p.seq, p.ack, "abcdef", 6);
	assert_int_equal(c->recvq.bytes, 3);
	assert_int_equal(h.app.eof, 0);
	assert_int_equal(c->state, TCP_ESTABLISHED);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_goes_up_and_is_acknowledged),
		cmocka_unit_test(test_delayed_ack),
		cmocka_unit_test(test_every_second_full_segment),
		cmocka_unit_test(test_one_ack_for_a_burst),
		cmocka_unit_test(test_one_ack_for_each_of_the_first_bursts),
		cmocka_unit_test(test_no_ack_between_a_gap_and_what_it_held_back),
		cmocka_unit_test(test_nothing_is_left_out_of_sack),
		cmocka_unit_test(test_partial_duplicates),
		cmocka_unit_test(test_duplicate_at_the_end_of_what_fills_a_gap),
		cmocka_unit_test(test_text_does_not_swallow_sack),
		cmocka_unit_test(test_gaps_share_the_memory),
		cmocka_unit_test(test_own_limit_takes_from_nobody),
		cmocka_unit_test(test_gap_is_filled_though_memory_is_short),
		cmocka_unit_test(test_reply_carries_the_ack),
		cmocka_unit_test(test_gap_is_kept_and_filled),
		cmocka_unit_test(test_duplicate_is_reported),
		cmocka_unit_test(test_fin_beyond_a_gap),
		cmocka_unit_test(test_bare_fin_beyond_a_gap),
		cmocka_unit_test(test_window_closes_and_opens),
		cmocka_unit_test(test_text_beyond_the_window_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
