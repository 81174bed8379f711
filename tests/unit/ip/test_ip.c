/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"
#include "ip/cksum.h"
#include "ip/packet.h"
#include "ip/stack.h"
#include "pattern.h"
#include "support/eal.h"

#include <errno.h>

#define ETH_TO_US "02 00 00 00 00 01 02 00 00 00 00 02 "

/* 10.0.0.2 is 02:..:02; the request for it and its answer. */
#define ARP_REQUEST                                                         \
	"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 02"
#define ARP_REPLY                                                           \
	"02 00 00 00 00 01 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 02" \
	"02 00 00 00 00 02 0a 00 00 02 02 00 00 00 00 01 0a 00 00 01"

/* The same of fd00::2, but for its checksum. */
#define ND_REPLY                                                    \
	ETH_TO_US "86 dd 60 00 00 00 00 20 3a ff"                   \
		  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02" \
		  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01" \
		  "88 00 00 00 60 00 00 00"                         \
		  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02" \
		  "02 01 02 00 00 00 00 02"

/* A TCP header of zeros but for its length, checksum by hand: 10.0.0.1 -> 10.0.0.2. */
#define SENT_SEGMENT                                                  \
	"02 00 00 00 00 02 02 00 00 00 00 01 08 00"                   \
	"45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 01 0a 00 00 02" \
	"00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00"

static void path_to(struct host *h, struct ip_path *p, const char *dst)
{
	struct ip_addr d = host_addr(dst), src;

	memset(p, 0, sizeof *p);
	assert_int_equal(ip_source(h->ip, &d, &src), 0);
	assert_int_equal(ip_path_init(h->ip, p, &src, &d, h->now), 0);
}

static int send_one(struct host *h, struct ip_path *p)
{
	return ip_send(h->ip, p, IP_PROTO_TCP, host_segment(h, 20), h->now);
}

static void send_waits_for_the_neighbour(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	path_to(h, &p, "10.0.0.2");
	assert_int_equal(p.mtu, 1500);
	assert_int_equal(send_one(h, &p), 0);
	host_expect(h, ARP_REQUEST);
	host_expect_nothing(h);
	host_input_hex(h, ARP_REPLY);
	host_expect(h, SENT_SEGMENT);
	assert_int_equal(send_one(h, &p), 0);
	host_expect(h, SENT_SEGMENT);
	host_free(h);
}

/* What is known of the text's sum is not looked at again: here it is of another text. */
static void send_believes_what_is_known(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	path_to(h, &p, "10.0.0.2");
	host_input_hex(h, ARP_REPLY);
	assert_true(ip_sums(h->ip, &p, IP_PROTO_TCP));
	assert_int_equal(send_one(h, &p), 0);
	host_expect(h, SENT_SEGMENT);
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

static void send_alike_makes_the_same_frames(
	struct host *h, const char *dst, const struct bytes *reply)
{
	struct ip_pattern pattern;
	struct ip_text_sum text;
	struct ip_path p;
	struct rte_mbuf *m;

	path_to(h, &p, dst);
	p.tos = 0x6a;
	/* Its neighbour is not known: the first waits, and is no pattern. */
	m = pattern_segment(h, 1, &text);
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	host_input(h, reply, 0);
	host_forget(h);
	m = pattern_segment(h, 1, &text);
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, PATTERN_TEXT);
	host_forget(h);
	for (uint32_t n = 0; n < 3000; n++)
		pattern_send_both_ways(h, &p, &pattern, n);
	/* Without the sum there is none. */
	m = pattern_segment(h, 1, &text);
	text.len = 0;
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	/* Nor of headers that are too long for it, or where the text goes on in another mbuf. */
	m = pattern_segment(h, 1, &text);
	text.len = 20;
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	m = pattern_segment(h, 1, &text);
	assert_int_equal(rte_pktmbuf_chain(m, host_segment(h, 20)), 0);
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	host_forget(h);
	p.mtu = 60;
	m = pattern_segment(h, 1, &text);
	pattern.text = 1;
	assert_int_equal(
		ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), -EMSGSIZE);
	assert_int_equal(pattern.text, 0);
	/* To ourselves. */
	assert_int_equal(ip_path_init(h->ip, &p, &p.src, &p.src, h->now), 0);
	m = pattern_segment(h, 1, &text);
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	host_forget(h);
	host_free(h);
}

static void frames_alike_v4(void **state)
{
	const struct bytes reply = bytes(ARP_REPLY);

	send_alike_makes_the_same_frames(host_new_v4(), "10.0.0.2", &reply);
}

