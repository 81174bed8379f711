/* SPDX-License-Identifier: BSD-2-Clause */
/** @file arp.h The Address Resolution Protocol (RFC 826, RFC 5227). */
#ifndef IP_ARP_H
#define IP_ARP_H

#include "ip/ip.h"
#include "ip/stack.h"

/** A received frame of type ARP, its data at the ARP header. Owns @p m. */
void arp_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now);

/** Ask for the owner of @p target: all (@p mac NULL), or the station that had it last. */
void arp_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac);

/** RFC 5227 section 2.1.1: does anybody have @p addr? */
void arp_probe(struct ip_stack *s, const struct ip_addr *addr);

/** RFC 5227 section 2.3: we have @p addr (a gratuitous ARP). */
void arp_announce(struct ip_stack *s, const struct ip_addr *addr);

#endif
