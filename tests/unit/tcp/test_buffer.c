/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/buffer.h"

#define OPTIONS (TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED)
#define RTT     (50 * MS)

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options, const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, options, cfg);
	c->rcv_rtt = RTT; /* the scripted handshake takes no time */
	c->rto.srtt = RTT;
	c->measure_at = h.now + RTT;
}

/** A round trip: @p bytes come, as far as the window allowed at its begin. @return how many did. */
static uint32_t round_trip(uint32_t bytes)
{
	static uint8_t text[1448];
	uint64_t until = h.now + RTT;
	uint32_t total = u32_min(bytes, tcp_rcv_wnd(c));

	for (uint32_t sent = 0; sent < total;) {
		uint32_t n = u32_min(sizeof text, total - sent);

		peer_send(&p, 0, text, n);
		ip_double_drain(&h.ip);
		sent += n;
	}
	host_advance(&h, until - h.now);
	ip_double_drain(&h.ip);
	h.app.n_got = 0;
	return total;
}

static void test_begins_with_little(void **state)
{
	start(OPTIONS, NULL);
	assert_int_equal(tcp_rcv_buffer(c), TCP_RECEIVE_BUFFER_MIN);
	assert_int_equal(h.tcp->rx_claimed, 0);
	host_end(&h);
}

/** A sender that doubles each round trip never finds the window in its way. */
static void test_stays_ahead_of_slow_start(void **state)
{
	uint32_t cwnd = 10 * 1448;

	start(OPTIONS, NULL);
	for (; cwnd < 1200 * 1024; cwnd *= 2)
		assert_int_equal(round_trip(cwnd), cwnd);
	host_end(&h);
}

