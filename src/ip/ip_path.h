/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ip_path.h Where packets to one destination go, inside the IP layer. */
#ifndef IP_IP_PATH_H
#define IP_IP_PATH_H

#include "ip/stack.h"

/** Does @p lead to all members of a multicast group, and not to one station? */
static inline bool ip_path_is_to_group(const struct ip_path *p)
{
	return p->to_group && ip_addr_is_multicast(&p->dst);
}

/**
 * Looks up anew where @p leads: routes, neighbours, addresses or path MTUs are not what they were
 * when its generation was the stack's.
 * @return 0, -EADDRNOTAVAIL: its source is not ours any more, -ENETUNREACH
 */
int ip_path_find(struct ip_stack *s, struct ip_path *p, uint64_t now);

#endif
