/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mld.h
 * MLD, as a host speaks it: version 2 (RFC 3810), and 1 (RFC 2710) while a querier does. Switches
 * with MLD snooping need its reports to forward neighbour solicitations to us, too.
 */
#ifndef IP_MLD_H
#define IP_MLD_H

#include "ip/membership.h"

extern const struct membership_wire mld_wire;

/**
 * A checked ICMPv6 message of type 130 or 131, @p len octets of which are at @p p: no more of a
 * longer one, whose sources are then beyond its end.
 */
void mld_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now);

#endif
