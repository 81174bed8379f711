/* SPDX-License-Identifier: BSD-2-Clause */
/* What IP sends: headers, checksums, and the way to ourselves. */
#include "base/bytes.h"
#include "ip/cksum.h"
#include "ip/stack.h"
#include "ip_case.h"
#include "support/eal.h"

#include <errno.h>
#include <rte_mbuf.h>

static void send_waits_for_the_neighbour(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	ip_case_path(h, &p, "10.0.0.2");
	assert_int_equal(p.mtu, 1500);
	assert_int_equal(ip_case_send(h, &p), 0);
	host_expect(h, IP_CASE_ARP_REQUEST);
	host_expect_nothing(h);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	host_expect(h, IP_CASE_SENT);
	assert_int_equal(ip_case_send(h, &p), 0);
	host_expect(h, IP_CASE_SENT);
	host_free(h);
}

/* What is known of the text's sum is not looked at again: here it is of another text. */
static void send_believes_what_is_known(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	ip_case_path(h, &p, "10.0.0.2");
	host_input_hex(h, IP_CASE_ARP_REPLY);
	assert_true(ip_sums(h->ip, &p, IP_PROTO_TCP));
	assert_int_equal(ip_case_send(h, &p), 0);
	host_expect(h, IP_CASE_SENT);
	/* 9be2 less 0002 for the length and 1234 for the text. */
	assert_int_equal(ip_send_summed(h->ip, &p, IP_PROTO_TCP, host_segment(h, 22),
				 (struct ip_text_sum){2, (uint16_t)cksum_word(0x1234)}, h->now),
		0);
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 00"
		       "45 00 00 2a 00 00 40 00 40 06 26 cc 0a 00 00 01 0a 00 00 02"
		       "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 89 ac 00 00 00 00");
	p.loop = true;
	assert_false(ip_sums(h->ip, &p, IP_PROTO_TCP));
	host_free(h);
}

/* Behind its headers, nobody looks at what a port sums: but for ESP, and for ourselves. */
static void what_the_port_sums_may_be_gathered(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.loop = false};

	assert_false(ip_gathers(h->ip, &p, IP_PROTO_TCP));
	host_free(h);
	h = host_new_offload();
	assert_true(ip_gathers(h->ip, &p, IP_PROTO_TCP));
	p.loop = true;
	assert_false(ip_gathers(h->ip, &p, IP_PROTO_TCP));
	host_free(h);
}

static void send_asks_the_port_for_checksums(void **state)
{
	struct host *h = host_new_offload();
	struct ip_addr a = host_addr("10.0.0.1");
	struct ip_path p;
	struct rte_mbuf *m;

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
	ip_case_path(h, &p, "10.0.0.2");
	(void)ip_case_send(h, &p);
	host_forget(h);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	m = h->tx[0];
	assert_true((m->ol_flags & (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
					   RTE_MBUF_F_TX_TCP_CKSUM)) ==
		    (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM));
	assert_int_equal(m->l2_len, 14);
	assert_int_equal(m->l3_len, 20);
	assert_int_equal(m->l4_len, 20);
	/* The plain sum of the pseudo header: 0a00+0001+0a00+0002+0006+0014. */
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 00"
		       "45 00 00 28 00 00 40 00 40 06 00 00 0a 00 00 01 0a 00 00 02"
		       "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1d 00 00");
	host_free(h);
}

/* A path may ask for a TTL of its own; a packet in pieces has the checksum of the whole. */
static void ttl_and_pieces(void **state)
{
	struct host *h = host_new_v4();
	struct rte_mbuf *m = host_segment(h, 20), *tail = host_segment(h, 3);
	struct ip_path p;

	memcpy(rte_pktmbuf_mtod(tail, uint8_t *), "abc", 3);
	assert_int_equal(rte_pktmbuf_chain(m, tail), 0);
	ip_case_path(h, &p, "10.0.0.2");
	p.ttl = 255;
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, m, h->now), 0);
	host_forget(h);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	/* As of IP_CASE_SENT, with three bytes more: 9be2 less 3, 6162 and 6300. */
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 00"
		       "45 00 00 2b 00 00 40 00 ff 06 67 ca 0a 00 00 01 0a 00 00 02"
		       "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 d7 7c 00 00 61 62 63");
	host_free(h);
}