static void frames_alike_v6(void **state)
{
	struct bytes reply = bytes(ND_REPLY);

	fix_v6(&reply);
	send_alike_makes_the_same_frames(host_new_v6(), "fd00::2", &reply);
}

static void frames_for_ports_that_sum_are_no_pattern(void **state)
{
	struct host *h = host_new_offload();
	struct ip_addr a = host_addr("10.0.0.1");
	struct ip_pattern pattern;
	struct ip_text_sum text;
	struct ip_path p;
	struct rte_mbuf *m = pattern_segment(h, 1, &text);

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	path_to(h, &p, "10.0.0.2");
	(void)send_one(h, &p);
	host_input_hex(h, ARP_REPLY);
	assert_int_equal(ip_send_first(h->ip, &p, IP_PROTO_TCP, m, text, 4, &pattern, h->now), 0);
	assert_int_equal(pattern.text, 0);
	host_forget(h);
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
	path_to(h, &p, "10.0.0.2");
	(void)send_one(h, &p);
	host_forget(h);
	host_input_hex(h, ARP_REPLY);
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

/** UDP: its checksum is elsewhere, its header of one length, and the port knows TCP alone. */
static void transport_says_where_its_checksum_is(void **state)
{
	const struct ip_transport udp = {
		.tx_cksum = RTE_MBUF_F_TX_UDP_CKSUM, .min_len = 8, .cksum_off = 6};
	struct host *h = host_new_offload();
	struct ip_addr a = host_addr("10.0.0.1"), src, dst;
	struct rte_mbuf *m = host_segment(h, 8);
	const struct ip_rx rx = {.src = a, .dst = host_addr("10.0.0.2")};
	struct ip_path p;

	ip_set_transport(h->ip, 17, &udp);
	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	path_to(h, &p, "10.0.0.2");
	assert_int_equal(ip_send(h->ip, &p, 17, m, h->now), 0);
	host_forget(h);
	host_input_hex(h, ARP_REPLY);
	m = h->tx[0];
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_L4_MASK, 0);
	assert_non_null(ip_peek(h->ip, m, 17, &src, &dst));
	assert_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
	/* The complement of 0a00+0001+0a00+0002+0011+0008. */
	assert_int_equal(
		load_be16(rte_pktmbuf_mtod_offset(m, const uint8_t *, 34 + 6)), (uint16_t)~0x141c);
	packet_skip(m, 34);
	store_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, 6), 0x141c);
	assert_true(ip_l4_cksum_unfilled(h->ip, &rx, 17, m));
	packet_trim(m, 7);
	assert_false(ip_l4_cksum_unfilled(h->ip, &rx, 17, m));
	host_free(h);
}

static void send_errors(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr src = host_addr("10.0.0.1"), other = host_addr("10.0.0.9");
	struct ip_addr far = host_addr("192.0.2.1"), bcast = host_addr("10.0.0.255");
	struct ip_addr group = host_addr("224.0.0.1"), any = host_addr("0.0.0.0");
	struct ip_addr near = host_addr("10.0.0.2"), v6 = host_addr("fd00::2"), out;
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &bcast, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &other, &near, h->now), -EADDRNOTAVAIL);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &v6, h->now), -EADDRNOTAVAIL);
	assert_int_equal(ip_source(h->ip, &far, &out), -ENETUNREACH);
	assert_int_equal(ip_source(h->ip, &v6, &out), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &near, h->now), 0);
	assert_int_equal(
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1481), h->now), -EMSGSIZE);
	assert_int_equal(ip_stack_stats(h->ip)->no_route, 2);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &group, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &any, h->now), -ENETUNREACH);
	host_expect_nothing(h);
	host_free(h);
}

static void neighbour_failure_comes_back_as_an_error(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	path_to(h, &p, "10.0.0.2");
	(void)send_one(h, &p);
	(void)send_one(h, &p);
	host_run(h, 3 * SECOND + SECOND / 2);
	assert_int_equal(h->n_errors, 2);
	assert_int_equal(h->error.kind, IP_ERROR_HOST);
	assert_int_equal(h->error_l4[12], 0x50);
	assert_int_equal(send_one(h, &p), -EHOSTUNREACH);
	host_run(h, 2 * SECOND);
	assert_int_equal(send_one(h, &p), 0); /* a new try */
	host_free(h);
}

