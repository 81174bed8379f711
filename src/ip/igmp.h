/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file igmp.h
 * IGMP, as a host speaks it: version 3 (RFC 3376), and 2 (RFC 2236) and 1 (RFC 1112) while a
 * querier does.
 */
#ifndef IP_IGMP_H
#define IP_IGMP_H

#include "ip/membership.h"

#define IGMP_PROTO 2

extern const struct membership_wire igmp_wire;

/** A received IGMP message, its data at the message. Owns @p m. */
void igmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

#endif
