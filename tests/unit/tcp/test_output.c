/* SPDX-License-Identifier: BSD-2-Clause */
/* Records that become segments. */
#include "host.h"

#include <rte_mbuf.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

static unsigned expedited, expedited_from;

/** When the frame could be on its way, what it means for the connection is not yet written down. */
static void expedite(struct ip_stack *s)
{
	expedited++;
	assert_int_equal(ip_double_pending(s), expedited_from);
	assert_int_equal(c->sendq.nxt, c->sendq.count - 1);
}

static void test_the_last_record_is_expedited(void **state)
{
	start(TCP_HAS_MSS);
	expedited = 0;
	h.ip.expedite = expedite;
	app_queue(&h.app, 100, false);
	app_queue(&h.app, 100, false);
	app_queue(&h.app, 100, false);
	expedited_from = 3;
	llp_push(h.app.llp);
	assert_int_equal(expedited, 1);
	assert_int_equal(c->sendq.nxt, 3);
	/* One that has to wait lets none go. */
	app_queue(&h.app, 100, false);
	host_round(&h);
	assert_int_equal(expedited, 1);
	expedited_from = 4;
	llp_push(h.app.llp);
	assert_int_equal(expedited, 2);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_a_record_is_a_segment(void **state)
{
	struct heard a;

	start(TCP_HAS_MSS);
	app_queue(&h.app, 100, false);
	app_queue(&h.app, 1460, false);
	app_queue(&h.app, 50, false);
	host_round(&h);
	host_expect_none(&h); /* not before the push */
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 100);
	host_expect_text(&h, p.ack + 100, 1460);
	host_expect(&h, &a);
	assert_int_equal(a.len, 50);
	assert_int_equal(a.h.flags, TCP_ACK | TCP_PSH);
	assert_int_equal(a.h.ack, p.seq);
	assert_int_equal(a.h.sport, PORT);
	assert_int_equal(a.h.dport, RPORT);
	host_expect_none(&h);
	host_end(&h);
}

static void test_records_join(void **state)
{
	start(TCP_HAS_MSS);
	app_queue(&h.app, 100, false);
	app_queue(&h.app, 200, true);
	app_queue(&h.app, 1160, true); /* exactly full */
	app_queue(&h.app, 1, true);    /* no more */
	app_queue(&h.app, 5, false);
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 1460);
	host_expect_text(&h, p.ack + 1460, 1);
	host_expect_text(&h, p.ack + 1461, 5);
	app_queue(&h.app, 5, true); /* what was sent is not joined */
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack + 1466, 5);
	host_end(&h);
}

static void test_timestamps_come_out_of_the_segment(void **state)
{
	struct heard a;

	start(TCP_HAS_MSS | TCP_HAS_TS);
	assert_int_equal(llp_emss(h.app.llp), 1448);
	app_send_pattern(&h.app, 0, 1448);
	host_expect(&h, &a);
	assert_int_equal(a.h.has, TCP_HAS_TS);
	assert_int_equal(a.h.tsecr, 7000);
	host_end(&h);
}

static void test_initial_window(void **state)
{
	start(TCP_HAS_MSS);
	for (int i = 0; i < 20; i++)
		app_queue(&h.app, 1460, false);
	llp_push(h.app.llp);
	assert_int_equal(ip_double_pending(&h.ip), 10);
	ip_double_drain(&h.ip);
	/* Slow start: each acknowledged segment lets two out. */
	p.ack += 2 * 1460;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(ip_double_pending(&h.ip), 4);
	host_end(&h);
}

static void test_packet_with_the_port_is_not_touched(void **state)
{
	struct rte_mbuf *held;
	uint16_t off;

	start(TCP_HAS_MSS);
	app_send_pattern(&h.app, 0, 700);
	held = ip_double_take(&h.ip); /* the port still has it */
	assert_int_equal(rte_mbuf_refcnt_read(held), 2);
	off = held->data_off;
	held->data_off -= 34; /* as the IP layer leaves it */
	held->data_len += 34;
	held->pkt_len += 34;
	host_advance(&h, 1500 * MS);
	assert_int_equal(held->data_off, off - 34);
	assert_int_equal(held->pkt_len, 20 + 34 + 700);
	assert_int_equal(rte_mbuf_refcnt_read(held), 1);
	host_expect_text(&h, p.ack, 700);
	rte_pktmbuf_free(held);
	host_end(&h);
}

static void test_retransmission_after_ip_headers(void **state)
{
	struct heard a;
	struct rte_mbuf *m;

	start(TCP_HAS_MSS);
	app_send(&h.app, "abcdef", 6);
	m = ip_double_take(&h.ip);
	assert_non_null(rte_pktmbuf_prepend(m, 34));
	rte_pktmbuf_free(m);
	host_advance(&h, 500 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.len, 6);
	assert_memory_equal(a.text, "abcdef", 6);
	host_end(&h);
}

