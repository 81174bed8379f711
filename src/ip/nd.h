/* SPDX-License-Identifier: BSD-2-Clause */
/** @file nd.h Neighbour Discovery for a host (RFC 4861, RFC 4862 section 5.4). */
#ifndef IP_ND_H
#define IP_ND_H

#include "ip/ip.h"

/** A checked ICMPv6 message of types 133 - 137, @p len bytes at @p p (at least 8). */
void nd_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now);

/** Ask for @p target: its solicited-node group (@p mac NULL), or the station that had it last. */
void nd_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac);

/** RFC 4862 section 5.4.2: does anybody have @p addr? */
void nd_probe(struct ip_stack *s, const struct ip_addr *addr);

/** RFC 4861 section 7.2.6: tell all nodes that @p addr is here. */
void nd_announce(struct ip_stack *s, const struct ip_addr *addr);

/** Begin to solicit routers (RFC 4861 section 6.3.7). */
void nd_find_routers(struct ip_stack *s, uint64_t now);

void nd_init(struct ip_stack *s);
void nd_fini(struct ip_stack *s);

/** The solicited-node group of @p a (RFC 4291 section 2.7.1). */
struct ip_addr nd_group(const struct ip_addr *a);

/** True if @p group is one that we listen to: all nodes, or a solicited-node group of ours. */
bool nd_is_member(const struct ip_stack *s, const struct ip_addr *group);

#endif
