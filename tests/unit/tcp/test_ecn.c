/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 3168 section 6.1. */
#include "host.h"

#include "tcp/ecn.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;
static struct heard a;

#define SETUP (TCP_SYN | TCP_ECE | TCP_CWR)

/** @return the ECN bits of the next segment, which is left in a. */
static uint8_t next_codepoint(void)
{
	host_expect(&h, &a);
	return h.ip.taken_tos & TCP_ECN_MASK;
}

static void text_with(uint8_t flags, uint8_t tos)
{
	h.ip.rx_tos = tos;
	peer_send(&p, flags, "x", 1);
	h.ip.rx_tos = 0;
}

/* ---- negotiation --------------------------------------------------------------------------- */

static uint8_t answer_to_syn(enum tcp_ecn_mode mode, uint8_t flags, uint8_t tos)
{
	const struct tcp_stack_config cfg = {.ecn = mode};
	const struct tcp_segment syn = {.seq = 1000, .flags = flags, .wnd = 5000};

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	h.ip.rx_tos = tos;
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(h.ip.taken_tos & TCP_ECN_MASK, 0); /* section 6.1.1: no ECT on a SYN,ACK */
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000, .seq = 1001, .ack = a.h.seq + 1};
	h.ip.rx_tos = 0;
	peer_send(&p, 0, NULL, 0);
	c = tcp_conn_of(h.app.llp);
	return a.h.flags;
}

static void test_accepts(void **state)
{
	assert_int_equal(answer_to_syn(TCP_ECN_ACCEPT, SETUP, 0), TCP_SYN | TCP_ACK | TCP_ECE);
	assert_true(c->ecn.on);
	host_end(&h);
	assert_int_equal(answer_to_syn(TCP_ECN_ON, SETUP, 0), TCP_SYN | TCP_ACK | TCP_ECE);
	assert_true(c->ecn.on);
	host_end(&h);
}

static void test_does_not_accept(void **state)
{
	static const struct {
		enum tcp_ecn_mode mode;
		uint8_t flags, tos;
	} cases[] = {{TCP_ECN_OFF, SETUP, 0}, {TCP_ECN_ON, TCP_SYN, 0},
		{TCP_ECN_ON, TCP_SYN | TCP_ECE, 0}, {TCP_ECN_ON, TCP_SYN | TCP_CWR, 0},
		{TCP_ECN_ON, SETUP, TCP_ECN_CE}, {TCP_ECN_ON, SETUP, TCP_ECN_ECT0}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(answer_to_syn(cases[i].mode, cases[i].flags, cases[i].tos),
			TCP_SYN | TCP_ACK);
		assert_false(c->ecn.on);
		host_end(&h);
	}
}

static void test_repeated_syn_ack_keeps_the_answer(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = SETUP, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	host_advance(&h, 1100 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	host_end(&h);
}

/*
 * A peer that got no answer tries without (section 6.1.1.1): it may not echo any marks. But if our
 * first answer was only late, it may send text that can be marked.
 */
static void test_syn_comes_again_without(void **state)
{
	static const uint8_t flags[] = {TCP_SYN, SETUP};
	struct tcp_segment syn = {.seq = 1000, .flags = SETUP, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	for (unsigned i = 0; i < 2; i++) { /* and an older one, which was overtaken */
		syn.flags = flags[i];
		host_hear(&h, PORT, &syn, NULL);
		host_expect(&h, &a);
		assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	}
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000, .seq = 1001, .ack = a.h.seq + 1};
	peer_send(&p, 0, NULL, 0);
	c = tcp_conn_of(h.app.llp);
	app_send(&h.app, "abc", 3);
	assert_int_equal(next_codepoint(), 0);
	text_with(0, TCP_ECN_CE);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK | TCP_ECE);
	assert_false(tcp_ecn_capable(c));
	host_end(&h);
}

