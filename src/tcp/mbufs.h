/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mbufs.h
 * Received text as a list of single mbufs, joined by their next pointers. What differs from a
 * packet's chain: each has its own pkt_len and counts as one segment, so lists can be cut and
 * joined anywhere and be longer than a chain's 65,535.
 *
 * Small pieces are copied into the tailroom of the one before, so that a peer that sends single
 * bytes cannot pin the packet pool. This is not all that could share packets: text may lie in many
 * more than it needs, until tcp_mbufs_pack().
 */
#ifndef TCP_MBUFS_H
#define TCP_MBUFS_H

#include "llp/llp.h"

#include <rte_mbuf.h>
#include <stdint.h>

/** Pieces up to this are always worth a copy; larger ones only when the list is long. */
#define TCP_PIECE_SMALL 256
#define TCP_LIST_LONG   32

/** Zero-initialised is empty. */
struct tcp_mbufs {
	struct rte_mbuf *first, *last;
	uint32_t count, bytes;
};

/**
 * The CRC32c of a received packet's first bytes of text, if it was made while they were summed
 * (llp_iov). It is where a port may leave the packet's hash, which we do not use, with the place of
 * the text: so it is forgotten where that is cut off in front. Who cuts off at the end forgets it.
 */
static inline void tcp_mbuf_set_crc(struct rte_mbuf *m, uint32_t len, uint32_t crc)
{
	m->hash.fdir.lo = m->data_off | len << 16;
	m->hash.fdir.hi = crc;
}

/** Nothing is known of any mbuf of the chain @p m. */
static inline void tcp_mbuf_forget_crc(struct rte_mbuf *m)
{
	for (; m; m = m->next)
		m->hash.fdir.lo = 0;
}

/** The text of one mbuf, and what is known of it. */
static inline struct llp_iov tcp_mbuf_iov(const struct rte_mbuf *m)
{
	struct llp_iov v = {.base = rte_pktmbuf_mtod(m, const uint8_t *), .len = m->data_len};
	uint32_t known = m->hash.fdir.lo;

	if ((uint16_t)known == m->data_off && known >> 16 <= m->data_len) {
		v.crc_len = known >> 16;
		v.crc = m->hash.fdir.hi;
	}
	return v;
}

/** Append the text of the packet @p m, a chain perhaps; owns it. */
void tcp_mbufs_push(struct tcp_mbufs *l, struct rte_mbuf *m);

/** Append all of @p more, which is then empty. */
void tcp_mbufs_join(struct tcp_mbufs *l, struct tcp_mbufs *more);

/** The same, and no bytes of the two share a packet: they do not belong together. */
void tcp_mbufs_join_apart(struct tcp_mbufs *l, struct tcp_mbufs *more);

/** Move the first mbufs, @p n bytes exactly, to @p out, which is overwritten. */
void tcp_mbufs_split(struct tcp_mbufs *l, uint32_t n, struct tcp_mbufs *out);

/** Free @p n bytes, which are there, from the front. */
void tcp_mbufs_consume(struct tcp_mbufs *l, uint32_t n);

void tcp_mbufs_free(struct tcp_mbufs *l);

/**
 * Let the first @p n bytes lie in as few mbufs as copies between neighbours make them: any two hold
 * more than a buffer has room for then. One that may not be written to is replaced by one of @p
 * pool, or stays for want of one.
 */
void tcp_mbufs_pack(struct tcp_mbufs *l, uint32_t n, struct rte_mempool *pool);

/**
 * Describe the oldest pieces, without taking them.
 * @param max at most so many. @param[out] total their bytes. @return how many.
 */
unsigned tcp_mbufs_show(const struct tcp_mbufs *l, struct llp_iov *v, unsigned max, size_t *total);

/** Cut @p n bytes, fewer than it has, off the front of the chain @p m. @return what is left. */
struct rte_mbuf *tcp_mbuf_trim_front(struct rte_mbuf *m, uint32_t n);

/** Cut @p n bytes, no more than it has, off the end of the chain @p m. Its first mbuf stays. */
void tcp_mbuf_trim_back(struct rte_mbuf *m, uint32_t n);

#endif
