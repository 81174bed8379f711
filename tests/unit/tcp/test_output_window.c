/* SPDX-License-Identifier: BSD-2-Clause */
/* Records and the window of the peer. */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** A connection whose peer has a window of @p wnd. */
static void start(uint16_t wnd)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	p.wnd = wnd;
	peer_send(&p, 0, NULL, 0);
}

static void test_window_is_not_cut_to(void **state)
{
	start(1500);
	app_queue(&h.app, 1000, false);
	app_queue(&h.app, 1000, false);
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 1000);
	host_expect_none(&h);
	p.ack += 1000;
	peer_send(&p, 0, NULL, 0);
	host_expect_text(&h, p.ack, 1000);
	host_end(&h);
}

/** A closed window says nothing of the network: rates are lower bounds then, as with a user that
 *  pauses. */
static void test_the_peers_window_is_not_the_network(void **state)
{
	start(2000);
	app_send_pattern(&h.app, 0, 1000);
	assert_true(c->rate.app_limited); /* nothing more to send */
	c->rate.app_limited = false;
	app_send_pattern(&h.app, 0, 1000);
	c->rate.app_limited = false;
	app_send_pattern(&h.app, 0, 1000);
	assert_int_equal(tcp_flight(c), 2000);
	assert_true(tcp_pipe(c) < c->cc.cwnd);
	assert_true(c->rate.app_limited);
	ip_double_drain(&h.ip);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The peer has a window of @p wnd for a record of 700 bytes. */
static void send_into_window(uint16_t wnd)
{
	start(wnd);
	app_send_pattern(&h.app, 0, 700);
}

/** The next segment has no text, and is one before what the peer expects. */
static void expect_probe(void)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.len, 0);
	assert_int_equal(a.h.flags, TCP_ACK);
	assert_int_equal(a.h.seq, p.ack - 1);
}

static void test_closed_window_is_probed_without_text(void **state)
{
	send_into_window(0);
	host_expect_none(&h);
	host_advance(&h, 500 * MS);
	expect_probe();
	host_expect_none(&h);
	peer_send(&p, 0, NULL, 0); /* still closed */
	host_advance(&h, 5000 * MS);
	assert_in_range(ip_double_pending(&h.ip), 2, 6); /* ever more slowly */
	ip_double_drain(&h.ip);
	assert_int_equal(tcp_stack_stats(h.tcp)->bytes_out, 0);
	p.wnd = 5000; /* it opens: the record goes out, whole */
	peer_send(&p, 0, NULL, 0);
	host_expect_text(&h, p.ack, 700);
	p.ack += 700;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	host_end(&h);
}

/** One that would never open for a whole record, as with a small buffer, gets what it has room for.
 */
static void test_narrow_window_gets_what_fits(void **state)
{
	send_into_window(300);
	host_expect_none(&h);
	for (unsigned i = 0; i < 2; i++) {
		host_advance(&h, 500 * MS);
		host_expect_text(&h, p.ack, 300);
		host_expect_none(&h);
		p.ack += 300;
		peer_send(&p, 0, NULL, 0);
	}
	host_expect_text(&h, p.ack, 100);
	p.ack += 100;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_unacked(h.app.llp), 0);
	host_end(&h);
}

/** One that has changed since the last probe may be about to open: nothing is cut for it yet. */
static void test_narrow_window_that_moves_is_probed(void **state)
{
	send_into_window(300);
	p.wnd = 310;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 300 * MS);
	expect_probe();
	host_advance(&h, 1000 * MS);
	host_expect_text(&h, p.ack, 310);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_narrow_window_without_a_packet_is_probed(void **state)
{
	send_into_window(300);
	host_take_packets(&h, 0);
	host_advance(&h, 500 * MS);
	assert_true(tcp_stack_stats(h.tcp)->pool_empty > 0);
	assert_int_equal(c->sendq.count, 1); /* it is not cut */
	host_give_packets(&h);
	ip_double_drain(&h.ip);
	host_advance(&h, 1000 * MS);
	host_expect_text(&h, p.ack, 300);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** A FIN needs no room: it goes to a closed window. The peer may take it. */
static void test_fin_goes_to_a_closed_window(void **state)
{
	struct heard a;

	start(0);
	llp_shutdown(h.app.llp);
	host_expect_none(&h);
	host_take_packets(&h, 0); /* there is none for it yet */
	host_advance(&h, 500 * MS);
	host_expect_none(&h);
	host_give_packets(&h);
	host_advance(&h, 400 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack);
	assert_int_equal(a.h.flags, TCP_FIN | TCP_ACK);
	p.ack++;
	peer_send(&p, 0, NULL, 0);
	host_expect_none(&h);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	assert_int_equal(c->snd_nxt, c->snd_una);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_is_not_cut_to),
		cmocka_unit_test(test_the_peers_window_is_not_the_network),
		cmocka_unit_test(test_closed_window_is_probed_without_text),
		cmocka_unit_test(test_narrow_window_gets_what_fits),
		cmocka_unit_test(test_narrow_window_that_moves_is_probed),
		cmocka_unit_test(test_narrow_window_without_a_packet_is_probed),
		cmocka_unit_test(test_fin_goes_to_a_closed_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
