/* SPDX-License-Identifier: BSD-2-Clause */
/** Records that are longer than what may be sent of them. */
#include "host.h"

#include "tcp/ecn.h"

#include <rte_mbuf.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(void)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
}

static void end(void)
{
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The peer has all before @p ack; no round ends. */
static void hear_ack(uint32_t ack)
{
	host_hear(&h, PORT,
		&(struct tcp_segment){.seq = p.seq, .ack = ack, .flags = TCP_ACK, .wnd = p.wnd},
		NULL);
}

/** There is no packet for the rest, whether the path is known to be narrower or says so only then.
 */
static void test_no_packet_for_the_rest(void **state)
{
	for (unsigned known = 0; known < 2; known++) {
		start();
		app_queue(&h.app, 1460, false);
		h.ip.path_mtu = 1000;
		if (known)
			c->path.mtu = 1000;
		host_take_packets(&h, 0);
		llp_push(h.app.llp);
		host_expect_none(&h);
		assert_int_equal(llp_emss(h.app.llp), 960);
		assert_int_equal(c->sendq.count, 1);
		assert_int_equal(tcp_flight(c), 0);
		host_round(&h);
		host_expect_none(&h);
		host_give_packets(&h);
		host_round(&h);
		host_expect_text(&h, p.ack, 960);
		host_expect_text(&h, p.ack + 960, 500);
		assert_int_equal(h.tcp->tx_held, 2);
		end();
	}
}

/** What was acknowledged in this round is as good as the pool's. */
static void test_the_last_packet_is_one_of_the_round(void **state)
{
	start();
	app_queue(&h.app, 100, false);
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 100);
	host_take_packets(&h, 1);
	hear_ack(p.ack + 100);
	host_take_packets(&h, 0);
	host_give_packets(&h);
	app_queue(&h.app, 1460, false);
	host_take_packets(&h, 0);
	assert_int_equal(h.tcp->mbuf_cache.n, 1);
	h.ip.path_mtu = c->path.mtu = 1000;
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack + 100, 960);
	host_expect_text(&h, p.ack + 1060, 500);
	host_give_packets(&h);
	end();
}

/** It is the port's still, and there is no packet for a copy; nor for one of the round. */
static void test_no_packet_for_a_copy(void **state)
{
	for (unsigned of_round = 0; of_round < 2; of_round++) {
		struct rte_mbuf *held;

		start();
		app_queue(&h.app, 100, false);
		llp_push(h.app.llp);
		host_expect_text(&h, p.ack, 100);
		app_queue(&h.app, 700, false);
		llp_push(h.app.llp);
		held = ip_double_take(&h.ip);
		host_take_packets(&h, 1);
		hear_ack(p.ack + 100);
		if (!of_round)
			host_round(&h);
		host_take_packets(&h, 0);
		tcp_sendq_lose(&c->sendq, 0);
		llp_push(h.app.llp);
		if (of_round)
			host_expect_text(&h, p.ack + 100, 700);
		host_expect_none(&h);
		host_give_packets(&h);
		host_round(&h);
		if (!of_round)
			host_expect_text(&h, p.ack + 100, 700);
		host_expect_none(&h);
		rte_pktmbuf_free(held);
		end();
	}
}

/** One that is too long already does not get longer. */
static void test_nothing_joins_what_is_too_long(void **state)
{
	start();
	app_queue(&h.app, 1000, false);
	c->peer_mss = 500;
	tcp_conn_update_emss(c);
	app_queue(&h.app, 10, true);
	assert_int_equal(c->sendq.count, 2);
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 500);
	host_expect_text(&h, p.ack + 500, 500);
	host_expect_text(&h, p.ack + 1000, 10);
	end();
	/* Nor does one that may become longer than its packet. */
	start();
	app_queue(&h.app, 1000, false);
	c->emss = 2048;
	app_queue(&h.app, 900, true);
	assert_int_equal(c->sendq.count, 1);
	app_queue(&h.app, 100, true);
	assert_int_equal(c->sendq.count, 2);
	end();
}

