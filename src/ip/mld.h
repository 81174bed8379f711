/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mld.h
 * MLDv2 reports (RFC 3810) of the groups that ND needs, so that switches which listen to them
 * let neighbour solicitations through to us.
 */
#ifndef IP_MLD_H
#define IP_MLD_H

#include "ip/ip.h"

/** An address of ours joined its solicited-node group: tell (RFC 3810 section 5.2.12). */
void mld_join(struct ip_stack *s);

/** A checked ICMPv6 message of type 130: answer with all our groups. */
void mld_query(struct ip_stack *s, const struct ip_rx *rx, uint32_t len, uint64_t now);

#endif
