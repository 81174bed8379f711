/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options | TCP_HAS_MSS, NULL);
}

static void test_ack_frees_and_stops_the_timer(void **state)
{
	start(0);
	app_send(&h.app, "abcdef", 6);
	assert_int_equal(llp_unacked(h.app.llp), 6);
	assert_true(c->rtx_at != TIMER_NEVER);
	p.ack += 6;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	assert_true(c->rtx_at == TIMER_NEVER);
	ip_double_drain(&h.ip);
	assert_int_equal(test_pool_missing(h.pool), 0);
	assert_int_equal(c->bytes_acked, 6);
	assert_int_equal(h.ip.confirms, 1);
	host_end(&h);
}

static void test_partial_ack_of_a_record(void **state)
{
	start(0);
	app_send(&h.app, "abcdef", 6);
	ip_double_drain(&h.ip);
	p.ack += 4;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_unacked(h.app.llp), 2);
	host_advance(&h, 300 * MS);
	{
		struct heard a;

		host_expect(&h, &a);
		assert_int_equal(a.len, 2);
		assert_memory_equal(a.text, "ef", 2);
	}
	host_end(&h);
}

/** What was sent twice is answered within a tick of the clock: that is no round trip time. */
static void test_a_tick_tells_nothing_of_a_shorter_path(void **state)
{
	uint64_t srtt;

	start(TCP_HAS_TS);
	tcp_rto_init(&c->rto);
	tcp_rto_sample(&c->rto, MS / 3);
	srtt = c->rto.srtt;
	app_send(&h.app, "abc", 3);
	host_advance(&h, 300 * MS);
	assert_true(c->rto.backoff > 0);
	p.tsecr = c->ts_offset + (uint32_t)(h.now / MS) - 1;
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->rto.srtt, srtt);
	assert_int_equal(c->rto.backoff, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_round_trip_is_measured(void **state)
{
	start(0);
	c->rto.srtt = 0;
	app_send(&h.app, "abc", 3);
	host_advance(&h, 30 * MS);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->rto.srtt, 30 * MS);
	host_end(&h);
}

static void test_round_trip_by_timestamp_after_retransmission(void **state)
{
	struct heard a;

	start(TCP_HAS_TS);
	c->rto.srtt = 0;
	app_send(&h.app, "abc", 3);
	host_advance(&h, 500 * MS);
	while (ip_double_pending(&h.ip))
		host_expect(&h, &a);
	host_advance(&h, 40 * MS);
	p.tsecr = a.h.tsval;
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_in_range(c->rto.srtt, 40 * MS, 350 * MS);
	host_end(&h);
}

static void test_no_sample_after_retransmission_without_timestamps(void **state)
{
	start(0);
	c->rto.srtt = 0;
	app_send(&h.app, "abc", 3);
	host_advance(&h, 500 * MS);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->rto.srtt, 0);
	host_end(&h);
}

static void test_window_only_from_newer_segments(void **state)
{
	start(0);
	peer_send(&p, 0, "abc", 3);
	p.wnd = 100;
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, NULL, 0);
	assert_int_equal(c->snd_wnd, 100);
	p.wnd = 9999;
	c->rcv_nxt = p.seq; /* an older one, still acceptable: overlaps */
	peer_send_at(&p, TCP_ACK, p.seq - 1, p.ack, "cd", 2);
	assert_int_equal(c->snd_wnd, 100);
	host_end(&h);
}

static void test_scaled_window(void **state)
{
	start(TCP_HAS_WSCALE);
	p.wnd = 1000;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->snd_wnd, 128000);
	assert_int_equal(c->max_snd_wnd, 65535 << 7);
	host_end(&h);
}

static void test_window_grows_only_when_it_limits(void **state)
{
	uint32_t before;

	start(0);
	before = c->cc.cwnd;
	for (int i = 0; i < 50; i++) {
		app_send(&h.app, "x", 1);
		p.ack++;
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(c->cc.cwnd, before);
	for (uint32_t i = 0; i < 20; i++)
		app_send_pattern(&h.app, 0, 1460);
	p.ack += 1460;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->cc.cwnd, before + 1460);
	host_end(&h);
}

