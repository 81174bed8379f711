/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 9293 section 3.10.7, state by state. */
#include "host.h"
#include "tcp/input.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** The peer acknowledges all that was sent. */
static void ack_all(void)
{
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
}

/** A fresh connection in @p state; what was sent on the way is forgotten. */
static void to_state(enum tcp_state state, unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
	switch (state) {
	case TCP_CLOSE_WAIT:
	case TCP_LAST_ACK:
		peer_send(&p, TCP_FIN, NULL, 0);
		if (state == TCP_LAST_ACK)
			llp_shutdown(h.app.llp);
		break;
	case TCP_CLOSING:
		llp_shutdown(h.app.llp);
		peer_send(&p, TCP_FIN, NULL, 0);
		break;
	case TCP_FIN_WAIT_1:
		llp_shutdown(h.app.llp);
		break;
	case TCP_FIN_WAIT_2:
	case TCP_TIME_WAIT:
		llp_shutdown(h.app.llp);
		ack_all();
		if (state == TCP_TIME_WAIT)
			peer_send(&p, TCP_FIN, NULL, 0);
		break;
	default:
		break;
	}
	ip_double_drain(&h.ip);
	assert_int_equal(c->state, state);
}

static const enum tcp_state synchronized[] = {TCP_ESTABLISHED, TCP_FIN_WAIT_1, TCP_FIN_WAIT_2,
	TCP_CLOSE_WAIT, TCP_CLOSING, TCP_LAST_ACK, TCP_TIME_WAIT};
#define N_SYNCHRONIZED (sizeof synchronized / sizeof synchronized[0])

static void expect_ack_of(uint32_t seq, uint32_t ack)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	assert_int_equal(a.h.seq, seq);
	assert_int_equal(a.h.ack, ack);
	assert_int_equal(a.len, 0);
	host_expect_none(&h);
}

/* ---- the window ---------------------------------------------------------------------------- */

/** RFC 9293 section 3.10.7.4, the first check, and RFC 1122 section 4.2.2.20 (b). */
static void test_acceptable(void **state)
{
	static const struct {
		uint32_t seq, len, wnd;
		bool acceptable;
	} t[] = {
		{100, 0, 0, true},
		{101, 0, 0, false},
		{100, 1, 0, true}, /* its ACK counts */
		{99, 1, 0, false},
		{100, 50, 10, true},
		{109, 50, 10, true},
		{110, 50, 10, false},
		{110, 0, 10, true}, /* the edge itself */
		{111, 0, 10, false},
		{90, 10, 10, false},
		{90, 11, 10, true},
		{90, 50, 10, true}, /* from before the window to behind it */
		{120, 50, 10, false},
	};

	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		for (uint32_t wrap = 0; wrap < 2; wrap++) {
			const uint32_t by = wrap ? 0u - 100u : 0;
			const struct tcp_segment seg = {
				.seq = t[i].seq + by, .len = t[i].len, .flags = TCP_ACK};

			assert_int_equal(
				tcp_segment_acceptable(&seg, 100 + by, t[i].wnd), t[i].acceptable);
		}
}

/* ---- simultaneous open --------------------------------------------------------------------- */

