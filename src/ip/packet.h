/* SPDX-License-Identifier: BSD-2-Clause */
/** @file packet.h Helpers for mbufs. */
#ifndef IP_PACKET_H
#define IP_PACKET_H

#include "ip/ip.h"

#include <rte_mbuf.h>

/** An empty packet from the stack's pool, with a headroom of at least IP_HEADROOM; or NULL. */
struct rte_mbuf *packet_new(struct ip_stack *s);

/**
 * Make the first @p len bytes of @p m contiguous and writable. @p len must not be larger than the
 * packet. Owns @p m.
 * @return the packet, or NULL (no memory), and @p m is freed.
 */
struct rte_mbuf *packet_pull(struct ip_stack *s, struct rte_mbuf *m, uint16_t len);

/** As packet_pull(), with IP_HEADROOM before the bytes. */
struct rte_mbuf *packet_own(struct ip_stack *s, struct rte_mbuf *m, uint16_t len);

/** packet_pull() of at most @p len bytes: all, if the packet is shorter. */
static inline struct rte_mbuf *packet_head(struct ip_stack *s, struct rte_mbuf *m, uint16_t len)
{
	if (m->data_len >= len || m->data_len == m->pkt_len)
		return m;
	return packet_pull(s, m, m->pkt_len < len ? (uint16_t)m->pkt_len : len);
}

/** Shorten @p m to its first @p len bytes. */
void packet_trim(struct rte_mbuf *m, uint32_t len);

/**
 * By its header @p m, which is to us, is longer than it is. If it is as long as the link's MTU all
 * the same, it did not fit a frame of the port's: Linux puts segments together (GRO, TSO) before a
 * packet socket has them.
 */
void packet_note_cut(struct ip_stack *s, const struct rte_mbuf *m);

/** Remove @p len bytes, which are contiguous, from the front. */
static inline void packet_skip(struct rte_mbuf *m, uint16_t len)
{
	m->data_off += len;
	m->data_len -= len;
	m->pkt_len -= len;
}

#endif