static unsigned n_looped;

static void count_looped(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	n_looped++;
	rte_pktmbuf_free(m);
}

static void full_loop_drops(void **state)
{
	const struct ip_transport counter = {.input = count_looped};
	struct host *h = host_new_v4();
	struct rte_mempool *mine = h->pool, *large = test_pool("loop", 4095, 128);
	struct rte_mbuf *none = NULL;
	struct ip_path p;

	ip_set_transport(h->ip, 200, &counter);
	ip_case_path(h, &p, "10.0.0.1");
	h->pool = large;
	for (unsigned i = 0; i < 2049; i++)
		assert_int_equal(ip_send(h->ip, &p, 200, host_segment(h, 1), h->now), 0);
	assert_int_equal(test_pool_missing(large), 2048);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 2048);
	assert_int_equal(n_looped, 2048);
	assert_int_equal(test_pool_missing(large), 0);
	assert_int_equal(ip_send(h->ip, &p, 200, host_segment(h, 1), h->now), 0);
	assert_int_equal(ip_stack_stats(h->ip)->loop_full, 1);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
	h->pool = mine;
	rte_mempool_free(large);
	host_free(h);
}

/* ---- both families, by table -----------------------------------------------------------------
 */

static const char *const peers[] = {"10.0.0.2", "fd00::2"};

/* The packet that was sent last, behind its link's header. */
static const uint8_t *sent(struct host *h, unsigned *len)
{
	struct rte_mbuf *m;

	assert_int_equal(h->n_tx, 1);
	m = h->tx[0];
	*len = m->pkt_len - m->l2_len;
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, m->l2_len);
}

/* What fits the path goes whole, an octet more does not go, and is freed. */
static void what_is_too_long_is_refused(void **state)
{
	static const struct {
		uint16_t mtu, len;
		int rc[2]; /* of IPv4, of IPv6 */
	} rows[] = {
		{1500, 1460, {0, 0}},
		{1500, 1461, {0, -EMSGSIZE}},
		{1500, 1480, {0, -EMSGSIZE}},
		{1500, 1481, {-EMSGSIZE, -EMSGSIZE}},
		{1280, 1240, {0, 0}},
		{1280, 1241, {0, -EMSGSIZE}},
		{576, 556, {0, -EMSGSIZE}},
		{576, 557, {-EMSGSIZE, -EMSGSIZE}},
	};
	struct host *h = ip_case_host();

	for (unsigned i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		unsigned v6 = i % 2, len;
		struct ip_path p;

		ip_case_path(h, &p, peers[v6]);
		ip_case_answer(h);
		p.mtu = rows[i / 2].mtu;
		assert_int_equal(
			ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, rows[i / 2].len), h->now),
			rows[i / 2].rc[v6]);
		assert_int_equal(h->n_tx, rows[i / 2].rc[v6] == 0);
		if (rows[i / 2].rc[v6] == 0) {
			(void)sent(h, &len);
			assert_int_equal(len, rows[i / 2].len + (v6 ? 40u : 20u));
		}
		host_forget(h);
	}
	host_free(h);
}

static void headers_are_as_the_path_says(void **state)
{
	static const struct {
		uint8_t tos, ttl, hops; /* hops: on the wire */
	} rows[] = {
		{0, 0, 64},
		{0xff, 1, 1},
		{0x02, 255, 255},
		{0xb8, 63, 63},
	};
	struct host *h = ip_case_host();

	for (unsigned i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		uint8_t tos = rows[i / 2].tos, hops = rows[i / 2].hops;
		struct rte_mbuf *m = host_segment(h, 20);
		const uint8_t *ip;
		struct ip_path p;
		unsigned len;

		ip_case_path(h, &p, peers[i % 2]);
		ip_case_answer(h);
		p.tos = tos;
		p.ttl = rows[i / 2].ttl;
		store_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, 16), 0xdead); /* written over */
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, m, h->now), 0);
		ip = sent(h, &len);
		if (i % 2 == 0) {
			assert_int_equal(ip[0], 0x45);
			assert_int_equal(ip[1], tos);
			assert_int_equal(load_be16(ip + 2), len);
			assert_int_equal(load_be16(ip + 6), 0x4000); /* DF */
			assert_int_equal(ip[8], hops);
			assert_int_equal(ip[9], IP_PROTO_TCP);
			assert_int_equal(cksum_fold(cksum_bytes(ip, 20)), 0xffff);
		} else {
			assert_int_equal(load_be32(ip), 0x60000000 | (uint32_t)tos << 20);
			assert_int_equal(load_be16(ip + 4), len - 40);
			assert_int_equal(ip[6], IP_PROTO_TCP);
			assert_int_equal(ip[7], hops);
		}
		assert_int_equal(
			ip_l4_cksum(&p.src, &p.dst, IP_PROTO_TCP, h->tx[0], i % 2 ? 54 : 34), 0);
		host_forget(h);
	}
	host_free(h);
}