/** Who has nothing to say may say so before the other has answered. */
static void test_shutdown_in_syn_received(void **state)
{
	struct tcp_segment s = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	host_expect(&h, &a);
	host_hear(&h, a.h.sport, &s, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	llp_shutdown(h.app.llp);
	host_expect_none(&h);
	s = (struct tcp_segment){.seq = 1001, .ack = a.h.seq + 1, .flags = TCP_ACK, .wnd = 5000};
	host_hear(&h, a.h.sport, &s, NULL);
	host_round(&h);
	assert_int_equal(h.app.connected, 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_FIN | TCP_ACK);
	assert_int_equal(a.h.seq, s.ack);
	assert_int_equal(tcp_conn_of(h.app.llp)->state, TCP_FIN_WAIT_1);
	host_end(&h);
}

/* ---- reset, SYN, ACK in every synchronized state -------------------------------------------- */

static void test_exact_reset_ends_every_state(void **state)
{
	for (size_t i = 0; i < N_SYNCHRONIZED; i++) {
		if (synchronized[i] == TCP_TIME_WAIT)
			continue;
		to_state(synchronized[i], 0);
		peer_send_at(&p, TCP_RST, p.seq, 0, NULL, 0);
		host_expect_none(&h);
		assert_int_equal(h.app.closed, 1);
		assert_int_equal(h.app.error, -ECONNRESET);
		assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
		host_end(&h);
	}
}

/**
 * RFC 9293 section 3.10.7.4 lets a reset flush what the user has not taken. Ours takes text as it
 * comes, so that an end in the same round does not overtake a peer's last words.
 */
static void test_no_end_overtakes_text(void **state)
{
	static const uint8_t ends[] = {TCP_RST, TCP_FIN};
	struct tcp_segment text = {.flags = TCP_PSH | TCP_ACK, .wnd = 65535, .len = 5};

	for (size_t i = 0; i < sizeof ends; i++) {
		struct tcp_segment end = {.flags = ends[i] | TCP_ACK, .wnd = 65535};

		to_state(TCP_ESTABLISHED, 0);
		text.seq = p.seq;
		end.seq = p.seq + 10;
		text.ack = end.ack = p.ack;
		host_hear(&h, PORT, &text, "last ");
		text.seq += 5;
		host_hear(&h, PORT, &text, "words");
		host_hear(&h, PORT, &end, NULL);
		assert_int_equal(h.app.n_got, 10);
		assert_memory_equal(h.app.got, "last words", 10);
		assert_int_equal(h.app.closed, ends[i] == TCP_RST);
		assert_int_equal(h.app.eof, ends[i] == TCP_FIN);
		host_round(&h);
		host_end(&h);
	}
}

/** RFC 1337: TIME-WAIT is not to be assassinated. */
static void test_reset_does_not_end_time_wait(void **state)
{
	to_state(TCP_TIME_WAIT, 0);
	peer_send_at(&p, TCP_RST, p.seq, 0, NULL, 0);
	host_expect_none(&h);
	assert_int_equal(c->state, TCP_TIME_WAIT);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_ignored, 1);
	host_end(&h);
}

static void test_reset_in_the_window_is_challenged(void **state)
{
	for (size_t i = 0; i < N_SYNCHRONIZED; i++) {
		to_state(synchronized[i], 0);
		peer_send_at(&p, TCP_RST, p.seq + 1, 0, NULL, 0);
		expect_ack_of(c->snd_nxt, p.seq);
		assert_int_equal(c->state, synchronized[i]);
		host_end(&h);
	}
}

static void test_reset_outside_the_window_is_ignored(void **state)
{
	for (size_t i = 0; i < N_SYNCHRONIZED; i++) {
		to_state(synchronized[i], 0);
		peer_send_at(&p, TCP_RST, p.seq - 1, 0, NULL, 0);
		peer_send_at(&p, TCP_RST, p.seq + 70000, 0, NULL, 0);
		host_expect_none(&h);
		assert_int_equal(c->state, synchronized[i]);
		assert_int_equal(tcp_stack_stats(h.tcp)->resets_ignored, 2);
		host_end(&h);
	}
}

static void test_syn_is_challenged(void **state)
{
	for (size_t i = 0; i < N_SYNCHRONIZED; i++) {
		if (synchronized[i] == TCP_TIME_WAIT)
			continue;
		to_state(synchronized[i], 0);
		peer_send_at(&p, TCP_SYN, p.seq + 5, 0, NULL, 0);
		expect_ack_of(c->snd_nxt, p.seq);
		peer_send_at(&p, TCP_SYN | TCP_ACK, p.seq - 1, p.ack, NULL, 0);
		expect_ack_of(c->snd_nxt, p.seq);
		assert_int_equal(c->state, synchronized[i]);
		assert_int_equal(tcp_stack_stats(h.tcp)->syns_ignored, 1);
		assert_int_equal(tcp_stack_stats(h.tcp)->out_of_window, 1);
		host_end(&h);
	}
}

static void test_challenges_are_limited(void **state)
{
	to_state(TCP_ESTABLISHED, 0);
	for (int i = 0; i < 50; i++)
		peer_send_at(&p, TCP_SYN, p.seq + 5, 0, NULL, 0);
	assert_int_equal(ip_double_pending(&h.ip), 10);
	assert_int_equal(tcp_stack_stats(h.tcp)->challenge_acks_limited, 40);
	ip_double_drain(&h.ip);
	host_advance(&h, 5000 * MS);
	peer_send_at(&p, TCP_SYN, p.seq + 5, 0, NULL, 0);
	assert_int_equal(ip_double_pending(&h.ip), 1);
	host_end(&h);
}