/* What somebody writes into the IP header of a SYN is not the peer's word. */
static void test_syn_comes_again_with_a_mark(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = SETUP, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	for (unsigned i = 0; i < 2; i++) {
		h.ip.rx_tos = i ? TCP_ECN_CE : 0;
		host_hear(&h, PORT, &syn, NULL);
		host_expect(&h, &a);
		assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	}
	host_end(&h);
}

static void start_asking(void)
{
	const struct tcp_stack_config cfg = {.ecn = TCP_ECN_ON};

	host_init(&h, LOCAL, &cfg);
	c = tcp_conn_of(host_connect(&h));
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, SETUP);
	assert_int_equal(h.ip.taken_tos & TCP_ECN_MASK, 0);
	p = (struct peer){
		.h = &h, .lport = a.h.sport, .wnd = 60000, .seq = 500, .ack = a.h.seq + 1};
}

static void answer(uint8_t flags)
{
	peer_send_at(&p, (uint8_t)(TCP_SYN | TCP_ACK | flags), p.seq++, p.ack, NULL, 0);
	ip_double_drain(&h.ip);
}

static void test_asks(void **state)
{
	struct tcp_info info;

	start_asking();
	answer(TCP_ECE);
	assert_true(c->ecn.on);
	tcp_get_info(h.app.llp, &info);
	assert_true(info.ecn);
	host_end(&h);
	start_asking();
	answer(0);
	assert_false(c->ecn.on);
	host_end(&h);
	start_asking();
	answer(TCP_ECE | TCP_CWR); /* mirrors what it does not know */
	assert_false(c->ecn.on);
	host_end(&h);
}

static void test_does_not_ask_by_default(void **state)
{
	host_init(&h, LOCAL, NULL);
	c = tcp_conn_of(host_connect(&h));
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	p = (struct peer){
		.h = &h, .lport = a.h.sport, .wnd = 60000, .seq = 500, .ack = a.h.seq + 1};
	answer(TCP_ECE);
	assert_false(c->ecn.on);
	host_end(&h);
}

