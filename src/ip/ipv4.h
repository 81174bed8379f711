/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ipv4.h IPv4 (RFC 791, RFC 1122 section 3). */
#ifndef IP_IPV4_H
#define IP_IPV4_H

#include "ip/cksum.h"
#include "ip/ipv4_wire.h"
#include "ip/stack.h"

/** A received frame of type IPv4, its data at the IP header. Owns @p m. */
void ipv4_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now);

/** No more comes of the datagram that @p m is a fragment of: tell its sender. Keeps @p m. */
void ipv4_not_reassembled(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now);

/**
 * Write a header without options. DF is always set, for path MTU discovery. The ID of such an
 * atomic datagram may have any value and is zero (RFC 6864 section 4.1).
 * @param hw_cksum the port fills in the checksum.
 */
static inline void ipv4_store(uint8_t *h, const struct ip_path *p, uint8_t proto, uint16_t total,
	uint8_t ttl, bool hw_cksum)
{
	uint64_t sum = p->addr_sum + cksum_word(0x4500 | p->tos) + cksum_word(total) +
		       cksum_word(IPV4_DF) + cksum_word((uint16_t)(ttl << 8 | proto));
	uint16_t cksum = hw_cksum ? 0 : (uint16_t)~cksum_fold(sum);
	uint32_t src;

	memcpy(&src, p->src.b + 12, 4);
	/* IPsec reads it at once. */
	store_words(h, __builtin_bswap32((0x4500u | p->tos) << 16 | total),
		__builtin_bswap32(IPV4_DF),
		(uint32_t)cksum << 16 | cksum_word((uint16_t)(ttl << 8 | proto)), src);
	memcpy(h + IPV4_DST, p->dst.b + 12, 4);
}

#endif
