/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture_block.h"
#include "support/eal.h"

#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct rte_mempool *pool;

static uint32_t at32(const uint8_t *b, size_t off)
{
	uint32_t v;

	memcpy(&v, b + off, 4);
	return v;
}

static void head_is_a_section_and_an_interface(void **state)
{
	uint8_t b[CAPTURE_HEAD_MAX];
	size_t n = capture_head(b, "uiwarp " UIWARP_VERSION, "net_x"), shb = at32(b, 4);

	assert_int_equal(at32(b, 0), 0x0a0d0d0a);
	assert_int_equal(at32(b, 8), 0x1a2b3c4d);
	assert_int_equal(at32(b, 12), 1);
	assert_int_equal(at32(b, shb - 4), shb);
	assert_int_equal(at32(b, shb), 1);
	assert_int_equal(at32(b, shb + 4), n - shb);
	assert_int_equal(at32(b, shb + 8), 1);  /* Ethernet */
	assert_int_equal(at32(b, shb + 12), 0); /* no limit */
	assert_int_equal(at32(b, shb + 16), 5 << 16 | 2);
	assert_memory_equal(b + shb + 20, "net_x\0\0\0", 8);
	assert_int_equal(at32(b, shb + 28), 1 << 16 | 9);
	assert_int_equal(at32(b, shb + 32), 9); /* nanoseconds */
	assert_int_equal(at32(b, n - 4), n - shb);
}

static void a_frame_in_pieces_is_written_whole(void **state)
{
	struct rte_mbuf *a = test_packet(pool, "abcde", 5), *b = test_packet(pool, "fg", 2);
	uint8_t block[64];

	assert_int_equal(rte_pktmbuf_chain(a, b), 0);
	assert_int_equal(capture_packet_len(7), 52);
	memset(block, 0xee, sizeof block);
	capture_packet_block(block, a, CAPTURE_IN, UINT64_C(0x123456789abcdef0));
	assert_int_equal(at32(block, 0), 6);
	assert_int_equal(at32(block, 4), 52);
	assert_int_equal(at32(block, 8), 0);
	assert_int_equal(at32(block, 12), 0x12345678);
	assert_int_equal(at32(block, 16), 0x9abcdef0);
	assert_int_equal(at32(block, 20), 7);
	assert_int_equal(at32(block, 24), 7);
	assert_memory_equal(block + 28, "abcdefg\0", 8);
	assert_int_equal(at32(block, 36), 4 << 16 | 2);
	assert_int_equal(at32(block, 40), CAPTURE_IN);
	assert_int_equal(at32(block, 44), 0);
	assert_int_equal(at32(block, 48), 52);
	assert_int_equal(block[52], 0xee);
	rte_pktmbuf_free(a);
}

/* 192.0.2.1:1000 > 192.0.2.2:2000, SYN, both checksums wrong; 14 bytes of Ethernet before. */
static const uint8_t syn4[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 40, 0, 1, 0x40,
	0, 64, 6, 0xff, 0xff, 192, 0, 2, 1, 192, 0, 2, 2, 3, 0xe8, 7, 0xd0, 0, 0, 0, 1, 0, 0, 0, 0,
	0x50, 2, 0x10, 0, 0xff, 0xff, 0, 0};

static void offloaded_checksums_are_filled_in(void **state)
{
	struct rte_mbuf *m = test_packet(pool, syn4, sizeof syn4);
	uint8_t block[128];

	m->l2_len = 14;
	m->l3_len = 20;
	m->l4_len = 20;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	capture_packet_block(block, m, CAPTURE_OUT, 0);
	/* Worked out by hand from RFC 1071: 0xb6cb and 0x1026. */
	assert_int_equal(block[28 + 24], 0xb6);
	assert_int_equal(block[28 + 25], 0xcb);
	assert_int_equal(block[28 + 50], 0x10);
	assert_int_equal(block[28 + 51], 0x26);
	/* What was received is written as it came. */
	capture_packet_block(block, m, CAPTURE_IN, 0);
	assert_int_equal(block[28 + 24], 0xff);
	assert_int_equal(block[28 + 50], 0xff);
	/* The frame itself is the port's to change. */
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), syn4, sizeof syn4);
	rte_pktmbuf_free(m);
}

static void nonsense_lengths_touch_nothing(void **state)
{
	struct rte_mbuf *m = test_packet(pool, syn4, 30);
	uint8_t block[128];

	m->l2_len = 14;
	m->l3_len = 20;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	capture_packet_block(block, m, CAPTURE_OUT, 0);
	assert_memory_equal(block + 28, syn4, 30);
	rte_pktmbuf_free(m);
}

static void statistics_tell_what_is_missing(void **state)
{
	uint8_t b[CAPTURE_STATISTICS_LEN];

	assert_int_equal(capture_statistics(b, UINT64_C(7) << 32 | 9, 3), sizeof b);
	assert_int_equal(at32(b, 0), 5);
	assert_int_equal(at32(b, 12), 7);
	assert_int_equal(at32(b, 16), 9);
	assert_int_equal(at32(b, 20), 8 << 16 | 5);
	assert_int_equal(at32(b, 24), 3);
	assert_int_equal(at32(b, 36), sizeof b);
}

static int setup(void **state)
{
	test_eal_init();
	pool = test_pool("capture", 63, 256);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(test_pool_missing(pool), 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_is_a_section_and_an_interface),
		cmocka_unit_test(a_frame_in_pieces_is_written_whole),
		cmocka_unit_test(offloaded_checksums_are_filled_in),
		cmocka_unit_test(nonsense_lengths_touch_nothing),
		cmocka_unit_test(statistics_tell_what_is_missing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
