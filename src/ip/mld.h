/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mld.h
 * MLDv2 reports (RFC 3810) of the groups that ND needs. Switches with MLD snooping need them to
 * forward neighbour solicitations to us.
 */
#ifndef IP_MLD_H
#define IP_MLD_H

#include "ip/ip.h"

/** Report that an address has joined its solicited-node group (RFC 3810 section 5.2.12). */
void mld_join(struct ip_stack *s);

/** A checked ICMPv6 message of type 130: answer with all our groups. */
void mld_query(struct ip_stack *s, const struct ip_rx *rx, uint32_t len, uint64_t now);

#endif
