/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ipv6.h IPv6 (RFC 8200). */
#ifndef IP_IPV6_H
#define IP_IPV6_H

#include "base/bytes.h"
#include "ip/ipv6_wire.h"
#include "ip/stack.h"

/** A received frame of type IPv6, its data at the IP header. Owns @p m. */
void ipv6_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now);

/** As ipv4_not_reassembled(), for a fragment without other extension headers before it. */
void ipv6_not_reassembled(struct ip_stack *s, struct rte_mbuf *m, uint64_t now);

struct ipv6_header {
	const struct ip_addr *src, *dst;
	uint16_t payload_len;
	uint8_t traffic_class, next_header, hop_limit;
};

static inline void ipv6_store(uint8_t *h, const struct ipv6_header *v)
{
	store_be32(
		h + IPV6_VERSION_CLASS_FLOW, UINT32_C(6) << 28 | (uint32_t)v->traffic_class << 20);
	store_be16(h + IPV6_PAYLOAD_LENGTH, v->payload_len);
	h[IPV6_NEXT_HEADER] = v->next_header;
	h[IPV6_HOP_LIMIT] = v->hop_limit;
	memcpy(h + IPV6_SRC, v->src->b, 16);
	memcpy(h + IPV6_DST, v->dst->b, 16);
}

#endif
