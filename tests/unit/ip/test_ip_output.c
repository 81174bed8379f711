/* SPDX-License-Identifier: BSD-2-Clause */
/* What IP sends: headers, checksums, patterns, and the way to ourselves. */
#include "base/bytes.h"
#include "ip/cksum.h"
#include "ip_case.h"
#include "pattern.h"
#include "support/eal.h"

#include <errno.h>

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

static void send_alike_makes_the_same_frames(
	struct host *h, const char *dst, const struct bytes *reply)
{
	struct ip_pattern pattern;
	struct ip_text_sum text;
	struct ip_path p;
	struct rte_mbuf *m;

	ip_case_path(h, &p, dst);
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
	const struct bytes reply = bytes(IP_CASE_ARP_REPLY);

	send_alike_makes_the_same_frames(host_new_v4(), "10.0.0.2", &reply);
}

static void frames_alike_v6(void **state)
{
	struct bytes reply = bytes(IP_CASE_ND_REPLY);

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
	ip_case_path(h, &p, "10.0.0.2");
	(void)ip_case_send(h, &p);
	host_input_hex(h, IP_CASE_ARP_REPLY);
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
		cmocka_unit_test(ttl_and_pieces),
		cmocka_unit_test(full_loop_drops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