/** What answers the peer's marks is in what leaves, not in what the path did not take. */
static void test_a_reduced_window_is_told_by_what_leaves(void **state)
{
	start();
	c->ecn.on = c->cwr_pending = true;
	app_queue(&h.app, 1460, false);
	h.ip.path_mtu = 1000;
	llp_push(h.app.llp);
	assert_true(host_expect_text(&h, p.ack, 960) & TCP_CWR);
	assert_false(host_expect_text(&h, p.ack + 960, 500) & TCP_CWR);
	assert_int_equal(c->bytes_sent, 1460);
	end();
}

/**
 * Text with a FIN, in a window that shrank to the text: it goes, as a probe. Neither then nor when
 * the window has opened is it new text for the path's marks.
 */
static void test_a_fin_behind_the_window(void **state)
{
	uint32_t seq;

	start();
	seq = p.ack;
	c->ecn.on = true;
	c->cc.cwnd = 10;
	app_queue(&h.app, 10, false);
	app_queue(&h.app, 700, false);
	llp_push(h.app.llp);
	llp_shutdown(h.app.llp);
	assert_int_equal(c->sendq.count, 2); /* the FIN has no record of its own */
	host_expect_text(&h, seq, 10);
	p.wnd = 700;
	peer_send_at(&p, TCP_ACK, p.seq, seq + 10, NULL, 0);
	assert_true(c->persist);
	host_expect_none(&h);
	while (!ip_double_pending(&h.ip))
		host_advance(&h, 100 * MS);
	assert_true(host_expect_text(&h, seq + 10, 700) & TCP_FIN);
	assert_int_equal(h.ip.taken_tos & TCP_ECN_MASK, 0);
	assert_int_equal(c->snd_nxt, seq + 10);
	assert_int_equal(c->snd_max, seq + 711);
	peer_send_at(&p, TCP_ACK, p.seq, seq + 310, NULL, 0); /* some of it was taken */
	p.wnd = 60000;
	peer_send_at(&p, TCP_ACK, p.seq, seq + 310, NULL, 0);
	assert_true(host_expect_text(&h, seq + 310, 400) & TCP_FIN);
	assert_int_equal(h.ip.taken_tos & TCP_ECN_MASK, 0);
	peer_send_at(&p, TCP_ACK, p.seq, seq + 711, NULL, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	end();
}

/** The peer shrinks its window once more: what it was sent already, with the FIN, is cut. */
static void test_a_fin_behind_the_window_is_cut_off(void **state)
{
	uint32_t seq;

	start();
	seq = p.ack;
	c->cc.cwnd = 10;
	app_queue(&h.app, 10, false);
	app_queue(&h.app, 700, false);
	llp_push(h.app.llp);
	llp_shutdown(h.app.llp);
	host_expect_text(&h, seq, 10);
	p.wnd = 700;
	peer_send_at(&p, TCP_ACK, p.seq, seq + 10, NULL, 0);
	while (!ip_double_pending(&h.ip))
		host_advance(&h, 100 * MS);
	assert_true(host_expect_text(&h, seq + 10, 700) & TCP_FIN);
	p.wnd = 300;
	peer_send_at(&p, TCP_ACK, p.seq, seq + 10, NULL, 0);
	while (c->sendq.count == 1)
		host_advance(&h, 100 * MS);
	ip_double_drain(&h.ip);
	assert_int_equal(tcp_flight(c), 300);
	/* All of it had come, after all. */
	peer_send_at(&p, TCP_ACK, p.seq, seq + 711, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
	assert_int_equal(c->snd_nxt, seq + 711);
	assert_int_equal(h.tcp->tx_held, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_packet_for_the_rest),
		cmocka_unit_test(test_the_last_packet_is_one_of_the_round),
		cmocka_unit_test(test_no_packet_for_a_copy),
		cmocka_unit_test(test_nothing_joins_what_is_too_long),
		cmocka_unit_test(test_a_reduced_window_is_told_by_what_leaves),
		cmocka_unit_test(test_a_fin_behind_the_window),
		cmocka_unit_test(test_a_fin_behind_the_window_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
