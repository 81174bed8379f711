/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start_with(unsigned options, const struct tcp_stack_config *cfg)
{
	host_init(&h, LOCAL, cfg);
	peer_accepted(&p, &h, options);
	c = tcp_conn_of(h.app.llp);
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

static void test_delayed_ack(void **state)
{
	start(0);
	settle();
	peer_send(&p, 0, "hello", 5);
	host_expect_none(&h);
	host_advance(&h, 39 * MS);
	host_expect_none(&h);
	host_advance(&h, 2 * MS);
	expect_ack(p.seq);
	host_end(&h);
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

static void test_user_takes_a_part(void **state)
{
	start(0);
	h.app.take = 2;
	peer_send(&p, 0, "abcde", 5);
	assert_int_equal(h.app.n_got, 2);
	assert_int_equal(c->recvq.bytes, 3);
	peer_send(&p, 0, "fg", 2); /* shown from its beginning */
	assert_int_equal(h.app.shown, 5);
	assert_int_equal(h.app.n_got, 4);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 7);
	assert_memory_equal(h.app.got, "abcdefg", 7);
	assert_int_equal(c->recvq.bytes, 0);
	host_end(&h);
}

static void test_need(void **state)
{
	start(0);
	h.app.take = 0;
	h.app.need = 10;
	peer_send(&p, 0, "abcde", 5);
	assert_int_equal(h.app.shows, 1);
	peer_send(&p, 0, "fghi", 4);
	assert_int_equal(h.app.shows, 1); /* nine: not enough */
	h.app.take = SIZE_MAX;
	h.app.need = 0;
	peer_send(&p, 0, "j", 1);
	assert_int_equal(h.app.shows, 2);
	assert_int_equal(h.app.shown, 10);
	assert_memory_equal(h.app.got, "abcdefghij", 10);
	host_end(&h);
}

static void test_need_is_forgotten_at_fin(void **state)
{
	start(0);
	h.app.take = 0;
	h.app.need = 10;
	peer_send(&p, 0, "abc", 3);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.shows, 2);
	assert_int_equal(h.app.eof, 1);
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

static void test_single_bytes_do_not_pin_the_pool(void **state)
{
	start(0);
	h.app.take = 0;
	h.app.need = 5000;
	for (int i = 0; i < 4000; i++) {
		peer_send(&p, 0, "x", 1);
		ip_double_drain(&h.ip);
	}
	assert_true(test_pool_missing(h.pool) <= 3);
	assert_int_equal(c->recvq.bytes, 4000);
	host_end(&h);
}

static void test_single_bytes_out_of_order_are_bounded(void **state)
{
	start(0);
	for (uint32_t i = 0; i < 20000; i++) {
		peer_send_at(&p, TCP_ACK, p.seq + 1 + 2 * i, p.ack, "x", 1);
		ip_double_drain(&h.ip);
	}
	assert_true(test_pool_missing(h.pool) <= TCP_OOO_MAX);
	host_end(&h);
}

static void test_unread_text_of_others_stops_nobody_who_reads(void **state)
{
	start(0);
	h.tcp->rx_hard_limit = 0; /* others have filled it */
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.n_got, 3);
	h.app.take = 0;
	peer_send(&p, 0, "def", 3);
	assert_int_equal(c->recvq.bytes, 3);
	peer_send(&p, 0, "ghi", 3);
	assert_int_equal(c->recvq.bytes, 3); /* but who does not read gets no more */
	assert_int_equal(c->rcv_nxt, p.seq - 3);
	host_end(&h);
}

static void test_abort_inside_readable(void **state)
{
	struct heard a;

	start(0);
	h.app.abort_in_readable = true;
	peer_send(&p, 0, "abc", 3);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_release_inside_readable(void **state)
{
	start(0);
	h.app.take = 0;
	peer_send(&p, 0, "abc", 3);
	h.app.release_in_readable = true;
	peer_send(&p, TCP_FIN, "def", 3);
	assert_int_equal(h.app.eof, 0);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(c->state, TCP_CLOSING);
	host_end(&h);
}

static void test_orphan_drops_what_comes(void **state)
{
	start(0);
	llp_release(h.app.llp);
	ip_double_drain(&h.ip);
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.shows, 0);
	expect_ack(p.seq);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_goes_up_and_is_acknowledged),
		cmocka_unit_test(test_delayed_ack),
		cmocka_unit_test(test_every_second_full_segment),
		cmocka_unit_test(test_one_ack_for_a_burst),
		cmocka_unit_test(test_reply_carries_the_ack),
		cmocka_unit_test(test_user_takes_a_part),
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_need_is_forgotten_at_fin),
		cmocka_unit_test(test_gap_is_kept_and_filled),
		cmocka_unit_test(test_duplicate_is_reported),
		cmocka_unit_test(test_fin_beyond_a_gap),
		cmocka_unit_test(test_bare_fin_beyond_a_gap),
		cmocka_unit_test(test_window_closes_and_opens),
		cmocka_unit_test(test_text_beyond_the_window_is_cut),
		cmocka_unit_test(test_single_bytes_do_not_pin_the_pool),
		cmocka_unit_test(test_single_bytes_out_of_order_are_bounded),
		cmocka_unit_test(test_unread_text_of_others_stops_nobody_who_reads),
		cmocka_unit_test(test_abort_inside_readable),
		cmocka_unit_test(test_release_inside_readable),
		cmocka_unit_test(test_orphan_drops_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