/** What waits behind a gap takes no room from what comes meanwhile, nor does it stop growth. */
static void test_a_gap_does_not_close_the_window(void **state)
{
	static uint8_t text[1448];

	start(OPTIONS, NULL);
	for (int i = 0; i < 5; i++)
		round_trip(200000);
	p.seq += sizeof text;
	for (int i = 0; i < 6; i++) { /* the repairs are lost, too */
		uint32_t waits = p.seq - c->rcv_nxt;

		assert_true(tcp_rcv_wnd(c) >= waits + 200000);
		assert_int_equal(round_trip(200000), 200000);
	}
	p.seq = c->rcv_nxt;
	peer_send(&p, 0, text, sizeof text);
	assert_true(seq_gt(c->rcv_nxt, p.seq));
	assert_true(tcp_rcv_wnd(c) >= 7 * 200000);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_constant_rate_asks_for_no_more(void **state)
{
	uint32_t before;

	start(OPTIONS, NULL);
	round_trip(50000);
	for (int i = 0; i < 10; i++)
		round_trip(200000);
	assert_int_equal(round_trip(200000), 200000);
	before = tcp_rcv_buffer(c);
	assert_true(before >= 2 * 200000);
	for (int i = 0; i < 50; i++)
		round_trip(200000);
	assert_int_equal(tcp_rcv_buffer(c), before);
	host_end(&h);
}

static void test_who_does_not_read_gets_no_more(void **state)
{
	uint32_t unread = 0, n;

	start(OPTIONS, NULL);
	h.app.take = 0;
	while ((n = round_trip(60000)))
		unread += n;
	assert_int_equal(tcp_rcv_buffer(c), TCP_RECEIVE_BUFFER_MIN);
	assert_int_equal(tcp_rcv_wnd(c), 0);
	assert_in_range(unread, TCP_RECEIVE_BUFFER_MIN - 1500, TCP_RECEIVE_BUFFER_MIN * 9 / 8);
	host_end(&h);
}

/** The window is told to one that asked for scaling, and is as large as the budget allows. */
static void test_grows_to_the_share_and_no_further(void **state)
{
	uint64_t share;

	start(OPTIONS, NULL);
	for (int i = 0; i < 20; i++)
		round_trip(UINT32_MAX);
	share = h.tcp->rx_limit * UINT64_C(4) / 5 * 1448 + TCP_RECEIVE_BUFFER_MIN;
	assert_in_range(tcp_rcv_buffer(c), share - 3000, share);
	assert_in_range(
		h.tcp->rx_claimed, h.tcp->rx_limit * 4 / 5 - 2, h.tcp->rx_limit * 4 / 5 + 1);
	assert_true(tcp_rcv_wnd(c) + (1u << c->rcv_wscale) >= tcp_rcv_buffer(c));
	llp_abort(h.app.llp);
	host_round(&h);
	assert_int_equal(h.tcp->rx_claimed, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_others_take_their_part_and_the_edge_stays(void **state)
{
	uint32_t edge, before;

	start(OPTIONS, NULL);
	for (int i = 0; i < 20; i++)
		round_trip(UINT32_MAX);
	before = tcp_rcv_buffer(c);
	edge = c->rcv_adv;
	h.tcp->rx_claimed += h.tcp->rx_limit; /* others came */
	round_trip(1448);
	assert_int_equal(tcp_rcv_buffer(c), TCP_RECEIVE_BUFFER_MIN);
	assert_true(seq_geq(c->rcv_adv, edge));
	while (tcp_rcv_wnd(c) > TCP_RECEIVE_BUFFER_MIN + 14480) {
		edge = c->rcv_adv;
		round_trip(14480);
		assert_in_range(c->rcv_adv - edge, 0, 10 * (1u << c->rcv_wscale));
	}
	round_trip(100000);
	assert_true(seq_gt(c->rcv_adv, edge)); /* the minimum is there, always */
	h.tcp->rx_claimed -= h.tcp->rx_limit;
	for (int i = 0; i < 20; i++)
		round_trip(UINT32_MAX);
	assert_true(tcp_rcv_buffer(c) > before / 2);
	host_end(&h);
}

/** What idle connections claim goes to one that needs it. */
static void test_idle_claims_are_taken_back(void **state)
{
	struct tcp_conn *idle;

	start(OPTIONS, NULL);
	idle = tcp_conn_of(host_connect(&h)); /* as if it had been busy */
	h.app.llp = &c->llp;
	idle->rcv_buffer = 100 << 20;
	idle->measure_at = h.now + 1000 * MS;
	idle->rx_claim = h.tcp->rx_limit;
	h.tcp->rx_claimed += idle->rx_claim;
	for (int i = 0; i < 40; i++)
		round_trip(UINT32_MAX);
	assert_int_equal(tcp_rcv_buffer(c), TCP_RECEIVE_BUFFER_MIN);
	host_advance(&h, 2000 * MS);
	for (int i = 0; i < 20; i++)
		round_trip(UINT32_MAX);
	assert_int_equal(idle->rx_claim, 0);
	assert_int_equal(idle->rcv_buffer, TCP_RECEIVE_BUFFER_MIN);
	assert_true(tcp_rcv_buffer(c) > 1 << 20);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_a_fixed_buffer_stays(void **state)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 300000, .send_buffer = 20000};

	start(OPTIONS, &cfg);
	c->measure_at = TIMER_NEVER; /* as it was before start() meddled */
	assert_int_equal(c->rcv_wscale, 3);
	round_trip(UINT32_MAX);
	for (int i = 0; i < 20; i++)
		assert_in_range(round_trip(UINT32_MAX), 290000, 300000);
	assert_int_equal(tcp_rcv_buffer(c), 300000);
	assert_int_equal(tcp_snd_buffer(c), 20000);
	host_end(&h);
}

static void test_round_trip_by_time_stamps(void **state)
{
	start(OPTIONS | TCP_HAS_TS, NULL);
	for (int i = 0; i < 60; i++) { /* the path has become longer */
		p.tsecr = h.tcp->now_ms + c->ts_offset - 200;
		p.tsval++;
		round_trip(50000);
	}
	assert_in_range(c->rcv_rtt, 190 * MS, 200 * MS);
	for (int i = 0; i < 10; i++) {
		p.tsecr = h.tcp->now_ms + c->ts_offset - 30;
		round_trip(50000);
	}
	assert_int_equal(c->rcv_rtt, 30 * MS);
	host_end(&h);
}

/** What was told is never taken back, though the field can only tell multiples of a unit. */
static void test_edge_is_exact_under_scaling(void **state)
{
	struct heard a;
	uint32_t told, edge = 0;

	start(OPTIONS, NULL);
	h.app.take = 0;
	for (int i = 0; i < 2000 && tcp_rcv_wnd(c); i++) {
		peer_send(&p, 0, "0123456789", u32_min(1 + (unsigned)i % 10, tcp_rcv_wnd(c)));
		host_advance(&h, 50 * MS);
		while (ip_double_pending(&h.ip))
			host_expect(&h, &a);
		told = a.h.ack + ((uint32_t)a.h.wnd << c->rcv_wscale);
		assert_true(!edge || seq_geq(told, edge));
		assert_true(seq_leq(told, c->rcv_adv));
		edge = told;
	}
	host_end(&h);
}

/** A full buffer's window closes, however small the pieces are. */
static void test_small_pieces_close_the_window(void **state)
{
	unsigned n = 0;

	start(OPTIONS, NULL);
	h.app.take = 0;
	while (tcp_rcv_wnd(c) >= 1u << c->rcv_wscale) {
		peer_send(&p, 0, "01234567890123456789", 20);
		host_advance(&h, 50 * MS);
		ip_double_drain(&h.ip);
		assert_true(++n < 10000);
	}
	assert_true(c->recvq.bytes <= TCP_RECEIVE_BUFFER_MIN * 5 / 4);
	host_end(&h);
}

static void test_send_buffer_follows_cwnd(void **state)
{
	start(OPTIONS, NULL);
	assert_int_equal(tcp_snd_buffer(c), TCP_SEND_BUFFER_MIN);
	c->rec.min_rtt = (struct tcp_min_rtt){.young = 100 * MS, .since_ms = h.tcp->now_ms};
	c->cc.cwnd = 100 << 20;
	assert_int_equal(tcp_snd_buffer(c), 200 << 20);
	/* But a short path cannot hold what such a window lets queue up. */
	c->rec.min_rtt.young = MS;
	assert_int_equal(tcp_snd_buffer(c), 32 * MS);
	c->rec.min_rtt.young = 1000;
	assert_int_equal(tcp_snd_buffer(c), 1 << 20);
	/* Where the peer answers at once, 256 segments are enough: so many stay in the cache. */
	c->rto.srtt = 200000;
	c->emss = 1448;
	assert_int_equal(tcp_snd_buffer(c), 256 * 1448);
	c->emss = 8948;
	assert_int_equal(tcp_snd_buffer(c), 1 << 20);
	c->emss = 1448;
	c->rto.srtt = 2 * MS;
	assert_int_equal(tcp_snd_buffer(c), 1 << 20);
	c->rto.srtt = 200000;
	c->rec.min_rtt.young = 20000;
	assert_int_equal(tcp_snd_buffer(c), 32 * 20000);
	c->rec.min_rtt.young = 100 * MS;
	c->cc.cwnd = UINT32_MAX;
	assert_int_equal(tcp_snd_buffer(c), TCP_BUFFER_MAX);
	host_end(&h);
}

static void test_send_budget_is_shared(void **state)
{
	start(OPTIONS, NULL);
	c->cc.cwnd = 1 << 30;
	h.tcp->tx_held = h.tcp->tx_limit - 1;
	assert_true(tcp_buffer_may_queue(c, 1000)); /* the first */
	h.tcp->tx_held = 0;
	for (unsigned i = 0; i < 8; i++)
		app_send(&h.app, "x", 1);
	h.tcp->tx_held = h.tcp->tx_limit - 3;
	assert_true(tcp_buffer_may_queue(c, 1000));
	h.tcp->tx_held = h.tcp->tx_limit - 2; /* 8 is four times what is left: its share */
	assert_false(tcp_buffer_may_queue(c, 1000));
	h.tcp->tx_held = h.tcp->tx_limit;
	assert_false(tcp_buffer_may_queue(c, 1));
	h.tcp->tx_held = 8;
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Text that the peer holds beyond a gap must not keep new text from being queued. */
static void test_sacked_text_does_not_count(void **state)
{
	start(OPTIONS, NULL);
	c->cc.cwnd = 400 * 1024;
	c->rto.srtt = 0; /* not paced: all of it is in flight */
	p.wnd = 65535;
	peer_send(&p, 0, NULL, 0);
	while (tcp_buffer_may_queue(c, 1000))
		app_send_pattern(&h.app, 0, 1000);
	assert_in_range(llp_unacked(h.app.llp), 800 * 1024 - 1000, 800 * 1024);
	peer_sack(&p, p.ack, &(struct tcp_range){p.ack + 1000, p.ack + 101000}, 1);
	c->cc.cwnd = 400 * 1024; /* as if the loss had cost nothing */
	c->rto.srtt = 0;         /* nor time, of which none has passed here */
	assert_true(tcp_buffer_may_queue(c, 90000));
	assert_false(tcp_buffer_may_queue(c, 110000));
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The peer sends @p n segments of @p len bytes in each of some round trips. */
static void peer_sends_with(uint8_t flags, unsigned n, uint32_t len)
{
	static char text[1400];

	for (unsigned i = 0; i < 8 * n; i++) {
		peer_send(&p, flags, text, len);
		ip_double_drain(&h.ip);
		if (i % n == n - 1)
			host_advance(&h, 200 * MS);
	}
}

/** More text is behind each of them. */
static void peer_sends_segments(unsigned n, uint32_t len)
{
	peer_sends_with(0, n, len);
}

/** None is. */
static void peer_sends_messages(unsigned n, uint32_t len)
{
	peer_sends_with(TCP_PSH, n, len);
}

/* What a full segment is, and so what is acknowledged at once, follows the path both ways. */
static void test_full_segment_is_what_comes(void **state)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	assert_int_equal(c->rcv_mss, TCP_RCV_MSS_MIN);
	peer_sends_segments(10, 1400);
	assert_int_equal(c->rcv_mss, 1400);
	peer_sends_messages(3, 600); /* too few to tell */
	assert_int_equal(c->rcv_mss, 1400);
	peer_sends_segments(8, 64); /* short messages */
	assert_int_equal(c->rcv_mss, 1400);
	peer_sends_messages(20, 600);
	assert_int_equal(c->rcv_mss, 600);
	peer_sends_segments(100, 50);
	assert_int_equal(c->rcv_mss, TCP_RCV_MSS_MIN);
	peer_sends_segments(1, 1400);
	assert_int_equal(c->rcv_mss, 1400);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* A slow stream over a path that has become narrower: two in a row that are not the last ones. */
static void test_full_segment_of_a_slow_stream(void **state)
{
	static const struct tcp_stack_config fixed = {.receive_buffer = 300000};

	for (unsigned i = 0; i < 2; i++) {
		c = host_accepted(&h, &p, TCP_HAS_MSS, i ? &fixed : NULL);
		peer_sends_segments(10, 1400);
		assert_int_equal(c->rcv_mss, 1400);
		peer_sends_segments(1, 600); /* one message may end so */
		assert_int_equal(c->rcv_mss, 1400);
		peer_sends_segments(2, 600);
		assert_int_equal(c->rcv_mss, 600);
		peer_sends_segments(1, 1400);
		assert_int_equal(c->rcv_mss, 1400);
		host_end(&h);
	}
}

/** Text leaves the peer, whose last segment of two is short or has PSH. @return ACKs at once. */
static unsigned acks_of_two(uint32_t len, uint8_t last_flags)
{
	static char text[1400];
	unsigned n;

	peer_send(&p, 0, text, len);
	peer_send(&p, last_flags, text, len);
	n = ip_double_pending(&h.ip);
	ip_double_drain(&h.ip);
	host_advance(&h, 200 * MS);
	ip_double_drain(&h.ip);
	return n;
}

/* RFC 5681 section 4.2: every second full segment has an ACK, and short messages have not. */
static void test_acks_follow_the_full_segment(void **state)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	peer_sends_segments(10, 1400);
	assert_int_equal(acks_of_two(1400, TCP_PSH), 1);
	assert_int_equal(acks_of_two(600, TCP_PSH), 0);
	(void)acks_of_two(600, 0);
	assert_int_equal(acks_of_two(600, TCP_PSH), 1);
	host_end(&h);
}

/* What waits behind a gap tells it as well. */
static void test_full_segment_behind_a_gap(void **state)
{
	static char text[1400];

	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	peer_sends_segments(10, sizeof text);
	host_advance(&h, 200 * MS);
	peer_send(&p, 0, text, 50);
	for (unsigned i = 1; i < 20; i++)
		peer_send_at(
			&p, TCP_ACK, p.seq + i * (uint32_t)sizeof text, p.ack, text, sizeof text);
	host_advance(&h, 200 * MS);
	peer_send(&p, 0, text, 50);
	assert_int_equal(c->rcv_mss, sizeof text);
	ip_double_drain(&h.ip);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_segment_is_what_comes),
		cmocka_unit_test(test_full_segment_of_a_slow_stream),
		cmocka_unit_test(test_acks_follow_the_full_segment),
		cmocka_unit_test(test_full_segment_behind_a_gap),
		cmocka_unit_test(test_begins_with_little),
		cmocka_unit_test(test_stays_ahead_of_slow_start),
		cmocka_unit_test(test_a_gap_does_not_close_the_window),
		cmocka_unit_test(test_constant_rate_asks_for_no_more),
		cmocka_unit_test(test_who_does_not_read_gets_no_more),
		cmocka_unit_test(test_grows_to_the_share_and_no_further),
		cmocka_unit_test(test_others_take_their_part_and_the_edge_stays),
		cmocka_unit_test(test_idle_claims_are_taken_back),
		cmocka_unit_test(test_a_fixed_buffer_stays),
		cmocka_unit_test(test_round_trip_by_time_stamps),
		cmocka_unit_test(test_edge_is_exact_under_scaling),
		cmocka_unit_test(test_small_pieces_close_the_window),
		cmocka_unit_test(test_send_buffer_follows_cwnd),
		cmocka_unit_test(test_send_budget_is_shared),
		cmocka_unit_test(test_sacked_text_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