/* Where nobody looks it has none; what the port does, it is told, and the rest is done here. */
static void checksums_are_asked_for_by_family(void **state)
{
	static const struct {
		uint8_t words; /* of the transport's header */
		uint8_t proto;
		uint64_t flags[2];
		uint8_t l4_len;
	} rows[] = {
		{5, IP_PROTO_TCP,
			{RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM,
				RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM},
			20},
		{15, IP_PROTO_TCP,
			{RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM,
				RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM},
			60},
		{5, 200, {RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM, 0}, 0},
	};
	struct host *h = host_new_offload();
	struct ip_addr a = host_addr("10.0.0.1"), b = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	assert_int_equal(ip_addr_add(h->ip, &b, 64, h->now), 0);
	host_run(h, 20 * SECOND);
	timer_stop(&h->wheel, &h->ip->rs_timer);
	for (unsigned i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		struct rte_mbuf *m = host_segment(h, 60);
		struct ip_path p;

		host_forget(h);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, 12) = (uint8_t)(rows[i / 2].words << 4);
		ip_case_path(h, &p, peers[i % 2]);
		ip_case_answer(h);
		assert_int_equal(ip_send(h->ip, &p, rows[i / 2].proto, m, h->now), 0);
		assert_int_equal(h->n_tx, 1);
		assert_int_equal(
			m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, rows[i / 2].flags[i % 2]);
		assert_int_equal(m->l2_len, 14);
		assert_int_equal(m->l3_len, i % 2 ? 40 : 20);
		if (rows[i / 2].l4_len)
			assert_int_equal(m->l4_len, rows[i / 2].l4_len);
	}
	host_forget(h);
	host_free(h);
}

/* Whatever is wrong with the path, the packet is gone, and nothing was sent. */
static void paths_that_are_old_are_looked_at_again(void **state)
{
	static const struct {
		const char *src, *dst; /* what an outdated path says now */
		int rc;
	} rows[] = {
		{"10.0.0.1", "10.0.0.2", 0},
		{"fd00::1", "fd00::2", 0},
		{"10.0.0.9", "10.0.0.2", -EADDRNOTAVAIL},
		{"fd00::9", "fd00::2", -EADDRNOTAVAIL},
		{"10.0.0.1", "192.0.2.1", -ENETUNREACH},
		{"fd00::1", "2001:db8::1", -ENETUNREACH},
	};
	struct host *h = ip_case_host();

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ip_path p;

		ip_case_path(h, &p, peers[i % 2]);
		ip_case_answer(h);
		p.src = host_addr(rows[i].src);
		p.dst = host_addr(rows[i].dst);
		assert_int_equal(ip_case_send(h, &p), 0); /* it is not looked at */
		host_forget(h);
		p.generation--;
		assert_int_equal(ip_case_send(h, &p), rows[i].rc);
		assert_int_equal(h->n_tx, rows[i].rc == 0);
		assert_int_equal(p.generation == h->ip->generation, rows[i].rc == 0);
		host_forget(h);
	}
	host_free(h);
}

