/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct host h;
static struct peer p;

static void hear(const struct ip_rx *flags, struct rte_mbuf *m)
{
	struct ip_rx rx = *flags;

	rx.src = addr(REMOTE);
	rx.dst = addr(LOCAL);
	h.ip.transport.input(h.ip.transport.ctx, &rx, m, h.now);
}

/** A segment with @p text in sequence. */
static struct rte_mbuf *segment(const char *text)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h.pool);
	const struct tcp_segment s = {.sport = RPORT,
		.dport = PORT,
		.seq = p.seq,
		.ack = p.ack,
		.flags = TCP_ACK,
		.wnd = 5000};
	unsigned n = tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *));

	rte_pktmbuf_append(m, (uint16_t)(n + strlen(text)));
	memcpy(rte_pktmbuf_mtod_offset(m, char *, n), text, strlen(text));
	return m;
}

static void start(void)
{
	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, 0);
}

static void test_bad_checksum(void **state)
{
	start();
	hear(&(struct ip_rx){.l4_cksum_bad = true}, segment("abc"));
	hear(&(struct ip_rx){0}, segment("abc")); /* the double says wrong */
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_cksum, 2);
	assert_int_equal(h.app.n_got, 0);
	hear(&(struct ip_rx){.l4_cksum_good = true}, segment("abc"));
	assert_int_equal(h.app.n_got, 3);
	host_end(&h);
}

static void test_bad_header(void **state)
{
	static const uint8_t shorts[20] = {0};

	start();
	for (unsigned n = 0; n <= 20; n++)
		hear(&(struct ip_rx){.l4_cksum_good = true}, test_packet(h.pool, shorts, n));
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_header, 21);
	host_expect_none(&h);
	host_end(&h);
}

static void test_chains_cut_anywhere(void **state)
{
	start();
	for (uint16_t cut = 1; cut < 26; cut++) {
		struct rte_mbuf *m = segment("abcdef");
		struct rte_mbuf *rest = test_packet(
			h.pool, rte_pktmbuf_mtod_offset(m, void *, cut), m->data_len - cut);

		rte_pktmbuf_trim(m, (uint16_t)(m->data_len - cut));
		assert_int_equal(rte_pktmbuf_chain(m, rest), 0);
		h.app.n_got = 0;
		hear(&(struct ip_rx){.l4_cksum_good = true}, m);
		assert_int_equal(h.app.n_got, 6);
		assert_memory_equal(h.app.got, "abcdef", 6);
		p.seq += 6;
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_header, 0);
	host_end(&h);
}

/** The fast path and the slow one give the same result: URG takes the slow one. */
static void test_both_roads_agree(void **state)
{
	struct tcp_info a, b;

	for (int urg = 0; urg < 2; urg++) {
		start();
		for (int i = 0; i < 40; i++) {
			app_send(&h.app, "ping", 4);
			p.ack += 4;
			peer_send(&p, urg ? TCP_URG : 0, "pong!", 5);
		}
		assert_int_equal(h.app.n_got, 200);
		tcp_get_info(h.app.llp, urg ? &b : &a);
		host_end(&h);
	}
	assert_int_equal(a.segments_in, b.segments_in);
	assert_int_equal(a.segments_out, b.segments_out);
	assert_int_equal(a.bytes_acked, b.bytes_acked);
	assert_int_equal(a.bytes_received, b.bytes_received);
	assert_int_equal(a.cwnd, b.cwnd);
	assert_int_equal(a.rto, b.rto);
	assert_int_equal(a.snd_wnd, b.snd_wnd);
	assert_int_equal(a.rcv_wnd, b.rcv_wnd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_checksum),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test(test_chains_cut_anywhere),
		cmocka_unit_test(test_both_roads_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
