/* SPDX-License-Identifier: BSD-2-Clause */
/** @file arp.h The Address Resolution Protocol (RFC 826, RFC 5227). */
#ifndef IP_ARP_H
#define IP_ARP_H

#include "ip/ip.h"
#include "ip/stack.h"

/** A received frame of type ARP, its data at the ARP header. Owns @p m. */
void arp_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now);

/** Ask for the owner of @p target, by broadcast or by unicast to @p mac. */
void arp_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac);

/** Probe for duplicates of @p addr (RFC 5227 section 2.1.1). */
void arp_probe(struct ip_stack *s, const struct ip_addr *addr);

/** Announce @p addr by gratuitous ARP (RFC 5227 section 2.3). */
void arp_announce(struct ip_stack *s, const struct ip_addr *addr);

#endif
