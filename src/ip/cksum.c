/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/cksum.h"

#include "ip/ip.h"

#include <rte_mbuf.h>

/** Up to here, headers mostly, a sum takes no longer than the choice of a kernel. */
#define CKSUM_SHORT 64

/* In words of 32 bits: rte_raw_cksum() adds 16 bits at a time and takes several times as long. */
static inline uint64_t cksum_short(const uint8_t *p, size_t len)
{
	size_t words = len / 4;
	uint64_t sum = 0;
	uint32_t w;

	for (size_t i = 0; i < words; i++) {
		memcpy(&w, p + 4 * i, 4);
		sum += w;
	}
	w = 0;
	memcpy(&w, p + 4 * words, len % 4);
	return sum + w;
}

uint64_t cksum_bytes(const void *data, size_t len)
{
	struct digest d = {0};

	if (len <= CKSUM_SHORT)
		return cksum_short(data, len);
	digest_add(&d, DIGEST_SUM, data, len);
	return d.sum;
}

uint64_t cksum_mbuf(const struct rte_mbuf *m, uint32_t off)
{
	uint64_t sum = 0;
	bool odd = false;

	for (; m; m = m->next) {
		uint32_t len = m->data_len;
		uint64_t part;

		if (off >= len) {
			off -= len;
			continue;
		}
		part = cksum_bytes(rte_pktmbuf_mtod_offset(m, const void *, off), len - off);
		/* After an odd number of bytes, the words lie across (RFC 1071 section 2(B)). */
		sum += digest_shift(part, odd);
		odd ^= (len - off) & 1;
		off = 0;
	}
	return sum;
}

uint16_t ip_l4_cksum(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const struct rte_mbuf *m, uint32_t off)
{
	uint64_t sum = cksum_pseudo(cksum_addrs(src, dst), proto, (uint16_t)(m->pkt_len - off));

	if (rte_pktmbuf_is_contiguous(m))
		sum += cksum_bytes(
			rte_pktmbuf_mtod_offset(m, const void *, off), m->data_len - off);
	else
		sum += cksum_mbuf(m, off);
	return (uint16_t)~cksum_fold(sum);
}

uint16_t ip_l4_cksum_summed(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const struct rte_mbuf *m, struct ip_text_sum text)
{
	uint64_t sum = cksum_pseudo(cksum_addrs(src, dst), proto, m->data_len);

	sum += cksum_bytes(rte_pktmbuf_mtod(m, const void *), m->data_len - text.len) + text.sum;
	return (uint16_t)~cksum_fold(sum);
}
