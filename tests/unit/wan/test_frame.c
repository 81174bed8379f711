/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/frame.h"

#include "support/eal.h"

#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct rte_mempool *pool;

/* Ethernet, IPv4 10.0.0.1 > 10.0.0.2, TCP from 1 to 2 without data; checksum of TCP at 50. */
static const uint8_t tcp4[] = {
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,                       /* Ethernet */
	0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IPv4 */
	0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0,     /* TCP */
};

/* The same over IPv6, fd00::1 > fd00::2; checksum of TCP at 70. */
static const uint8_t tcp6[] = {
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,                   /* */
	0x60, 0, 0, 0, 0, 20, 6, 64,                                      /* */
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,                /* */
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,                /* */
	0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0, /* */
};

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("frames", 64, 2048);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing == 0 ? 0 : -1;
}

static bool unfilled(const uint8_t *bytes, unsigned len)
{
	struct rte_mbuf *m = test_packet(pool, bytes, len);
	bool is = wan_frame_is_unfilled(m);

	rte_pktmbuf_free(m);
	return is;
}

static void a_checksum_left_to_hardware_is_seen(void **state)
{
	uint8_t b[sizeof tcp4];

	memcpy(b, tcp4, sizeof b);
	assert_false(unfilled(b, sizeof b));
	/* 0a00 + 0001 + 0a00 + 0002 + 6 + 20. */
	b[50] = 0x14;
	b[51] = 0x1d;
	assert_true(unfilled(b, sizeof b));
	b[51] = 0x1e;
	assert_false(unfilled(b, sizeof b));
	/* As it should be: the complement of 141d + 3 (ports) + 5010. */
	b[50] = 0x9b;
	b[51] = 0xcf;
	assert_false(unfilled(b, sizeof b));
}

static void behind_a_tag_too(void **state)
{
	uint8_t b[sizeof tcp4 + 4];

	memcpy(b, tcp4, 12);
	memcpy(b + 12, (const uint8_t[]){0x81, 0x00, 0, 7}, 4);
	memcpy(b + 16, tcp4 + 12, sizeof tcp4 - 12);
	assert_false(unfilled(b, sizeof b));
	b[54] = 0x14;
	b[55] = 0x1d;
	assert_true(unfilled(b, sizeof b));
	for (unsigned len = 14; len < sizeof b; len++)
		assert_false(unfilled(b, len));
}

static void over_ipv6_too(void **state)
{
	uint8_t b[sizeof tcp6];

	memcpy(b, tcp6, sizeof b);
	/* fd00 + 1 + fd00 + 2 + 6 + 20, and the carry. */
	b[70] = 0xfa;
	b[71] = 0x1e;
	assert_true(unfilled(b, sizeof b));
	b[71] = 0x1f;
	assert_false(unfilled(b, sizeof b));
}

static void what_is_no_whole_segment_is_not_looked_at(void **state)
{
	uint8_t b[sizeof tcp4];

	memcpy(b, tcp4, sizeof b);
	b[50] = 0x14;
	b[51] = 0x1d;
	for (unsigned len = 14; len < sizeof b; len++)
		assert_false(unfilled(b, len));
	b[14 + 9] = 17;
	assert_false(unfilled(b, sizeof b));
	b[14 + 9] = 6;
	b[14 + 6] = 0x20;
	assert_false(unfilled(b, sizeof b));
	b[14 + 6] = 0x40;
	assert_true(unfilled(b, sizeof b));
	b[14] = 0x44;
	assert_false(unfilled(b, sizeof b));
	b[14] = 0x4f;
	assert_false(unfilled(b, sizeof b));
	b[14] = 0x45;
	b[14 + 3] = 19;
	assert_false(unfilled(b, sizeof b));
}

