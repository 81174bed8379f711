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

#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

/** Pieces up to this are always worth a copy; larger ones only when the list is long. */
#define TCP_PIECE_SMALL 256
#define TCP_LIST_LONG   32

/** Zero-initialised is empty. */
struct tcp_mbufs {
	struct rte_mbuf *first, *last;
	uint32_t count, bytes;
};

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
