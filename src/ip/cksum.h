/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cksum.h
 * The Internet checksum (RFC 1071), the only one in the stack. Sums are of 16-bit words in memory
 * order, unfolded; the ones' complement sum does not mind the byte order (RFC 1071 section 2(B)),
 * so words are loaded and the result is stored without a swap.
 */
#ifndef IP_CKSUM_H
#define IP_CKSUM_H

#include "base/bytes.h"
#include "base/ip_addr.h"

#include <rte_mbuf.h>

/** Words of @p len bytes at @p data; an odd last byte counts as if a zero followed. */
uint64_t cksum_bytes(const void *data, size_t len);

/** The same over the bytes of a chain from @p off to its end. */
uint64_t cksum_mbuf(const struct rte_mbuf *m, uint32_t off);

static inline uint16_t cksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/** A number as it stands in a 16-bit wire field. */
static inline uint64_t cksum_word(uint16_t v)
{
	return __builtin_bswap16(v);
}

/**
 * Both addresses of the pseudo header (RFC 9293 section 3.1, RFC 8200 section 8.1). Our form of
 * IPv4 has one word of ones too many in each, which is zero in ones' complement.
 */
static inline uint64_t cksum_addrs(const struct ip_addr *src, const struct ip_addr *dst)
{
	uint64_t sum = 0;
	uint32_t w;

	for (unsigned i = 0; i < 16; i += 4) {
		memcpy(&w, src->b + i, 4);
		sum += w;
		memcpy(&w, dst->b + i, 4);
		sum += w;
	}
	return sum;
}

/** The rest of the pseudo header. @p len below 65,536 here. */
static inline uint64_t cksum_pseudo(uint64_t addrs, uint8_t proto, uint16_t len)
{
	return addrs + cksum_word(proto) + cksum_word(len);
}

/** Store what cksum_fold() gave, complemented by the caller where that is wanted. */
static inline void cksum_store(void *p, uint16_t v)
{
	memcpy(p, &v, sizeof v);
}

#endif