/**
 * Text that overtook other: the first time, limited transmit may have sent for it. From then on the
 * path is known to reorder, and the window grows by it as by any other, once.
 */
static void test_window_grows_by_what_was_sacked(void **state)
{
	uint32_t una;

	start(TCP_HAS_SACK_PERMITTED);
	c->cc.cwnd = 8000;
	for (unsigned i = 0; i < 20; i++)
		app_send_pattern(&h.app, 1000 * i, 1000);
	una = p.ack;
	host_advance(&h, 100 * MS);
	peer_sack(&p, una, &(struct tcp_range){una + 1000, una + 3000}, 1);
	host_advance(&h, MS); /* not long enough to be a loss */
	peer_sack(&p, una + 1000, NULL, 0);
	assert_int_equal(c->cc.cwnd, 9000);
	assert_true(c->rec.rack.reordering_seen);
	peer_sack(&p, una + 3000, NULL, 0);
	assert_int_equal(c->cc.cwnd, 9000);
	peer_sack(&p, una + 3000, &(struct tcp_range){una + 4000, una + 6000}, 1);
	assert_int_equal(c->cc.cwnd, 11000);
	peer_sack(&p, una + 6000, NULL, 0);
	assert_int_equal(c->cc.cwnd, 12000);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_old_ack_is_ignored(void **state)
{
	start(0);
	app_send(&h.app, "abc", 3);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack - 2, "z", 1);
	assert_int_equal(c->snd_una, p.ack);
	assert_int_equal(h.app.n_got, 1); /* its text is good */
	host_end(&h);
}

/** RFC 7323 section 3.2: an echo of nothing, or of what we have not said yet, measures nothing. */
static void test_echo_that_cannot_be(void **state)
{
	static const int32_t ahead[] = {0, 5000};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t srtt;

		c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_TS, NULL);
		app_send(&h.app, "abc", 3);
		host_advance(&h, 10 * MS);
		p.ack += 3;
		p.tsecr = tcp_conn_tsval(h.tcp, &c->id) - 10;
		peer_send(&p, 0, NULL, 0);
		srtt = c->rto.srtt;
		assert_true(srtt > 0);
		/* Sent twice, so that only the echo could tell (Karn). */
		app_send(&h.app, "def", 3);
		host_advance(&h, 3000 * MS);
		assert_true(c->retransmits > 0);
		p.ack += 3;
		p.tsecr = ahead[i] ? tcp_conn_tsval(h.tcp, &c->id) + (uint32_t)ahead[i] : 0;
		peer_send(&p, 0, NULL, 0);
		assert_int_equal(c->rto.srtt, srtt);
		assert_int_equal(c->snd_una, p.ack);
		ip_double_drain(&h.ip);
		host_end(&h);
	}
}

/** The peer's next text, which acknowledges what was sent; no round ends. */
static void answer(const char *text)
{
	struct tcp_segment s = {
		.seq = p.seq, .ack = p.ack, .flags = TCP_ACK, .wnd = p.wnd, .len = 1};

	host_hear(&h, p.lport, &s, text);
	p.seq++;
}

/** A connection with a byte in flight, past its quick ACKs. */
static void start_with_flight(void)
{
	start(0);
	c->quick_acks = 0;
	app_send(&h.app, "a", 1);
	ip_double_drain(&h.ip);
	p.ack++;
}

