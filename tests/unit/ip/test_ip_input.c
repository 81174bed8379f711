/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that come: whose they are, what is in them, and bursts of them. */
#include "ip_case.h"
#include "support/eal.h"

static void own_addresses_are_looped(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;
	struct rte_mbuf *none = NULL;

	ip_case_path(h, &p, "10.0.0.1");
	assert_true(p.loop);
	assert_int_equal(ip_case_send(h, &p), 0);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
	assert_int_equal(h->n_rx, 1);
	assert_true(h->rx_info[0].from_self);
	assert_true(h->rx_info[0].l4_cksum_good);
	assert_int_equal(h->rx[0]->pkt_len, 20);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 0);
	host_expect_nothing(h);
	(void)ip_case_send(h, &p); /* left in the loop: the stack frees it */
	host_free(h);
}

static void unfilled_checksum_is_told_from_a_wrong_one(void **state)
{
	struct host *h = host_new_v4();

	/* 141d is the plain sum of the pseudo header of 20 bytes from .2 to .1. */
	host_input_hex(h,
		IP_CASE_ETH_TO_US "08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1d 00 00");
	host_input_hex(h,
		IP_CASE_ETH_TO_US "08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1e 00 00");
	assert_int_equal(h->n_rx, 2);
	assert_true(ip_l4_cksum(&h->rx_info[0].src, &h->rx_info[0].dst, 6, h->rx[0], 0) != 0);
	assert_true(ip_l4_cksum_unfilled(h->ip, &h->rx_info[0], 6, h->rx[0]));
	assert_false(ip_l4_cksum_unfilled(h->ip, &h->rx_info[1], 6, h->rx[1]));
	assert_int_equal(ip_stack_stats(h->ip)->rx_cksum_unfilled, 1);
	host_free(h);
}

/* A look ahead sees what is whole, of this protocol and in one piece, and nothing else. */
static void peek_sees_whole_packets_alone(void **state)
{
	static const char *const none[] = {
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 40 00 40 11 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 20 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 00 02 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 46 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
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

/* IEEE 802.1Q section 6.9.1: of no VLAN, whatever its priority, and with padding. */
static void frames_tagged_with_a_priority_are_ours(void **state)
{
	static const char *const ours[] = {
		IP_CASE_ETH_TO_US "81 00 00 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 f0 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 a0 00 08 00" IP_CASE_TCP "00 00 00 00",
	};
	static const char *const others[] = {
		IP_CASE_ETH_TO_US "81 00 a0 01 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 08 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 a0 00 81 00 00 00 08 00" IP_CASE_TCP,
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
	host_input_hex(h, IP_CASE_ETH_TO_US "81 00 00 00 08");
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
	host_input_hex(h,
		IP_CASE_ETH_TO_US "81 00 00 01 08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00");
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 2);
	host_input_hex(h, "02 00 00 00 00 01 02");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
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
		cmocka_unit_test(own_addresses_are_looped),
		cmocka_unit_test(unfilled_checksum_is_told_from_a_wrong_one),
		cmocka_unit_test(peek_sees_whole_packets_alone),
		cmocka_unit_test(frames_tagged_with_a_priority_are_ours),
		cmocka_unit_test(a_request_tagged_with_a_priority_is_answered),
		cmocka_unit_test(frames_for_others_are_dropped),
		cmocka_unit_test(bursts_need_no_look_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