/** Section 6.1.1.1: middleboxes that drop or reset SYNs with the flags. */
static void test_falls_back(void **state)
{
	start_asking();
	host_advance(&h, 1100 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	answer(TCP_ECE);
	assert_int_equal(c->state, TCP_ESTABLISHED);
	assert_false(c->ecn.on);
	host_end(&h);
	start_asking();
	peer_send_at(&p, TCP_RST | TCP_ACK, 0, p.ack, NULL, 0);
	assert_int_equal(h.app.closed, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	peer_send_at(&p, TCP_RST | TCP_ACK, 0, p.ack, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

/* ---- as the sender ------------------------------------------------------------------------- */

static void established(void)
{
	start_asking();
	answer(TCP_ECE);
	assert_true(c->ecn.on);
}

static void ack_with(uint8_t flags)
{
	p.ack = c->snd_nxt;
	peer_send(&p, flags, NULL, 0);
}

static void test_only_new_text_is_ect(void **state)
{
	established();
	app_send(&h.app, "abc", 3);
	assert_int_equal(next_codepoint(), TCP_ECN_ECT0);
	host_advance(&h, 2000 * MS); /* sent again */
	assert_int_equal(next_codepoint(), 0);
	ip_double_drain(&h.ip);
	ack_with(0);
	peer_send(&p, 0, "x", 1);
	host_advance(&h, 100 * MS);
	assert_int_equal(next_codepoint(), 0); /* a pure ACK */
	host_end(&h);
}

static void test_window_probe_is_not_ect(void **state)
{
	established();
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	host_expect_none(&h);
	host_advance(&h, 5000 * MS);
	assert_int_equal(next_codepoint(), 0);
	assert_int_equal(a.len, 0);
	ip_double_drain(&h.ip);
	p.wnd = 1000;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(next_codepoint(), TCP_ECN_ECT0); /* the text goes for the first time */
	assert_int_equal(a.len, 3);
	host_end(&h);
}

static void send_window(void)
{
	for (int i = 0; i < 6; i++)
		app_send_pattern(&h.app, 0, 500);
}

static void test_echo_slows_down_once_per_window(void **state)
{
	uint32_t cwnd;

	established();
	send_window();
	cwnd = c->cc.cwnd;
	ip_double_drain(&h.ip);
	p.ack += 500;
	peer_send(&p, TCP_ECE, NULL, 0);
	assert_true(c->cc.ssthresh < cwnd);
	cwnd = c->cc.ssthresh;
	for (int i = 0; i < 5; i++) { /* the same window */
		p.ack += 500;
		peer_send(&p, TCP_ECE, NULL, 0);
	}
	assert_int_equal(p.ack, c->snd_nxt);
	assert_int_equal(c->cc.ssthresh, cwnd);
	assert_int_equal(c->cc.cwnd, cwnd);
	/* CWR on the first new text only. */
	app_send(&h.app, "a", 1);
	app_send(&h.app, "b", 1);
	assert_int_equal(next_codepoint(), TCP_ECN_ECT0);
	assert_true(a.h.flags & TCP_CWR);
	host_expect(&h, &a);
	assert_false(a.h.flags & TCP_CWR);
	/* The next window may be marked anew. */
	ack_with(TCP_ECE);
	assert_true(c->cc.cwnd < cwnd || cwnd <= 2 * c->cc.smss);
	assert_int_equal(c->ece_received, 7);
	assert_int_equal(c->retransmits, 0);
	host_end(&h);
}

/** The next hop cannot be reached: what is sent again is no new text, so CWR waits for some. */
static void test_cwr_that_did_not_leave(void **state)
{
	established();
	send_window();
	ip_double_drain(&h.ip);
	ack_with(TCP_ECE);
	h.ip.send_error = -EHOSTUNREACH;
	app_send(&h.app, "a", 1);
	h.ip.send_error = 0;
	assert_true(c->cwr_pending);
	app_send(&h.app, "b", 1);
	assert_int_equal(next_codepoint(), TCP_ECN_ECT0);
	assert_true(a.h.flags & TCP_CWR);
	assert_int_equal(a.len, 1);
	assert_int_equal(a.text[0], 'b');
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** ACKs of what was sent before the CWR still carry ECE: they call for no other. */
static void test_old_echoes_cause_no_second_cwr(void **state)
{
	established();
	send_window();
	ip_double_drain(&h.ip);
	p.ack += 500;
	peer_send(&p, TCP_ECE, NULL, 0);
	app_send(&h.app, "a", 1);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_CWR);
	p.ack += 500;
	peer_send(&p, TCP_ECE, NULL, 0);
	app_send(&h.app, "b", 1);
	host_expect(&h, &a);
	assert_false(a.h.flags & TCP_CWR);
	host_end(&h);
}

/* What it tells is of a window that was reduced for it before. */
static void test_overtaken_echo_is_no_second_one(void **state)
{
	uint32_t una, ssthresh;

	established();
	send_window();
	ip_double_drain(&h.ip);
	una = p.ack += 500;
	peer_send(&p, TCP_ECE, NULL, 0);
	ssthresh = c->cc.ssthresh;
	app_send(&h.app, "a", 1);
	ip_double_drain(&h.ip);
	ack_with(0);
	assert_int_equal(tcp_flight(c), 0);
	peer_send_at(&p, TCP_ACK | TCP_ECE, p.seq, una + 500, NULL, 0);
	assert_int_equal(c->cc.ssthresh, ssthresh);
	app_send(&h.app, "b", 1);
	host_expect(&h, &a);
	assert_false(a.h.flags & TCP_CWR);
	host_end(&h);
}

static void test_echo_without_negotiation_is_nothing(void **state)
{
	uint32_t cwnd;

	start_asking();
	answer(0);
	send_window();
	ip_double_drain(&h.ip);
	cwnd = c->cc.cwnd;
	p.ack += 500;
	peer_send(&p, TCP_ECE, NULL, 0);
	assert_true(c->cc.cwnd >= cwnd);
	app_send(&h.app, "a", 1);
	assert_int_equal(next_codepoint(), 0);
	assert_false(a.h.flags & TCP_CWR);
	host_end(&h);
}

/** A middlebox that sets ECE on everything costs speed until it is found out. */
static void test_echo_for_ever_is_not_believed(void **state)
{
	unsigned rounds = 0;
	uint32_t cwnd;

	established();
	while (!c->ecn.distrusted && rounds++ < 100) {
		send_window();
		host_advance(&h, 10 * MS);
		ip_double_drain(&h.ip);
		ack_with(TCP_ECE);
		ip_double_drain(&h.ip);
	}
	assert_in_range(rounds, 16, 40);
	cwnd = c->cc.cwnd;
	for (int i = 0; i < 20; i++) {
		send_window();
		ack_with(TCP_ECE);
		while (ip_double_pending(&h.ip))
			assert_int_equal(next_codepoint(), 0);
	}
	assert_true(c->cc.cwnd > cwnd);
	host_end(&h);
}

/* ---- as the receiver ----------------------------------------------------------------------- */

static void test_mark_is_echoed_until_cwr(void **state)
{
	struct tcp_info info;

	established();
	c->quick_acks = 0;
	text_with(0, TCP_ECN_ECT0);
	host_expect_none(&h);
	text_with(0, TCP_ECN_CE);
	host_expect(&h, &a); /* at once */
	assert_int_equal(a.h.flags, TCP_ACK | TCP_ECE);
	text_with(0, TCP_ECN_ECT0);
	host_advance(&h, 100 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK | TCP_ECE);
	app_send(&h.app, "abc", 3); /* and on text */
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_ECE);
	text_with(TCP_CWR, TCP_ECN_ECT0);
	host_advance(&h, 100 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	tcp_get_info(h.app.llp, &info);
	assert_int_equal(info.ce_received, 1);
	host_end(&h);
}

static void test_cwr_on_a_marked_segment_starts_anew(void **state)
{
	established();
	text_with(0, TCP_ECN_CE);
	ip_double_drain(&h.ip);
	text_with(TCP_CWR, TCP_ECN_CE);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK | TCP_ECE);
	host_end(&h);
}

static void test_mark_counts_only_on_acceptable_text(void **state)
{
	established();
	h.ip.rx_tos = TCP_ECN_CE;
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, NULL, 0);            /* no text */
	peer_send_at(&p, TCP_ACK, p.seq + 200000000, p.ack, "x", 1); /* beyond the window */
	peer_send_at(&p, TCP_ACK, p.seq, c->snd_nxt + 1000, "x", 1); /* a blind guess */
	assert_int_equal(c->ce_received, 0);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1); /* out of order is as good */
	assert_int_equal(c->ce_received, 1);
	host_end(&h);
}

static void test_reset_has_no_echo(void **state)
{
	established();
	text_with(0, TCP_ECN_CE);
	ip_double_drain(&h.ip);
	llp_abort(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_does_not_accept),
		cmocka_unit_test(test_repeated_syn_ack_keeps_the_answer),
		cmocka_unit_test(test_syn_comes_again_without),
		cmocka_unit_test(test_syn_comes_again_with_a_mark),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_does_not_ask_by_default),
		cmocka_unit_test(test_falls_back),
		cmocka_unit_test(test_only_new_text_is_ect),
		cmocka_unit_test(test_window_probe_is_not_ect),
		cmocka_unit_test(test_echo_slows_down_once_per_window),
		cmocka_unit_test(test_cwr_that_did_not_leave),
		cmocka_unit_test(test_old_echoes_cause_no_second_cwr),
		cmocka_unit_test(test_overtaken_echo_is_no_second_one),
		cmocka_unit_test(test_echo_without_negotiation_is_nothing),
		cmocka_unit_test(test_echo_for_ever_is_not_believed),
		cmocka_unit_test(test_mark_is_echoed_until_cwr),
		cmocka_unit_test(test_cwr_on_a_marked_segment_starts_anew),
		cmocka_unit_test(test_mark_counts_only_on_acceptable_text),
		cmocka_unit_test(test_reset_has_no_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