static void test_text_goes_up_before_its_ack(void **state)
{
	start_with_flight();
	c->rto.srtt = 0;
	host_advance(&h, 30 * MS);
	answer("x");
	assert_int_equal(h.app.n_got, 1);
	assert_int_equal(llp_unacked(h.app.llp), 1);
	assert_true(tcp_round_end_may_wait(h.tcp));
	/* It counts from when it came, whenever that is. */
	h.now += 5 * MS;
	tcp_set_now(h.tcp, h.now);
	host_round(&h);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	assert_int_equal(c->rto.srtt, 30 * MS);
	assert_int_equal(h.tcp->now, h.now);
	assert_int_equal(h.tcp->now_ms, h.now / MS);
	assert_true(c->rtx_at == TIMER_NEVER);
	assert_false(tcp_round_end_may_wait(h.tcp));
	host_end(&h);
}

static void test_with_many_connections_its_ack_comes_first(void **state)
{
	start_with_flight();
	h.tcp->table.count += TCP_TABLE_MANY;
	answer("x");
	assert_int_equal(h.app.n_got, 1);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	app_send_pattern(&h.app, 0, 1);
	assert_ptr_equal(c->sendq.ring, &c->sendq.one);
	h.tcp->table.count -= TCP_TABLE_MANY;
	host_round(&h);
	host_end(&h);
}

static void test_owed_ack_is_settled_by_what_comes_next(void **state)
{
	start_with_flight();
	answer("x");
	assert_int_equal(llp_unacked(h.app.llp), 1);
	answer("y");
	assert_int_equal(llp_unacked(h.app.llp), 0);
	assert_int_equal(h.app.n_got, 2);
	host_round(&h);
	host_end(&h);
}

