/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cksum_plain.h
 * What of the Internet checksum needs plain octets only: for those who look at captured frames, and
 * for ip/cksum.h. Sums are unfolded and made of 16-bit words in memory order, as there.
 */
#ifndef BASE_CKSUM_PLAIN_H
#define BASE_CKSUM_PLAIN_H

#include "base/bytes.h"
#include "base/digest.h"
#include "base/ip_addr.h"

#include <string.h>

/** Where the field is in TCP's header. */
#define CKSUM_TCP_AT 16

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

/**
 * True if the TCP header @p tcp has a checksum that its sender left to hardware: the plain sum of
 * the pseudo header @p pseudo. So has one correct segment in 65,536.
 */
static inline bool cksum_tcp_is_unfilled(const uint8_t *tcp, uint64_t pseudo)
{
	uint16_t field;

	memcpy(&field, tcp + CKSUM_TCP_AT, sizeof field);
	return field == cksum_fold(pseudo);
}

#endif