static void test_ack_of_the_unsent_is_answered(void **state)
{
	for (size_t i = 0; i < N_SYNCHRONIZED; i++) {
		to_state(synchronized[i], 0);
		peer_send_at(&p, TCP_ACK, p.seq, c->snd_nxt + 1, "x", 1);
		expect_ack_of(c->snd_nxt, p.seq);
		assert_int_equal(c->state, synchronized[i]);
		assert_int_equal(h.app.n_got, 0);
		assert_int_equal(tcp_stack_stats(h.tcp)->bad_ack, 1);
		host_end(&h);
	}
}

static void test_very_old_ack_is_answered(void **state)
{
	to_state(TCP_ESTABLISHED, 0);
	peer_send_at(&p, TCP_ACK, p.seq, c->snd_una - 70000, "x", 1);
	expect_ack_of(c->snd_nxt, p.seq);
	assert_int_equal(h.app.n_got, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_ack, 1);
	host_end(&h);
}

static void test_no_ack_no_text(void **state)
{
	to_state(TCP_ESTABLISHED, 0);
	peer_send_at(&p, 0, p.seq, 0, "x", 1);
	host_expect_none(&h);
	assert_int_equal(h.app.n_got, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_ack, 1);
	host_end(&h);
}

static void test_text_outside_the_window_is_answered(void **state)
{
	to_state(TCP_ESTABLISHED, 0);
	peer_send_at(&p, TCP_ACK, p.seq - 10, p.ack, "old", 3);
	expect_ack_of(c->snd_nxt, p.seq);
	peer_send_at(&p, TCP_ACK, p.seq + 70000, p.ack, "new", 3);
	expect_ack_of(c->snd_nxt, p.seq);
	assert_int_equal(h.app.n_got, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->duplicate, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->out_of_window, 1);
	host_end(&h);
}

static void test_keepalive_is_answered(void **state)
{
	to_state(TCP_ESTABLISHED, 0);
	peer_send_at(&p, TCP_ACK, p.seq - 1, p.ack, NULL, 0);
	expect_ack_of(c->snd_nxt, p.seq);
	assert_int_equal(tcp_stack_stats(h.tcp)->out_of_window, 0);
	host_end(&h);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static void test_active_open(void **state)
{
	host_init(&h, LOCAL, NULL);
	peer_connected(&p, &h, TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED);
	c = tcp_conn_of(h.app.llp);
	assert_true(c->ts_on && c->sack_on && c->wscale_on);
	assert_int_equal(c->emss, 1448);
	assert_int_equal(tcp_stack_stats(h.tcp)->connects, 1);
	host_end(&h);
}

static void syn_sent(void)
{
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	c = tcp_conn_of(h.app.llp);
	host_expect(&h, &a);
	p = (struct peer){.h = &h, .lport = a.h.sport, .seq = 500, .ack = a.h.seq + 1, .wnd = 9000};
}

static void test_syn_sent_bad_ack_is_reset(void **state)
{
	struct heard a;

	syn_sent();
	peer_send_at(&p, TCP_SYN | TCP_ACK, 500, p.ack + 1, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(a.h.seq, p.ack + 1);
	peer_send_at(&p, TCP_ACK, 500, p.ack - 1, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack - 1);
	peer_send_at(&p, TCP_RST | TCP_ACK, 500, p.ack - 1, NULL, 0);
	host_expect_none(&h);
	assert_int_equal(c->state, TCP_SYN_SENT);
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_ack, 3);
	host_end(&h);
}

static void test_syn_sent_reset(void **state)
{
	syn_sent();
	peer_send_at(&p, TCP_RST, 500, 0, NULL, 0);
	assert_int_equal(c->state, TCP_SYN_SENT);
	peer_send_at(&p, TCP_RST | TCP_ACK, 500, p.ack, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNREFUSED);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_ignored, 1);
	host_end(&h);
}

static void test_syn_sent_ack_alone_is_dropped(void **state)
{
	syn_sent();
	peer_send_at(&p, TCP_ACK, 500, p.ack, "abc", 3);
	host_expect_none(&h);
	assert_int_equal(c->state, TCP_SYN_SENT);
	assert_int_equal(tcp_stack_stats(h.tcp)->out_of_window, 1);
	host_end(&h);
}