static void test_owed_ack_is_settled_before_a_timer(void **state)
{
	uint64_t at;

	start_with_flight();
	answer("x");
	at = c->rtx_at;
	assert_true(at != TIMER_NEVER);
	h.now = at + MS;
	tcp_set_now(h.tcp, h.now);
	timer_wheel_run(&h.wheel, h.now);
	host_round(&h);
	assert_int_equal(c->timeouts, 0);
	assert_int_equal(c->retransmits, 0);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static size_t unacked_when_expedited;

static void on_expedite(struct ip_stack *s)
{
	unacked_when_expedited = llp_unacked(h.app.llp);
}

/** The answer leaves first; but in the books it is of a flight of its own. */
static void test_a_reply_leaves_before_the_owed_ack(void **state)
{
	uint32_t una;

	start_with_flight();
	una = c->snd_una;
	h.ip.expedite = on_expedite;
	answer("x");
	h.now += 2 * MS;
	tcp_set_now(h.tcp, h.now);
	app_send(&h.app, "b", 1);
	assert_int_equal(ip_double_pending(&h.ip), 1);
	assert_int_equal(unacked_when_expedited, 2);
	assert_int_equal(c->snd_una, una + 1);
	assert_int_equal(llp_unacked(h.app.llp), 1);
	assert_int_equal(c->rate.first_sent_at, h.now);
	assert_int_equal(c->progress_at, h.now);
	ip_double_drain(&h.ip);
	host_round(&h);
	host_end(&h);
}

/** What as things stand may not leave may by the ACK that is owed. */
static void test_an_owed_ack_that_lets_text_go_is_settled_first(void **state)
{
	start_with_flight();
	answer("x");
	c->cc.cwnd = c->emss;
	app_send_pattern(&h.app, 0, c->emss);
	assert_int_equal(ip_double_pending(&h.ip), 1);
	assert_int_equal(llp_unacked(h.app.llp), c->emss);
	assert_true(c->cwnd_limited != c->snd_nxt - c->emss);
	ip_double_drain(&h.ip);
	host_round(&h);
	host_end(&h);
}

/** So may what the peer's new window has room for, or what fits a path that has changed. */
static void test_an_owed_ack_that_opens_the_window_is_settled_first(void **state)
{
	struct heard a;

	start_with_flight();
	c->snd_wnd = 1;
	answer("x");
	assert_ptr_equal(h.tcp->owed_ack.c, c);
	app_send(&h.app, "b", 1);
	assert_null(h.tcp->owed_ack.c);
	host_expect(&h, &a);
	assert_int_equal(a.len, 1);
	assert_int_equal(c->snd_una + 1, c->snd_nxt);
	host_round(&h);
	host_end(&h);
	start_with_flight();
	answer("x");
	assert_ptr_equal(h.tcp->owed_ack.c, c);
	h.ip.path_mtu = c->path.mtu = 576;
	app_send_pattern(&h.app, 0, 600);
	assert_null(h.tcp->owed_ack.c);
	host_expect(&h, &a);
	assert_int_equal(a.len, c->emss);
	host_expect(&h, &a);
	assert_int_equal(a.len, 600 - c->emss);
	host_round(&h);
	host_end(&h);
}

/** What goes first is a repair: the books name it, and the new text goes as well, once. */
static void test_an_owed_ack_is_settled_before_a_repair(void **state)
{
	static const char expected[] = "bc";
	struct heard a;

	start_with_flight();
	app_send(&h.app, "b", 1);
	ip_double_drain(&h.ip);
	tcp_sendq_lose(&c->sendq, 1);
	answer("x");
	assert_ptr_equal(h.tcp->owed_ack.c, c);
	app_send(&h.app, "c", 1);
	for (unsigned i = 0; i < 2; i++) {
		host_expect(&h, &a);
		assert_int_equal(a.len, 1);
		assert_int_equal(a.text[0], expected[i]);
	}
	host_expect_none(&h);
	assert_int_equal(c->retransmits, 1);
	assert_int_equal(c->snd_nxt, p.ack + 2);
	host_round(&h);
	host_end(&h);
}

static void test_ack_that_lets_text_go_is_not_owed(void **state)
{
	start_with_flight();
	c->cc.cwnd = c->emss;
	app_send_pattern(&h.app, 0, c->emss);
	assert_int_equal(ip_double_pending(&h.ip), 0);
	answer("x");
	assert_int_equal(llp_unacked(h.app.llp), c->emss);
	assert_false(tcp_round_end_may_wait(h.tcp));
	host_round(&h);
	assert_int_equal(ip_double_pending(&h.ip), 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_nothing_is_owed_to_what_is_closed(void **state)
{
	start_with_flight();
	h.app.abort_in_readable = true;
	answer("x");
	assert_int_equal(c->state, TCP_CLOSED);
	host_round(&h);
	ip_double_drain(&h.ip);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo_that_cannot_be),
		cmocka_unit_test(test_ack_frees_and_stops_the_timer),
		cmocka_unit_test(test_partial_ack_of_a_record),
		cmocka_unit_test(test_a_tick_tells_nothing_of_a_shorter_path),
		cmocka_unit_test(test_round_trip_is_measured),
		cmocka_unit_test(test_round_trip_by_timestamp_after_retransmission),
		cmocka_unit_test(test_no_sample_after_retransmission_without_timestamps),
		cmocka_unit_test(test_window_only_from_newer_segments),
		cmocka_unit_test(test_scaled_window),
		cmocka_unit_test(test_window_grows_only_when_it_limits),
		cmocka_unit_test(test_window_grows_by_what_was_sacked),
		cmocka_unit_test(test_old_ack_is_ignored),
		cmocka_unit_test(test_text_goes_up_before_its_ack),
		cmocka_unit_test(test_with_many_connections_its_ack_comes_first),
		cmocka_unit_test(test_owed_ack_is_settled_by_what_comes_next),
		cmocka_unit_test(test_owed_ack_is_settled_before_a_timer),
		cmocka_unit_test(test_a_reply_leaves_before_the_owed_ack),
		cmocka_unit_test(test_an_owed_ack_that_lets_text_go_is_settled_first),
		cmocka_unit_test(test_an_owed_ack_that_opens_the_window_is_settled_first),
		cmocka_unit_test(test_an_owed_ack_is_settled_before_a_repair),
		cmocka_unit_test(test_ack_that_lets_text_go_is_not_owed),
		cmocka_unit_test(test_nothing_is_owed_to_what_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
