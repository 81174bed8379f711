/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file frame.h
 * What the emulator does with frames in mbufs. They pass as they are; these are the exceptions.
 */
#ifndef WAN_FRAME_H
#define WAN_FRAME_H

#include <rte_mbuf.h>
#include <stdbool.h>

/**
 * Make a frame that was received fit to be sent: no offloads, and a VLAN tag that the port took
 * off is back in its place.
 * @return the frame, or NULL when there was no room for the tag: it is freed.
 */
struct rte_mbuf *wan_frame_adopt(struct rte_mbuf *m);

/** Turn over one bit behind the Ethernet header, chosen by @p random; of the frame itself. */
void wan_frame_corrupt(struct rte_mbuf *m, uint64_t random);

/** True for a TCP segment over IPv4, unless it is a fragment, or directly over IPv6. */
bool wan_frame_is_tcp(const struct rte_mbuf *m);

/**
 * True for a TCP segment over IPv4 or IPv6 with a checksum that its sender left to hardware that
 * was not there: the field then holds the plain sum of the pseudo header. One correct segment in
 * 65,536 looks like that too.
 */
bool wan_frame_is_unfilled(const struct rte_mbuf *m);

#endif