static void test_text_with_the_syn_ack(void **state)
{
	syn_sent();
	peer_send_at(&p, TCP_SYN | TCP_ACK | TCP_FIN, 500, p.ack, "abc", 3);
	assert_int_equal(h.app.connected, 1);
	assert_int_equal(h.app.n_got, 3);
	assert_int_equal(h.app.eof, 1);
	expect_ack_of(p.ack, 505);
	assert_int_equal(c->state, TCP_CLOSE_WAIT);
	host_end(&h);
}

static void test_simultaneous_open(void **state)
{
	struct heard a;

	syn_sent();
	peer_send_at(&p, TCP_SYN, 500, 0, NULL, 0);
	assert_int_equal(c->state, TCP_SYN_RECEIVED);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(a.h.seq, p.ack - 1);
	assert_int_equal(a.h.ack, 501);
	peer_send_at(&p, TCP_SYN | TCP_ACK, 500, p.ack, NULL, 0);
	assert_int_equal(c->state, TCP_ESTABLISHED);
	assert_int_equal(h.app.connected, 1);
	host_end(&h);
}

static void test_simultaneous_open_refused(void **state)
{
	syn_sent();
	peer_send_at(&p, TCP_SYN, 500, 0, NULL, 0);
	peer_send_at(&p, TCP_RST, 501, 0, NULL, 0);
	assert_int_equal(h.app.error, -ECONNREFUSED);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void test_syn_received(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a, b;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000};
	/* The same SYN again: our answer was lost. */
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &b);
	assert_int_equal(b.h.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(b.h.seq, a.h.seq);
	/* An ACK of something else. */
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 2, NULL, 0);
	host_expect(&h, &b);
	assert_int_equal(b.h.flags, TCP_RST);
	assert_int_equal(b.h.seq, a.h.seq + 2);
	assert_int_equal(h.app.accepted, 0);
	/* A SYN in the window: back to LISTEN. */
	peer_send_at(&p, TCP_SYN, 1005, 0, NULL, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_ack, 1);
	host_end(&h);
}

static void test_text_and_fin_with_the_handshake_ack(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000};
	peer_send_at(&p, TCP_ACK | TCP_FIN, 1001, a.h.seq + 1, "hi", 2);
	assert_int_equal(h.app.accepted, 1);
	assert_int_equal(h.app.connected, 1);
	assert_int_equal(h.app.n_got, 2);
	assert_int_equal(h.app.eof, 1);
	expect_ack_of(a.h.seq + 1, 1004);
	host_end(&h);
}

/* ---- closing ----------------------------------------------------------------------------------
 */

static void test_active_close(void **state)
{
	struct heard a;

	to_state(TCP_ESTABLISHED, 0);
	app_send(&h.app, "bye", 3);
	llp_shutdown(h.app.llp);
	llp_shutdown(h.app.llp); /* no second FIN */
	host_expect(&h, &a);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_FIN | TCP_ACK);
	assert_int_equal(a.h.seq, p.ack + 3);
	host_expect_none(&h);
	assert_int_equal(c->state, TCP_FIN_WAIT_1);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_1);
	ack_all();
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	peer_send(&p, 0, "more", 4); /* half closed: it still may */
	assert_int_equal(h.app.n_got, 4);
	ip_double_drain(&h.ip);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_TIME_WAIT);
	assert_int_equal(h.app.eof, 1);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, 0);
	expect_ack_of(c->snd_nxt, p.seq);
	host_end(&h);
}

static void test_fin_and_ack_of_ours_in_one(void **state)
{
	to_state(TCP_FIN_WAIT_1, 0);
	p.ack = c->snd_nxt;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_TIME_WAIT);
	expect_ack_of(c->snd_nxt, p.seq);
	host_end(&h);
}

static void test_simultaneous_close(void **state)
{
	to_state(TCP_FIN_WAIT_1, 0);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_CLOSING);
	expect_ack_of(c->snd_nxt, p.seq);
	assert_int_equal(h.app.closed, 0);
	ack_all();
	assert_int_equal(c->state, TCP_TIME_WAIT);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void test_passive_close(void **state)
{
	struct heard a;

	to_state(TCP_CLOSE_WAIT, 0);
	assert_int_equal(h.app.eof, 1);
	app_send(&h.app, "still", 5);
	host_expect(&h, &a);
	assert_int_equal(a.len, 5);
	llp_shutdown(h.app.llp);
	assert_int_equal(c->state, TCP_LAST_ACK);
	ack_all();
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

static void test_text_after_fin_is_ignored(void **state)
{
	to_state(TCP_CLOSE_WAIT, 0);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "late", 4);
	assert_int_equal(h.app.n_got, 0);
	assert_int_equal(c->rcv_nxt, p.seq);
	assert_int_equal(tcp_stack_stats(h.tcp)->text_unwanted, 1);
	host_end(&h);
}

