/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mbuf_cache.h
 * Packets that are done with, before they go back to the pool.
 *
 * With many connections, an acknowledged packet has left the caches, and its pages have left the
 * TLB. To give it back is a cache miss. Many at a time miss together.
 *
 * A received packet that was read is in the first cache, and mostly it is answered. So one of those
 * is kept as a spare, and the answer is written there without a visit to the pool.
 */
#ifndef TCP_MBUF_CACHE_H
#define TCP_MBUF_CACHE_H

#include "tcp/mbuf_cache_state.h"

#include <rte_mbuf.h>
#include <stdbool.h>

/** Worth a wait, when the round ends. */
#define TCP_MBUF_CACHE_ENOUGH 64

/** Give back all that was acknowledged. */
static inline void tcp_mbuf_cache_give_back(struct tcp_mbuf_cache *b)
{
	for (unsigned i = 0; i < b->n; i++)
		rte_prefetch0(b->m[i]);
	for (unsigned i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->m[i];

		/* The second line of its header says of such a mbuf what it said when it was new,
		 * if it never was in a chain of a port's: the first has enough to know. */
		if (likely(rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1))
			rte_mbuf_raw_free(m);
		else
			rte_pktmbuf_free_seg(m);
	}
	b->n = 0;
}

/** Give back all that is in it. */
static inline void tcp_mbuf_cache_flush(struct tcp_mbuf_cache *b)
{
	tcp_mbuf_cache_give_back(b);
	if (b->spare)
		rte_mbuf_raw_free(b->spare);
	b->spare = NULL;
}

/** A round ends. @param many connections: some packets stay until there are enough, and one. */
static inline void tcp_mbuf_cache_round(struct tcp_mbuf_cache *b, bool many)
{
	if (!many)
		tcp_mbuf_cache_flush(b);
	else if (b->n >= TCP_MBUF_CACHE_ENOUGH)
		tcp_mbuf_cache_give_back(b);
}

/**
 * Takes over one reference to the single mbuf @p m, which has its own buffer and is acknowledged.
 * @param b NULL: it is given back at once.
 */
static inline void tcp_mbuf_cache_put(struct tcp_mbuf_cache *b, struct rte_mbuf *m)
{
	if (!b) {
		rte_pktmbuf_free_seg(m);
		return;
	}
	if (b->n == TCP_MBUF_CACHE_MAX)
		tcp_mbuf_cache_give_back(b);
	b->m[b->n++] = m;
}

/** Takes over the packet @p m, which came and was read; @p pool is what answers come from. */
static inline void tcp_mbuf_cache_put_read(
	struct tcp_mbuf_cache *b, struct rte_mbuf *m, const struct rte_mempool *pool)
{
	if (b->spare || m->nb_segs != 1 || m->pool != pool)
		rte_pktmbuf_free(m);
	else
		b->spare = rte_pktmbuf_prefree_seg(m); /* NULL: somebody has a reference still */
}

/** @return the spare packet, as if it were new; NULL: there is none. */
static inline struct rte_mbuf *tcp_mbuf_cache_take(struct tcp_mbuf_cache *b)
{
	struct rte_mbuf *m = b->spare;

	if (m) {
		b->spare = NULL;
		rte_pktmbuf_reset(m);
	}
	return m;
}

#endif
