/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers of packets that are alike (struct ip_pattern). */
#include "ip/stack.h"
#include "ip_case.h"
#include "pattern.h"

#include <errno.h>
#include <rte_mbuf.h>

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
	/* Its neighbour is one that was sent to. */
	m = pattern_segment(h, 1, &text);
	rte_pktmbuf_adj(m, PATTERN_HEAD);
	p.neighbour->used = 0;
	ip_send_alike(h->ip, &pattern, m, 0, text.sum, h->now);
	assert_int_equal(p.neighbour->used, h->now);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_alike_v4),
		cmocka_unit_test(frames_alike_v6),
		cmocka_unit_test(frames_for_ports_that_sum_are_no_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
