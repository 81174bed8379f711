/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file vlan.h
 * IEEE 802.1Q tags. Above the port nothing knows of them: they are put on when a frame goes out,
 * and taken off when it comes in.
 */
#ifndef DPDK_PORT_VLAN_H
#define DPDK_PORT_VLAN_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

#define VLAN_TAG_LEN 4
#define VLAN_ID_MAX  4094

/**
 * Put a tag on an Ethernet frame. Its priority is the precedence in IP's type of service, 0 for
 * what is not IP. The first segment's headroom takes it; its data may be shared, as with IP's own
 * header.
 * @param id 1 to VLAN_ID_MAX
 * @return false: there is no headroom, and nothing was changed.
 */
bool vlan_push(struct rte_mbuf *m, uint16_t id);

/**
 * Take the tag off a frame that came, whether it is in the frame or its driver has taken it out.
 * @param id our VLAN; 0: none, and frames are ours that have no tag or one of priority alone. One
 * in the frame is left to IP then, which reads that place anyway.
 * @return false: the frame is of another VLAN, or of none, and is not ours.
 */
bool vlan_pop(struct rte_mbuf *m, uint16_t id);

/** Put back into the frame what its driver has taken out: for captures. */
void vlan_restore(struct rte_mbuf *m);

#endif