/* An answer of the stack's own, to who may have no way back. */
static void replies_go_where_there_is_a_way(void **state)
{
	static const struct {
		const char *src, *dst;
		bool goes;
	} rows[] = {
		{"10.0.0.1", "10.0.0.2", true},
		{"fd00::1", "fd00::2", true},
		{"10.0.0.1", "fd00::2", false},
		{"10.0.0.9", "10.0.0.2", false},
		{"10.0.0.1", "192.0.2.1", false},
		{"fd00::1", "2001:db8::1", false},
		{"10.0.0.1", "255.255.255.255", false},
		{"fd00::1", "ff02::1", false},
	};
	struct host *h = ip_case_host();

	for (unsigned i = 0; i < 2; i++) {
		struct ip_path p;

		ip_case_path(h, &p, peers[i]); /* else what they answer is not wanted */
	}
	ip_case_answer(h);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ip_reply r = {.src = host_addr(rows[i].src),
			.dst = host_addr(rows[i].dst),
			.proto = 200,
			.tos = 0x1c,
			.ttl = 33};

		ip_reply(h->ip, &r, host_segment(h, 8), h->now);
		assert_int_equal(h->n_tx, rows[i].goes);
		if (rows[i].goes) {
			unsigned len;
			const uint8_t *ip = sent(h, &len);

			assert_int_equal(i ? ip[7] : ip[8], 33);
			assert_int_equal(i ? load_be16(ip) >> 4 & 0xff : ip[1], 0x1c);
		}
		host_forget(h);
	}
	host_free(h);
}

/* Who has nothing to sum, and whom the port serves, need not know sums; nor has the way to us. */
static void sums_and_chains(void **state)
{
	static const struct {
		bool offload, loop;
		uint8_t proto;
		bool sums, gathers;
	} rows[] = {
		{false, false, IP_PROTO_TCP, true, false},
		{false, true, IP_PROTO_TCP, false, false},
		{true, false, IP_PROTO_TCP, false, true},
		{true, true, IP_PROTO_TCP, false, false},
		{false, false, 200, false, false},
		{true, false, 200, false, false},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct host *h = rows[i].offload ? host_new_offload() : host_new();
		const struct ip_path p = {.loop = rows[i].loop};

		assert_int_equal(ip_sums(h->ip, &p, rows[i].proto), rows[i].sums);
		assert_int_equal(ip_gathers(h->ip, &p, rows[i].proto), rows[i].gathers);
		host_free(h);
	}
}

/* To ourselves: the link's header is ours at both ends, and there is none without a link. */
static void the_way_to_ourselves(void **state)
{
	static const char *const own[] = {"10.0.0.1", "fd00::1"};

	for (unsigned i = 0; i < 4; i++) {
		struct host *h = i < 2 ? ip_case_host() : host_new_no_link();
		struct ip_addr a = host_addr(own[i % 2]);
		struct rte_mbuf *none = NULL, *m = host_segment(h, 20);
		struct ip_path p;

		if (i >= 2)
			assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
		ip_case_path(h, &p, own[i % 2]);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, m, h->now), 0);
		if (i < 2) {
			const struct bytes eth = bytes("02 00 00 00 00 01 02 00 00 00 00 01");
			const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

			assert_memory_equal(frame, eth.b, eth.len);
			assert_int_equal(load_be16(frame + 12), i ? 0x86dd : 0x0800);
		}
		assert_int_equal(m->pkt_len, (i < 2 ? 14 : 0) + (i % 2 ? 40 : 20) + 20);
		assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
		assert_int_equal(h->n_rx, 1);
		assert_int_equal(h->rx[0]->pkt_len, 20);
		host_expect_nothing(h);
		host_forget(h);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_waits_for_the_neighbour),
		cmocka_unit_test(send_believes_what_is_known),
		cmocka_unit_test(what_the_port_sums_may_be_gathered),
		cmocka_unit_test(send_asks_the_port_for_checksums),
		cmocka_unit_test(ttl_and_pieces),
		cmocka_unit_test(full_loop_drops),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(headers_are_as_the_path_says),
		cmocka_unit_test(checksums_are_asked_for_by_family),
		cmocka_unit_test(paths_that_are_old_are_looked_at_again),
		cmocka_unit_test(replies_go_where_there_is_a_way),
		cmocka_unit_test(sums_and_chains),
		cmocka_unit_test(the_way_to_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
