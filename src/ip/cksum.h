/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cksum.h
 * The Internet checksum (RFC 1071), the only implementation in the stack. Sums are unfolded and
 * made of 16-bit words in memory order. The ones' complement sum is independent of the byte order
 * (RFC 1071 section 2(B)), so neither words nor the result are swapped.
 */
#ifndef IP_CKSUM_H
#define IP_CKSUM_H

#include "base/bytes.h"
#include "base/digest.h"
#include "base/ip_addr.h"

#include <rte_mbuf.h>

/** The sum of @p len bytes. If @p len is odd, a zero byte is added. */
uint64_t cksum_bytes(const void *data, size_t len);

/** The sum of the bytes of a chain from @p off to its end. */
uint64_t cksum_mbuf(const struct rte_mbuf *m, uint32_t off);

static inline uint16_t cksum_fold(uint64_t sum)
{
	return digest_fold(sum);
}

/** The sum of one 16-bit wire field of value @p v. */
static inline uint64_t cksum_word(uint16_t v)
{
	return __builtin_bswap16(v);
}

/**
 * Both addresses of the pseudo header (RFC 9293 section 3.1, RFC 8200 section 8.1). Our form of
 * IPv4 adds a word of ones for each, which is zero in ones' complement.
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

/** Add the rest of the pseudo header. */
static inline uint64_t cksum_pseudo(uint64_t addrs, uint8_t proto, uint16_t len)
{
	return addrs + cksum_word(proto) + cksum_word(len);
}

/** Store a result of cksum_fold(). The caller complements it if necessary. */
static inline void cksum_store(void *p, uint16_t v)
{
	memcpy(p, &v, sizeof v);
}

#endif