static void own_addresses_are_looped(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;
	struct rte_mbuf *none = NULL;

	path_to(h, &p, "10.0.0.1");
	assert_true(p.loop);
	assert_int_equal(send_one(h, &p), 0);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
	assert_int_equal(h->n_rx, 1);
	assert_true(h->rx_info[0].from_self);
	assert_true(h->rx_info[0].l4_cksum_good);
	assert_int_equal(h->rx[0]->pkt_len, 20);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 0);
	host_expect_nothing(h);
	(void)send_one(h, &p); /* left in the loop: the stack frees it */
	host_free(h);
}

static void unfilled_checksum_is_told_from_a_wrong_one(void **state)
{
	struct host *h = host_new_v4();

	/* 141d is the plain sum of the pseudo header of 20 bytes from .2 to .1. */
	host_input_hex(h, ETH_TO_US "08 00"
				    "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1d 00 00");
	host_input_hex(h, ETH_TO_US "08 00"
				    "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1e 00 00");
	assert_int_equal(h->n_rx, 2);
	assert_true(ip_l4_cksum(&h->rx_info[0].src, &h->rx_info[0].dst, 6, h->rx[0], 0) != 0);
	assert_true(ip_l4_cksum_unfilled(h->ip, &h->rx_info[0], 6, h->rx[0]));
	assert_false(ip_l4_cksum_unfilled(h->ip, &h->rx_info[1], 6, h->rx[1]));
	assert_int_equal(ip_stack_stats(h->ip)->rx_cksum_unfilled, 1);
	host_free(h);
}

/* A loop is a link with a queue: it drops when that is full, and goes on when it has been emptied.
 */
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
	path_to(h, &p, "10.0.0.1");
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

/* A path may ask for a TTL of its own; a packet in pieces has the checksum of the whole. */
static void ttl_and_pieces(void **state)
{
	struct host *h = host_new_v4();
	struct rte_mbuf *m = host_segment(h, 20), *tail = host_segment(h, 3);
	struct ip_path p;

	memcpy(rte_pktmbuf_mtod(tail, uint8_t *), "abc", 3);
	assert_int_equal(rte_pktmbuf_chain(m, tail), 0);
	path_to(h, &p, "10.0.0.2");
	p.ttl = 255;
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, m, h->now), 0);
	host_forget(h);
	host_input_hex(h, ARP_REPLY);
	/* As of SENT_SEGMENT, with three bytes more: 9be2 less 3, 6162 and 6300. */
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 00"
		       "45 00 00 2b 00 00 40 00 ff 06 67 ca 0a 00 00 01 0a 00 00 02"
		       "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 d7 7c 00 00 61 62 63");
	host_free(h);
}

/* What was confirmed by a path that has to look again is no longer its neighbour's. */
static void outdated_path_confirms_nothing(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr net = host_addr("192.0.2.0"), gw = host_addr("10.0.0.3");
	struct ip_path p;

	path_to(h, &p, "10.0.0.2");
	(void)send_one(h, &p);
	host_input_hex(h, ARP_REPLY);
	host_run(h, 40 * SECOND);
	assert_int_equal(ip_route_add(h->ip, &net, 24, &gw), 0);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	assert_int_equal(p.neighbour->state, NEIGHBOUR_STALE);
	host_forget(h);
	(void)send_one(h, &p);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	assert_int_equal(p.neighbour->state, NEIGHBOUR_REACHABLE);
	path_to(h, &p, "10.0.0.1"); /* ourselves: there is no neighbour */
	ip_path_confirm(h->ip, &p, h->now, h->now);
	host_free(h);
}

/* A look ahead sees what is whole, of this protocol and in one piece, and nothing else. */
static void peek_sees_whole_packets_alone(void **state)
{
	static const char *const none[] = {
		ETH_TO_US "08 00 45 00 00 28 00 00 40 00 40 11 26 ce 0a 00 00 02 0a 00 00 01",
		ETH_TO_US "08 00 45 00 00 28 00 00 20 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		ETH_TO_US "08 00 45 00 00 28 00 00 00 02 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		ETH_TO_US "08 00 46 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
	};
	struct host *h = host_new_v4();
	struct ip_addr src, dst;

	for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
		struct bytes b = bytes(none[i]);
		struct rte_mbuf *m;

		while (b.len < 14 + 40 + 20)
			b.b[b.len++] = 0;
		m = test_packet(h->pool, b.b, b.len);
		assert_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
		b.b[14] = 0x45;
		b.b[14 + 6] = 0x40; /* do not fragment */
		b.b[14 + 7] = 0;
		b.b[14 + 9] = 6;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), b.b, b.len);
		assert_non_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
		assert_int_equal(dst.b[15], 1);
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

#define SEGMENT                                                       \
	"45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01" \
	"00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00"

