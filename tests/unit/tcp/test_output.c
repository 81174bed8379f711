/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/digest.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

static void expect_text(uint32_t seq, uint32_t len)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.seq, seq);
	assert_int_equal(a.len, len);
}

/** Queue a record without letting it go. */
static void queue(uint32_t len, bool join)
{
	void *room = llp_reserve(h.app.llp, len, join);

	assert_non_null(room);
	memset(room, 'q', len);
	llp_commit(h.app.llp, len);
}

/** The same, and say what its sum is: the double of IP compares it. */
static void queue_summed(uint32_t len, bool join)
{
	struct digest d = {0};
	uint8_t *room = llp_reserve(h.app.llp, len, join);

	assert_non_null(room);
	for (uint32_t i = 0; i < len; i++)
		room[i] = (uint8_t)(len + i * 5);
	digest_add(&d, DIGEST_SUM, room, len);
	llp_commit_summed(h.app.llp, len, digest_fold(d.sum));
}

/** What was known of the segment that goes out now. */
static void expect_known(uint32_t seq, uint32_t len, uint32_t known)
{
	expect_text(seq, len);
	assert_int_equal(h.ip.text_sum.len, known);
}

/** The segments of one push have the header of the first, but for what tells of the text. */
static void expect_alike(const uint16_t *len, unsigned n)
{
	struct heard first, a;
	uint32_t seq = p.ack;

	for (unsigned i = 0; i < n; i++) {
		host_expect(&h, &a);
		if (i == 0)
			first = a;
		assert_int_equal(a.h.seq, seq);
		assert_int_equal(a.len, len[i]);
		assert_int_equal(a.h.flags, i + 1 < n ? TCP_ACK : TCP_ACK | TCP_PSH);
		assert_int_equal(a.h.sport, PORT);
		assert_int_equal(a.h.dport, RPORT);
		assert_int_equal(a.h.ack, p.seq);
		assert_int_equal(a.h.wnd, first.h.wnd);
		assert_int_equal(a.h.has, first.h.has);
		if (a.h.has & TCP_HAS_TS) {
			assert_int_equal(a.h.tsval, first.h.tsval);
			assert_int_equal(a.h.tsecr, first.h.tsecr);
		}
		for (uint32_t k = 0; k < a.len; k++)
			assert_int_equal(a.text[k], (uint8_t)(a.len + k * 5));
		seq += a.len;
	}
	host_expect_none(&h);
	assert_int_equal(c->segments_out, n);
	assert_int_equal(c->bytes_sent, seq - p.ack);
}

static void test_segments_alike(void **state)
{
	/* The second, third and fourth like the first; the eighth like the seventh; the last has
	 * PSH. */
	static const uint16_t len[] = {1400, 1400, 1400, 1400, 600, 500, 700, 700, 700};
	static const unsigned options[] = {TCP_HAS_MSS, TCP_HAS_MSS | TCP_HAS_TS};

	for (unsigned k = 0; k < 2; k++) {
		start(options[k]);
		c->segments_out = 0;
		for (unsigned i = 0; i < sizeof len / sizeof *len; i++)
			queue_summed(len[i], false);
		llp_push(h.app.llp);
		assert_int_equal(h.ip.alike, 4);
		expect_alike(len, sizeof len / sizeof *len);
		host_end(&h);
	}
}

static unsigned alike_of(unsigned n)
{
	h.ip.alike = 0;
	for (unsigned i = 0; i < n; i++)
		queue_summed(500, false);
	llp_push(h.app.llp);
	ip_double_drain(&h.ip);
	p.ack += n * 500;
	return h.ip.alike;
}

static void test_what_has_a_header_of_its_own(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	assert_int_equal(alike_of(5), 3);
	peer_send(&p, 0, NULL, 0);
	/* The first after a reduction has CWR. */
	c->ecn.on = true;
	c->cwr_pending = true;
	assert_int_equal(alike_of(5), 2);
	assert_false(c->cwr_pending);
	peer_send(&p, 0, NULL, 0);
	/* A sum that is not known. */
	h.ip.alike = 0;
	for (unsigned i = 0; i < 4; i++)
		queue(500, false);
	llp_push(h.app.llp);
	assert_int_equal(h.ip.alike, 0);
	ip_double_drain(&h.ip);
	p.ack += 2000;
	peer_send(&p, 0, NULL, 0);
	/* All that has been sent before. */
	assert_int_equal(alike_of(4), 2);
	h.ip.alike = 0;
	host_advance(&h, 5000 * MS);
	assert_true(c->retransmits >= 1);
	assert_int_equal(h.ip.alike, 0);
	ip_double_drain(&h.ip);
	peer_send(&p, 0, NULL, 0);
	/* There is something to tell by SACK. */
	peer_send_at(&p, TCP_ACK, p.seq + 100, p.ack, "x", 1);
	ip_double_drain(&h.ip);
	assert_int_equal(alike_of(4), 0);
	host_end(&h);
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
	queue(100, false);
	queue(100, false);
	queue(100, false);
	expedited_from = 3;
	llp_push(h.app.llp);
	assert_int_equal(expedited, 1);
	assert_int_equal(c->sendq.nxt, 3);
	/* One that has to wait lets none go. */
	queue(100, false);
	host_round(&h);
	assert_int_equal(expedited, 1);
	expedited_from = 4;
	llp_push(h.app.llp);
	assert_int_equal(expedited, 2);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_a_sum_stays_with_its_record(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_TS);
	assert_true(llp_sums(h.app.llp));
	queue_summed(701, false);
	llp_push(h.app.llp);
	expect_known(p.ack, 701, 701);
	host_advance(&h, 500 * MS);
	expect_known(p.ack, 701, 701);
	h.ip.no_sums = true;
	assert_false(llp_sums(h.app.llp));
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_sums_of_records_that_join(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(101, false);
	queue_summed(200, true); /* at an odd place */
	queue_summed(33, true);
	llp_push(h.app.llp);
	expect_known(p.ack, 334, 334);
	queue_summed(100, false);
	queue(10, true); /* nobody knows */
	queue_summed(100, true);
	llp_push(h.app.llp);
	expect_known(p.ack + 334, 210, 0);
	queue(10, false);
	queue_summed(100, true);
	llp_push(h.app.llp);
	expect_known(p.ack + 544, 110, 0);
	host_end(&h);
}

static void test_a_record_that_is_cut_has_no_sum(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(1460, false);
	h.ip.path_mtu = 1000;
	llp_push(h.app.llp);
	assert_int_equal(ip_double_pending(&h.ip), 2);
	assert_int_equal(h.ip.text_sum.len, 0);
	expect_text(p.ack, 960);
	expect_text(p.ack + 960, 500);
	p.ack += 960;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 1500 * MS);
	expect_known(p.ack, 500, 0);
	host_end(&h);
}

