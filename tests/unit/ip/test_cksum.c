/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/cksum.h"
#include "support/eal.h"

#include <rte_mbuf.h>

static struct rte_mbuf *chain(struct host *h, const uint8_t *p, unsigned len, unsigned piece)
{
	struct rte_mbuf *m = NULL;

	for (unsigned at = 0; at < len; at += piece) {
		struct rte_mbuf *part =
			test_packet(h->pool, p + at, len - at < piece ? len - at : piece);

		if (!m)
			m = part;
		else
			rte_pktmbuf_chain(m, part);
	}
	return m;
}

static void example_of_rfc_1071(void **state)
{
	/* Section 3: 00 01 f2 03 f4 f5 f6 f7 sums up to ddf2. */
	static const uint8_t data[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	uint16_t sum = cksum_fold(cksum_bytes(data, sizeof data));

	assert_int_equal(load_be16(&sum), 0xddf2);
}

static void fold_keeps_all_carries(void **state)
{
	assert_int_equal(cksum_fold(0), 0);
	assert_int_equal(cksum_fold(0xffff), 0xffff);
	assert_int_equal(cksum_fold(0x10000), 1);
	assert_int_equal(cksum_fold(UINT64_MAX), 0xffff);
	assert_int_equal(cksum_fold(UINT64_C(0xffffffff0001ffff)), 1);
}

static void pieces_of_any_size_sum_up_alike(void **state)
{
	struct host *h = host_new();
	uint8_t data[101];
	uint16_t whole;

	for (unsigned i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 37 + 11);
	whole = cksum_fold(cksum_bytes(data, sizeof data));
	for (unsigned piece = 1; piece <= sizeof data; piece++) {
		struct rte_mbuf *m = chain(h, data, sizeof data, piece);

		assert_int_equal(cksum_fold(cksum_mbuf(m, 0)), whole);
		for (unsigned off = 0; off < sizeof data; off += 7)
			assert_int_equal(cksum_fold(cksum_mbuf(m, off)),
				cksum_fold(cksum_bytes(data + off, sizeof data - off)));
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

static void every_length_as_written_out(void **state)
{
	uint8_t data[2100];

	for (unsigned i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 151 + (i >> 3));
	for (unsigned len = 0; len < sizeof data; len++) {
		uint32_t sum = 0;
		uint16_t got = cksum_fold(cksum_bytes(data + len % 5, len - len % 5 * (len >= 5)));
		unsigned n = len - len % 5 * (len >= 5);

		for (unsigned i = 0; i < n; i++)
			sum += i & 1 ? data[len % 5 + i] : (uint32_t)data[len % 5 + i] << 8;
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		assert_int_equal(load_be16(&got), sum);
	}
}

static void transport_checksum_over_both_families(void **state)
{
	/* TCP, ports 1 and 2, no data; sums by hand. 10.0.0.1 -> 10.0.0.2: the pseudo header is
	 * 141d with its length; fd00::1 -> fd00::2: fa1e, folded. */
	static const uint8_t v4[] = {
		0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0x9b, 0xdf, 0, 0};
	static const uint8_t v6[] = {
		0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0xb5, 0xdd, 0, 0};
	struct ip_addr a4 = host_addr("10.0.0.1"), b4 = host_addr("10.0.0.2");
	struct ip_addr a6 = host_addr("fd00::1"), b6 = host_addr("fd00::2");
	struct host *h = host_new();

	for (unsigned piece = 1; piece <= 20; piece++) {
		struct rte_mbuf *m = chain(h, v4, sizeof v4, piece);
		struct rte_mbuf *n = chain(h, v6, sizeof v6, piece);

		assert_int_equal(ip_l4_cksum(&a4, &b4, 6, m, 0), 0);
		assert_int_equal(ip_l4_cksum(&a6, &b6, 6, n, 0), 0);
		assert_int_not_equal(ip_l4_cksum(&a4, &b4, 17, m, 0), 0);
		assert_int_not_equal(ip_l4_cksum(&a4, &b4, 6, m, 1), 0);
		rte_pktmbuf_free(m);
		rte_pktmbuf_free(n);
	}
	host_free(h);
}

/** What was summed with its CRC before need not be summed again, whatever its length. */
static void transport_checksum_of_text_that_was_summed(void **state)
{
	struct ip_addr a4 = host_addr("10.0.0.1"), b4 = host_addr("10.0.0.2");
	struct ip_addr a6 = host_addr("fd00::1"), b6 = host_addr("fd00::2");
	struct host *h = host_new();
	uint8_t segment[1500];

	for (unsigned i = 0; i < sizeof segment; i++)
		segment[i] = (uint8_t)(i * 89 + (i >> 4));
	for (unsigned len = 20; len <= sizeof segment; len += 7) {
		struct rte_mbuf *m = chain(h, segment, len, len);

		for (unsigned header = 20; header <= 60 && header <= len; header += 4) {
			struct ip_text_sum text = {.len = (uint16_t)(len - header),
				.sum = digest_fold(cksum_bytes(segment + header, len - header))};

			assert_int_equal(ip_l4_cksum_summed(&a4, &b4, 6, m, text),
				ip_l4_cksum(&a4, &b4, 6, m, 0));
			assert_int_equal(ip_l4_cksum_summed(&a6, &b6, 6, m, text),
				ip_l4_cksum(&a6, &b6, 6, m, 0));
			text.sum ^= 1;
			assert_int_not_equal(ip_l4_cksum_summed(&a4, &b4, 6, m, text),
				ip_l4_cksum(&a4, &b4, 6, m, 0));
		}
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_of_rfc_1071),
		cmocka_unit_test(fold_keeps_all_carries),
		cmocka_unit_test(pieces_of_any_size_sum_up_alike),
		cmocka_unit_test(every_length_as_written_out),
		cmocka_unit_test(transport_checksum_over_both_families),
		cmocka_unit_test(transport_checksum_of_text_that_was_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
