/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file bin.h
 * Packets that are done with, until the round ends. An acknowledged packet has left the caches, if
 * it waited for its ACK among those of many connections. Given back at once, each would be a
 * wait, and be the next to be written to; given back together they come into the caches together,
 * and what is written is a packet that was just read. What lies on top of the pool when the round
 * has ended is the port's, for what comes next.
 */
#ifndef TCP_BIN_H
#define TCP_BIN_H

#include <rte_mbuf.h>

/** One for each packet of a burst, and for a few ACKs of many. */
#define TCP_BIN_MAX 64

/** Zero-initialised is empty. */
struct tcp_bin {
	unsigned n;
	struct rte_mbuf *m[TCP_BIN_MAX];
};

/** Give back all that is in it. */
static inline void tcp_bin_empty(struct tcp_bin *b)
{
	/* All at a time: nothing of them is in the caches, perhaps not even where it is. */
	for (unsigned i = 0; i < b->n; i++) {
		rte_prefetch1(b->m[i]);
		rte_prefetch1(&b->m[i]->next); /* the second line */
	}
	for (unsigned i = 0; i < b->n; i++)
		rte_pktmbuf_free_seg(b->m[i]);
	b->n = 0;
}

/** Takes over one reference to the single mbuf @p m. @param b NULL: it is given back at once. */
static inline void tcp_bin_put(struct tcp_bin *b, struct rte_mbuf *m)
{
	if (!b) {
		rte_pktmbuf_free_seg(m);
		return;
	}
	if (b->n == TCP_BIN_MAX)
		tcp_bin_empty(b);
	b->m[b->n++] = m;
}

#endif
