/* SPDX-License-Identifier: BSD-2-Clause */
/** @file frame.h The emulator's changes to frames in mbufs. */
#ifndef WAN_FRAME_H
#define WAN_FRAME_H

#include <rte_mbuf.h>
#include <stdbool.h>

struct rte_mbuf;

/**
 * Prepare a received frame for sending: clear offloads, and restore a VLAN tag that the port has
 * stripped.
 * @return the frame, or NULL: there was no room for the tag, and it is freed.
 */
struct rte_mbuf *wan_frame_adopt(struct rte_mbuf *m);

/** Bytes of the Ethernet header, with the VLAN tags (IEEE 802.1Q) that are whole in the first
 * segment. */
uint32_t wan_frame_header_len(const struct rte_mbuf *m);

/**
 * Invert one bit behind the Ethernet header and its tags, chosen by @p random, in place. Of an
 * empty frame there is none.
 */
void wan_frame_corrupt(struct rte_mbuf *m, uint64_t random);

/** True for a TCP segment over IPv4, unless it is a fragment, or directly over IPv6. */
bool wan_frame_is_tcp(const struct rte_mbuf *m);

/**
 * True for a TCP segment with a checksum that its sender left to hardware: the field has the plain
 * sum of the pseudo header. So has one correct segment in 65,536.
 */
bool wan_frame_is_unfilled(const struct rte_mbuf *m);

#endif
