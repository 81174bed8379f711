/* SPDX-License-Identifier: BSD-2-Clause */
/** @file group.h Private to IP: multicast groups of both families (RFC 1112, RFC 4291 section 2.7).
 */
#ifndef IP_GROUP_H
#define IP_GROUP_H

#include "ip/stack.h"

/** 224.0.0.1 (RFC 1112 section 4) and ff02::1 (RFC 4291 section 2.7.1): who has an address is in.
 */
extern const struct ip_addr group_all_systems, group_all_nodes;

/** RFC 1112 section 6.4, RFC 2464 section 7: the address of @p group on Ethernet. */
void group_mac(uint8_t mac[6], const struct ip_addr *group);

/**
 * Send a finished packet to the group @p p->dst: a frame, its Ethernet header still blank if there
 * is one. If we are in the group, it comes back to us. Owns @p m.
 */
void group_output(struct ip_stack *s, const struct ip_path *p, struct rte_mbuf *m);

void group_init(struct ip_stack *s);
void group_fini(struct ip_stack *s);

#endif
