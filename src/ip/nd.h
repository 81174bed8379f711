/* SPDX-License-Identifier: BSD-2-Clause */
/** @file nd.h Neighbour Discovery for a host (RFC 4861, RFC 4862 section 5.4). */
#ifndef IP_ND_H
#define IP_ND_H

#include "ip/ip.h"

#define ND_TTL 255 /* proves that no router passed it on (RFC 4861 section 3.1) */

/** A checked ICMPv6 message of types 133 - 137, @p len bytes at @p p (at least 8). */
void nd_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now);

/** Solicit @p target, by its solicited-node group or by unicast to @p mac. */
void nd_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac);

#define ND_NONCE_LEN 6

/** Probe for duplicates of @p addr (RFC 4862 section 5.4.2) with @p nonce (RFC 7527). */
void nd_probe(struct ip_stack *s, const struct ip_addr *addr, const uint8_t nonce[ND_NONCE_LEN]);

/** Announce @p addr to all nodes (RFC 4861 section 7.2.6). */
void nd_announce(struct ip_stack *s, const struct ip_addr *addr);

/** Begin to solicit routers (RFC 4861 section 6.3.7). */
void nd_find_routers(struct ip_stack *s, uint64_t now);

void nd_init(struct ip_stack *s);
void nd_fini(struct ip_stack *s);

/** The solicited-node group of @p a (RFC 4291 section 2.7.1). */
struct ip_addr nd_group(const struct ip_addr *a);

#endif
