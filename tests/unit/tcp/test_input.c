/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/digest.h"
#include "base/prng.h"

#include <rte_mbuf.h>

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

/* ---- CRCs that are made in the same pass as the sum -------------------------------------------
 */

#define STREAM 40000

static uint8_t stream[STREAM];
static size_t covers;
static unsigned known, crc_pieces;
static struct llp_user_ops crc_ops;

static size_t crc_covers(const void *user, const uint8_t *text, size_t len)
{
	return covers;
}

/** Of whatever is shown, what is said of it is true. */
static void crc_look(const struct llp_iov *v, unsigned n)
{
	known = 0;
	crc_pieces = n;
	for (unsigned i = 0; i < n; i++) {
		struct digest d = {.crc = DIGEST_CRC_START};

		if (v[i].crc_len == 0)
			continue;
		assert_true(v[i].crc_len <= v[i].len);
		digest_add(&d, DIGEST_CRC, v[i].base, v[i].crc_len);
		assert_int_equal(v[i].crc, d.crc);
		known++;
	}
}

static size_t crc_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	crc_look(v, n);
	return app_ops.readable(user, v, n, total, need);
}

static bool crc_ooo(void *user, const struct llp_iov *v, unsigned n, size_t total, uint64_t ahead,
	struct llp_note *note)
{
	crc_look(v, n);
	return false;
}

static void crc_start(void)
{
	struct prng random = {1071};

	host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED, NULL);
	for (size_t i = 0; i < sizeof stream; i++)
		stream[i] = (uint8_t)prng_u64(&random);
	crc_ops = app_ops;
	crc_ops.readable = crc_readable;
	crc_ops.ooo = crc_ooo;
	crc_ops.crc_covers = crc_covers;
	llp_set_user(h.app.llp, &crc_ops, &h.app);
	h.ip.rx_unchecked = true;
	known = 0;
}

static void test_crc_comes_with_the_text(void **state)
{
	crc_start();
	covers = 700;
	peer_send(&p, 0, stream, 1000);
	assert_int_equal(known, 1);
	h.app.need = 2500; /* left in the queue, and shown with what follows */
	h.app.take = 0;
	peer_send(&p, 0, stream, 1400);
	assert_int_equal(known, 1);
	covers = 1201;
	peer_send(&p, 0, stream, 1201);
	assert_int_equal(crc_pieces, 2);
	assert_int_equal(known, 2);
	h.ip.rx_unchecked = false; /* the port's work: nobody goes over the text */
	h.app.take = SIZE_MAX;
	peer_send(&p, 0, stream, 1300);
	assert_int_equal(crc_pieces, 3);
	assert_int_equal(known, 2);
	host_end(&h);
}

/**
 * Not where text is in pieces, nor where its user says more than it was shown: all of the segment
 * is summed then, and to that the double says that it is wrong.
 */
static void test_no_crc_of_pieces_or_of_too_much(void **state)
{
	struct rte_mbuf *m;

	crc_start();
	covers = 4;
	hear(&(struct ip_rx){0}, segment("abc"));
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_cksum, 1);
	covers = 3;
	m = segment("abc");
	assert_int_equal(rte_pktmbuf_chain(m, test_packet(h.pool, "def", 3)), 0);
	hear(&(struct ip_rx){0}, m);
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_cksum, 2);
	assert_int_equal(known, 0);
	hear(&(struct ip_rx){0}, segment("abc"));
	assert_int_equal(tcp_stack_stats(h.tcp)->bad_cksum, 2);
	assert_int_equal(known, 1);
	host_end(&h);
}

static void test_crc_goes_with_what_is_cut_off(void **state)
{
	crc_start();
	covers = 700;
	h.app.take = 10;
	h.app.need = 2000;
	peer_send(&p, 0, stream, 1000);
	assert_int_equal(known, 1);
	h.app.take = SIZE_MAX;
	h.app.need = 0;
	peer_send(&p, 0, stream, 1010);
	assert_int_equal(crc_pieces, 2);
	assert_int_equal(known, 1);
	/* What was received before is cut off the front. */
	peer_send_at(&p, TCP_ACK, p.seq - 100, p.ack, stream, 1100);
	assert_int_equal(crc_pieces, 1);
	assert_int_equal(known, 0);
	host_end(&h);
}

/* Segments anywhere, again and again: gaps are filled in part, and several by one. */
static void test_crc_is_true_wherever_text_comes_from(void **state)
{
	struct prng random = {5681};
	unsigned seen = 0;
	uint32_t first;

	crc_start();
	first = p.seq;
	h.app.n_got = 0;
	h.app.take = SIZE_MAX;
	for (unsigned i = 0; i < 4000 && h.app.n_got < STREAM; i++) {
		uint32_t at = (uint32_t)h.app.n_got + (uint32_t)prng_below(&random, 9000);
		uint32_t len = 1 + (uint32_t)prng_below(&random, 1460);

		if (prng_chance(&random, 0.2))
			at = (uint32_t)h.app.n_got - (uint32_t)prng_below(&random, h.app.n_got + 1);
		if (at >= STREAM)
			continue;
		len = len < STREAM - at ? len : STREAM - at;
		covers = prng_below(&random, len + 1);
		known = 0;
		peer_send_at(&p, TCP_ACK, first + at, p.ack, stream + at, len);
		seen += known;
		ip_double_drain(&h.ip);
	}
	assert_int_equal(h.app.n_got, STREAM);
	assert_memory_equal(h.app.got, stream, STREAM);
	assert_true(seen > 20);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_checksum),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test(test_chains_cut_anywhere),
		cmocka_unit_test(test_both_roads_agree),
		cmocka_unit_test(test_crc_comes_with_the_text),
		cmocka_unit_test(test_no_crc_of_pieces_or_of_too_much),
		cmocka_unit_test(test_crc_goes_with_what_is_cut_off),
		cmocka_unit_test(test_crc_is_true_wherever_text_comes_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