static void test_fin_again(void **state)
{
	static const enum tcp_state after[] = {
		TCP_CLOSE_WAIT, TCP_CLOSING, TCP_LAST_ACK, TCP_TIME_WAIT};

	for (size_t i = 0; i < 4; i++) {
		to_state(after[i], 0);
		peer_send_at(&p, TCP_FIN | TCP_ACK, p.seq - 1, p.ack, NULL, 0);
		expect_ack_of(c->snd_nxt, p.seq);
		assert_int_equal(c->state, after[i]);
		host_end(&h);
	}
}

/* ---- TIME-WAIT --------------------------------------------------------------------------------
 */

static void test_time_wait_ends(void **state)
{
	to_state(TCP_TIME_WAIT, 0);
	host_advance(&h, 59000 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	/* The FIN again: it begins anew. */
	peer_send_at(&p, TCP_FIN | TCP_ACK, p.seq - 1, p.ack, NULL, 0);
	host_advance(&h, 59000 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_advance(&h, 1001 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void test_time_wait_reopened_by_higher_sequence(void **state)
{
	uint32_t old;
	struct heard a;

	to_state(TCP_TIME_WAIT, 0);
	old = c->snd_nxt;
	peer_send_at(&p, TCP_SYN, p.seq - 5, 0, NULL, 0); /* an old duplicate */
	expect_ack_of(c->snd_nxt, p.seq);
	peer_send_at(&p, TCP_SYN, p.seq + 1, 0, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	assert_true(seq_gt(a.h.seq, old));
	host_end(&h);
}

static void test_time_wait_reopened_by_timestamp(void **state)
{
	const struct tcp_segment old = {
		.seq = 1, .flags = TCP_SYN, .wnd = 5000, .has = TCP_HAS_TS, .tsval = 6999};
	struct tcp_segment syn = old;
	struct heard a;

	to_state(TCP_TIME_WAIT, TCP_HAS_TS);
	host_hear(&h, PORT, &old, NULL);
	host_round(&h);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	syn.tsval = 7001;
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acceptable),
		cmocka_unit_test(test_shutdown_in_syn_received),
		cmocka_unit_test(test_exact_reset_ends_every_state),
		cmocka_unit_test(test_no_end_overtakes_text),
		cmocka_unit_test(test_reset_does_not_end_time_wait),
		cmocka_unit_test(test_reset_in_the_window_is_challenged),
		cmocka_unit_test(test_reset_outside_the_window_is_ignored),
		cmocka_unit_test(test_syn_is_challenged),
		cmocka_unit_test(test_challenges_are_limited),
		cmocka_unit_test(test_ack_of_the_unsent_is_answered),
		cmocka_unit_test(test_very_old_ack_is_answered),
		cmocka_unit_test(test_no_ack_no_text),
		cmocka_unit_test(test_text_outside_the_window_is_answered),
		cmocka_unit_test(test_keepalive_is_answered),
		cmocka_unit_test(test_active_open),
		cmocka_unit_test(test_syn_sent_bad_ack_is_reset),
		cmocka_unit_test(test_syn_sent_reset),
		cmocka_unit_test(test_syn_sent_ack_alone_is_dropped),
		cmocka_unit_test(test_text_with_the_syn_ack),
		cmocka_unit_test(test_simultaneous_open),
		cmocka_unit_test(test_simultaneous_open_refused),
		cmocka_unit_test(test_syn_received),
		cmocka_unit_test(test_text_and_fin_with_the_handshake_ack),
		cmocka_unit_test(test_active_close),
		cmocka_unit_test(test_fin_and_ack_of_ours_in_one),
		cmocka_unit_test(test_simultaneous_close),
		cmocka_unit_test(test_passive_close),
		cmocka_unit_test(test_text_after_fin_is_ignored),
		cmocka_unit_test(test_fin_again),
		cmocka_unit_test(test_time_wait_ends),
		cmocka_unit_test(test_time_wait_reopened_by_higher_sequence),
		cmocka_unit_test(test_time_wait_reopened_by_timestamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