/* IEEE 802.1Q section 6.9.1: of no VLAN, whatever its priority, and with padding. */
static void frames_tagged_with_a_priority_are_ours(void **state)
{
	static const char *const ours[] = {
		ETH_TO_US "81 00 00 00 08 00" SEGMENT,
		ETH_TO_US "81 00 f0 00 08 00" SEGMENT,
		ETH_TO_US "81 00 a0 00 08 00" SEGMENT "00 00 00 00",
	};
	static const char *const others[] = {
		ETH_TO_US "81 00 a0 01 08 00" SEGMENT,
		ETH_TO_US "81 00 08 00 08 00" SEGMENT,
		ETH_TO_US "81 00 a0 00 81 00 00 00 08 00" SEGMENT,
	};
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++) {
		host_input_hex(h, ours[i]);
		assert_int_equal(h->n_rx, i + 1);
	}
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		host_input_hex(h, others[i]);
		assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, i + 1);
	}
	host_input_hex(h, ETH_TO_US "81 00 00 00 08");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	assert_int_equal(h->n_rx, 3);
	host_free(h);
}

/* ARP, too: else nobody would send us anything. */
static void a_request_tagged_with_a_priority_is_answered(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 81 00 e0 00 08 06"
			  "00 01 08 00 06 04 00 01 02 00 00 00 00 02 0a 00 00 02"
			  "00 00 00 00 00 00 0a 00 00 01");
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 06"
		       "00 01 08 00 06 04 00 02 02 00 00 00 00 01 0a 00 00 01"
		       "02 00 00 00 00 02 0a 00 00 02");
	host_free(h);
}

static void frames_for_others_are_dropped(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "02 00 00 00 00 03 02 00 00 00 00 02 08 00"
			  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
			  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00");
	/* VLAN 1 */
	host_input_hex(h, ETH_TO_US "81 00 00 01 08 00"
				    "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00");
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 2);
	host_input_hex(h, "02 00 00 00 00 01 02");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
	host_free(h);
}

static void path_follows_the_route_table(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr net = host_addr("192.0.2.0"), gw = host_addr("10.0.0.2");
	struct ip_addr gw2 = host_addr("10.0.0.3"), one = host_addr("192.0.2.1");
	struct ip_path p;

	assert_int_equal(ip_route_add(h->ip, &net, 24, &gw), 0);
	path_to(h, &p, "192.0.2.1");
	(void)send_one(h, &p);
	host_expect(h, ARP_REQUEST);
	assert_int_equal(ip_route_add(h->ip, &one, 32, &gw2), 0);
	(void)send_one(h, &p);
	host_expect(h, "ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		       "02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 03");
	host_free(h);
}

/** Frames that come together, for a transport that does not look ahead. */
static void bursts_need_no_look_ahead(void **state)
{
	static const char frame[] = "02 00 00 00 00 01 02 00 00 00 00 02 08 00"
				    "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00";
	struct host *h = host_new_v4();
	struct bytes b = bytes(frame);
	struct rte_mbuf *burst[40];

	for (unsigned i = 0; i < 40; i++)
		burst[i] = test_packet(h->pool, b.b, b.len);
	assert_int_equal(ip_input(h->ip, burst, 40, h->now), 40);
	assert_int_equal(h->n_rx, 40);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_waits_for_the_neighbour),
		cmocka_unit_test(send_believes_what_is_known),
		cmocka_unit_test(what_the_port_sums_may_be_gathered),
		cmocka_unit_test(frames_alike_v4),
		cmocka_unit_test(frames_alike_v6),
		cmocka_unit_test(frames_for_ports_that_sum_are_no_pattern),
		cmocka_unit_test(send_asks_the_port_for_checksums),
		cmocka_unit_test(transport_says_where_its_checksum_is),
		cmocka_unit_test(send_errors),
		cmocka_unit_test(neighbour_failure_comes_back_as_an_error),
		cmocka_unit_test(own_addresses_are_looped),
		cmocka_unit_test(unfilled_checksum_is_told_from_a_wrong_one),
		cmocka_unit_test(full_loop_drops),
		cmocka_unit_test(ttl_and_pieces),
		cmocka_unit_test(outdated_path_confirms_nothing),
		cmocka_unit_test(peek_sees_whole_packets_alone),
		cmocka_unit_test(frames_tagged_with_a_priority_are_ours),
		cmocka_unit_test(a_request_tagged_with_a_priority_is_answered),
		cmocka_unit_test(frames_for_others_are_dropped),
		cmocka_unit_test(path_follows_the_route_table),
		cmocka_unit_test(bursts_need_no_look_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