/** The port sent it with another behind it, and is done with both. Each goes again by itself. */
static void test_a_segment_of_a_chain_leaves_it(void **state)
{
	struct rte_mbuf *m, *next;

	start(TCP_HAS_MSS);
	app_send_pattern(&h.app, 0, 400);
	app_send_pattern(&h.app, 400, 400);
	m = ip_double_take(&h.ip);
	next = ip_double_take(&h.ip);
	m->next = next;
	m->nb_segs = 2;
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_ptr_equal(m->next, next);
	host_advance(&h, 1500 * MS);
	assert_ptr_equal(ip_double_take(&h.ip), m);
	assert_null(m->next);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, m->data_len);
	rte_pktmbuf_free(m);
	host_end(&h);
}

static void test_path_shrinks(void **state)
{
	start(TCP_HAS_MSS);
	app_queue(&h.app, 1460, false);
	h.ip.path_mtu = 1000; /* ip_send() says -EMSGSIZE */
	llp_push(h.app.llp);
	host_expect_text(&h, p.ack, 960);
	host_expect_text(&h, p.ack + 960, 500);
	host_expect_none(&h);
	assert_int_equal(llp_emss(h.app.llp), 960);
	host_end(&h);
}

static void test_network_refuses(void **state)
{
	start(TCP_HAS_MSS);
	h.ip.send_error = -113;
	app_send(&h.app, "abc", 3);
	assert_int_equal(h.ip.refused, 1);
	h.ip.send_error = 0;
	host_advance(&h, 500 * MS);
	host_expect_text(&h, p.ack, 3);
	host_end(&h);
}

static void test_empty_pool_is_survived(void **state)
{
	start(TCP_HAS_MSS);
	app_queue(&h.app, 100, false);
	host_take_packets(&h, 0);
	assert_null(llp_reserve(h.app.llp, 10, false));
	llp_push(h.app.llp); /* needs no packet */
	host_expect_text(&h, p.ack, 100);
	llp_shutdown(h.app.llp);
	host_expect_none(&h);
	assert_true(tcp_stack_stats(h.tcp)->pool_empty > 0);
	host_give_packets(&h);
	host_round(&h);
	{
		struct heard a;

		host_expect(&h, &a);
		assert_int_equal(a.h.flags, TCP_FIN | TCP_ACK);
	}
	host_end(&h);
}

static void test_cuttings_do_not_fill_the_pool(void **state)
{
	start(0);
	c->peer_mss = 64;
	tcp_conn_update_emss(c);
	app_queue(&h.app, 640, false);
	h.tcp->tx_limit = 4; /* others have taken the rest */
	llp_push(h.app.llp);
	assert_int_equal(ip_double_pending(&h.ip), 3);
	assert_int_equal(h.tcp->tx_held, 4);
	ip_double_drain(&h.ip);
	for (uint32_t acked = 64; acked < 640; acked += 64) { /* it goes on nevertheless */
		peer_send_at(&p, TCP_ACK, p.seq, p.ack + acked, NULL, 0);
		assert_true(h.tcp->tx_held <= 4);
		ip_double_drain(&h.ip);
	}
	peer_send_at(&p, TCP_ACK, p.seq, p.ack + 640, NULL, 0);
	assert_int_equal(h.tcp->tx_held, 0);
	host_end(&h);
}

/** A round's end waits while one connection has nothing to do but its books. */
static void test_rounds_end_may_wait(void **state)
{
	struct tcp_conn other = {.state = TCP_ESTABLISHED};
	struct tcp_stack *s;

	start(TCP_HAS_MSS);
	s = h.tcp;
	assert_false(tcp_round_end_may_wait(s)); /* there is nothing that waits */
	tcp_conn_mark_dirty(c);
	assert_true(tcp_round_end_may_wait(s));
	c->dirty_next = &other;
	assert_false(tcp_round_end_may_wait(s));
	c->dirty_next = NULL;
	s->tx_wanted = 1;
	assert_false(tcp_round_end_may_wait(s));
	s->tx_wanted = 0;
	s->rx_wanted = 1;
	assert_false(tcp_round_end_may_wait(s));
	s->rx_wanted = 0;
	c->ack_now = true;
	assert_false(tcp_round_end_may_wait(s));
	c->ack_now = false;
	c->acks_watched = true;
	assert_false(tcp_round_end_may_wait(s));
	c->acks_watched = false;
	c->fin_owed = true;
	assert_false(tcp_round_end_may_wait(s));
	c->fin_owed = false;
	c->persist = true;
	assert_false(tcp_round_end_may_wait(s));
	c->persist = false;
	assert_true(tcp_round_end_may_wait(s));
	h.app.llp = NULL;
	llp_abort(host_connect(&h)); /* what has ended shall be freed */
	assert_non_null(s->dead);
	assert_false(tcp_round_end_may_wait(s));
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_record_is_a_segment),
		cmocka_unit_test(test_the_last_record_is_expedited),
		cmocka_unit_test(test_records_join),
		cmocka_unit_test(test_timestamps_come_out_of_the_segment),
		cmocka_unit_test(test_initial_window),
		cmocka_unit_test(test_packet_with_the_port_is_not_touched),
		cmocka_unit_test(test_retransmission_after_ip_headers),
		cmocka_unit_test(test_a_segment_of_a_chain_leaves_it),
		cmocka_unit_test(test_path_shrinks),
		cmocka_unit_test(test_network_refuses),
		cmocka_unit_test(test_empty_pool_is_survived),
		cmocka_unit_test(test_cuttings_do_not_fill_the_pool),
		cmocka_unit_test(test_rounds_end_may_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
