/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ipv4.h IPv4 (RFC 791, RFC 1122 section 3). */
#ifndef IP_IPV4_H
#define IP_IPV4_H

#include "ip/cksum.h"
#include "ip/ipv4_wire.h"
#include "ip/stack.h"

/** A received frame of type IPv4, its data at the IP header. Owns @p m. */
void ipv4_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now);

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

	store_be16(h + IPV4_VERSION_IHL, 0x4500 | p->tos);
	store_be16(h + IPV4_TOTAL_LENGTH, total);
	store_be32(h + IPV4_ID, IPV4_DF);
	h[IPV4_TTL] = ttl;
	h[IPV4_PROTOCOL] = proto;
	cksum_store(h + IPV4_CKSUM, hw_cksum ? 0 : (uint16_t)~cksum_fold(sum));
	memcpy(h + IPV4_SRC, p->src.b + 12, 4);
	memcpy(h + IPV4_DST, p->dst.b + 12, 4);
}

#endif