static void test_a_record_that_is_taken_in_part_has_no_sum(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(700, false);
	llp_push(h.app.llp);
	expect_known(p.ack, 700, 700);
	p.ack += 300;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 1500 * MS);
	expect_known(p.ack, 400, 0);
	host_end(&h);
}

static void test_a_record_is_a_segment(void **state)
{
	struct heard a;

	start(TCP_HAS_MSS);
	queue(100, false);
	queue(1460, false);
	queue(50, false);
	host_round(&h);
	host_expect_none(&h); /* not before the push */
	llp_push(h.app.llp);
	expect_text(p.ack, 100);
	expect_text(p.ack + 100, 1460);
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
	queue(100, false);
	queue(200, true);
	queue(1160, true); /* exactly full */
	queue(1, true);    /* no more */
	queue(5, false);
	llp_push(h.app.llp);
	expect_text(p.ack, 1460);
	expect_text(p.ack + 1460, 1);
	expect_text(p.ack + 1461, 5);
	queue(5, true); /* what was sent is not joined */
	llp_push(h.app.llp);
	expect_text(p.ack + 1466, 5);
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
		queue(1460, false);
	llp_push(h.app.llp);
	assert_int_equal(ip_double_pending(&h.ip), 10);
	ip_double_drain(&h.ip);
	/* Slow start: each acknowledged segment lets two out. */
	p.ack += 2 * 1460;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(ip_double_pending(&h.ip), 4);
	host_end(&h);
}

static void test_window_is_not_cut_to(void **state)
{
	start(TCP_HAS_MSS);
	p.wnd = 1500;
	peer_send(&p, 0, NULL, 0);
	queue(1000, false);
	queue(1000, false);
	llp_push(h.app.llp);
	expect_text(p.ack, 1000);
	host_expect_none(&h);
	p.ack += 1000;
	peer_send(&p, 0, NULL, 0);
	expect_text(p.ack, 1000);
	host_end(&h);
}

/** A closed window says nothing of the network: rates are lower bounds then, as with a user that
 *  pauses. */
static void test_the_peers_window_is_not_the_network(void **state)
{
	start(TCP_HAS_MSS);
	p.wnd = 2000;
	peer_send(&p, 0, NULL, 0);
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
	start(TCP_HAS_MSS);
	p.wnd = wnd;
	peer_send(&p, 0, NULL, 0);
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
	expect_text(p.ack, 700);
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
		expect_text(p.ack, 300);
		host_expect_none(&h);
		p.ack += 300;
		peer_send(&p, 0, NULL, 0);
	}
	expect_text(p.ack, 100);
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
	expect_text(p.ack, 310);
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
	expect_text(p.ack, 300);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** A FIN needs no room: it goes to a closed window. The peer may take it. */
static void test_fin_goes_to_a_closed_window(void **state)
{
	struct heard a;

	start(TCP_HAS_MSS);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
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
	expect_text(p.ack, 700);
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
	queue(1460, false);
	h.ip.path_mtu = 1000; /* ip_send() says -EMSGSIZE */
	llp_push(h.app.llp);
	expect_text(p.ack, 960);
	expect_text(p.ack + 960, 500);
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
	expect_text(p.ack, 3);
	host_end(&h);
}

static void test_empty_pool_is_survived(void **state)
{
	start(TCP_HAS_MSS);
	queue(100, false);
	host_take_packets(&h, 0);
	assert_null(llp_reserve(h.app.llp, 10, false));
	llp_push(h.app.llp); /* needs no packet */
	expect_text(p.ack, 100);
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
	queue(640, false);
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
		cmocka_unit_test(test_segments_alike),
		cmocka_unit_test(test_what_has_a_header_of_its_own),
		cmocka_unit_test(test_a_sum_stays_with_its_record),
		cmocka_unit_test(test_sums_of_records_that_join),
		cmocka_unit_test(test_a_record_that_is_cut_has_no_sum),
		cmocka_unit_test(test_a_record_that_is_taken_in_part_has_no_sum),
		cmocka_unit_test(test_records_join),
		cmocka_unit_test(test_timestamps_come_out_of_the_segment),
		cmocka_unit_test(test_initial_window),
		cmocka_unit_test(test_window_is_not_cut_to),
		cmocka_unit_test(test_the_peers_window_is_not_the_network),
		cmocka_unit_test(test_closed_window_is_probed_without_text),
		cmocka_unit_test(test_narrow_window_gets_what_fits),
		cmocka_unit_test(test_narrow_window_that_moves_is_probed),
		cmocka_unit_test(test_narrow_window_without_a_packet_is_probed),
		cmocka_unit_test(test_fin_goes_to_a_closed_window),
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