/* Every bit behind the Ethernet header once, and nothing else; over two segments. */
static void each_bit_can_be_turned_over(void **state)
{
	uint8_t before[34] = {0}, after[34];
	struct rte_mbuf *m = test_packet(pool, before, 20);

	assert_int_equal(rte_pktmbuf_chain(m, test_packet(pool, before, 14)), 0);
	for (uint64_t random = 0; random < 160; random++) {
		wan_frame_corrupt(m, random + 160 * 77);
		for (unsigned i = 0; i < 34; i++)
			after[i] = *(const uint8_t *)rte_pktmbuf_read(m, i, 1, &after[i]);
		for (unsigned i = 0; i < 34; i++) {
			uint8_t expected = i == 14 + random / 8 ? (uint8_t)(1 << random % 8) : 0;

			assert_int_equal(after[i], expected);
		}
		wan_frame_corrupt(m, random);
	}
	rte_pktmbuf_free(m);
}

/* Nor is a tag touched: what is behind two of them is two octets. */
static void tags_are_of_the_header(void **state)
{
	static const uint8_t tagged[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xa8, 0, 5, 0x81,
		0x00, 0, 7, 0x08, 0x00, 0xaa, 0xaa};
	struct rte_mbuf *m = test_packet(pool, tagged, sizeof tagged);

	assert_int_equal(wan_frame_header_len(m), 22);
	for (uint64_t random = 0; random < 64; random++) {
		wan_frame_corrupt(m, random);
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), tagged, 22);
	}
	rte_pktmbuf_free(m);
	/* One that is cut off is none. */
	m = test_packet(pool, tagged, 21);
	assert_int_equal(wan_frame_header_len(m), 18);
	rte_pktmbuf_free(m);
	m = test_packet(pool, tcp4, sizeof tcp4);
	assert_int_equal(wan_frame_header_len(m), 14);
	rte_pktmbuf_free(m);
}

static void a_frame_without_payload_can_be_corrupted(void **state)
{
	static const uint8_t none[14];
	struct rte_mbuf *m = test_packet(pool, none, 14);

	wan_frame_corrupt(m, 14 * 8 - 1);
	assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[13], 0x80);
	rte_pktmbuf_free(m);
}

/* As one of a capture file can be, or of a memif whose buffers the peer fills. */
static void an_empty_frame_stays_empty(void **state)
{
	struct rte_mbuf *m = test_packet(pool, "", 0);

	wan_frame_corrupt(m, 77);
	assert_int_equal(m->pkt_len, 0);
	rte_pktmbuf_free(m);
}

static void a_tag_that_was_taken_off_is_put_back(void **state)
{
	struct rte_mbuf *m = test_packet(pool, tcp4, sizeof tcp4);
	const uint8_t *p;

	m->ol_flags =
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	m->vlan_tci = 0x2007;
	m = wan_frame_adopt(m);
	assert_non_null(m);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->pkt_len, sizeof tcp4 + 4);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_memory_equal(p, tcp4, 12);
	assert_memory_equal(p + 12, ((const uint8_t[]){0x81, 0x00, 0x20, 0x07}), 4);
	assert_memory_equal(p + 16, tcp4 + 12, sizeof tcp4 - 12);
	rte_pktmbuf_free(m);
}

static void a_tag_without_room_for_it_costs_the_frame(void **state)
{
	struct rte_mbuf *m = test_packet(pool, tcp4, sizeof tcp4);

	rte_pktmbuf_prepend(m, rte_pktmbuf_headroom(m));
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	assert_null(wan_frame_adopt(m));
}

static void offloads_are_forgotten(void **state)
{
	struct rte_mbuf *m = test_packet(pool, tcp4, sizeof tcp4);

	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_RSS_HASH;
	assert_ptr_equal(wan_frame_adopt(m), m);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->pkt_len, sizeof tcp4);
	rte_pktmbuf_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checksum_left_to_hardware_is_seen),
		cmocka_unit_test(behind_a_tag_too),
		cmocka_unit_test(over_ipv6_too),
		cmocka_unit_test(what_is_no_whole_segment_is_not_looked_at),
		cmocka_unit_test(each_bit_can_be_turned_over),
		cmocka_unit_test(tags_are_of_the_header),
		cmocka_unit_test(a_frame_without_payload_can_be_corrupted),
		cmocka_unit_test(an_empty_frame_stays_empty),
		cmocka_unit_test(a_tag_that_was_taken_off_is_put_back),
		cmocka_unit_test(a_tag_without_room_for_it_costs_the_frame),
		cmocka_unit_test(offloads_are_forgotten),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
