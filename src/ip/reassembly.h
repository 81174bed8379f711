/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reassembly.h Reassembles fragments by DPDK's library, within limits. */
#ifndef IP_REASSEMBLY_H
#define IP_REASSEMBLY_H

#include "ip/ip.h"

/** @return 0 or -ENOMEM. */
int reassembly_init(struct ip_stack *s);
void reassembly_fini(struct ip_stack *s);

/**
 * Process a fragment. Its data begins at the checked IPv4 header of @p hlen bytes, and it is
 * trimmed. Owns @p m.
 * @return the whole datagram, from its header, when it is complete; else NULL.
 */
struct rte_mbuf *reassembly_v4(struct ip_stack *s, struct rte_mbuf *m, uint16_t hlen, uint64_t now);

/** Drop a fragment that must not become a part of a packet. @return NULL. */
struct rte_mbuf *reassembly_refuse(struct ip_stack *s, struct rte_mbuf *m);

/** The same for IPv6; the fragment header is at offset @p at. */
struct rte_mbuf *reassembly_v6(struct ip_stack *s, struct rte_mbuf *m, uint16_t at, uint64_t now);

#endif
