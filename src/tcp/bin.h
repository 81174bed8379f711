/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file bin.h
 * Packets that are done with, for a while. An acknowledged packet has left the caches, if it waited
 * for its ACK among those of many connections, and the pages it is in have left the TLB. Given back
 * one by one, or a burst's few at a time, each would be a wait; many at a time wait together. And
 * what is written to next is a packet that was just read, as those given back at a round's end are
 * the port's, for what comes next.
 */
#ifndef TCP_BIN_H
#define TCP_BIN_H

#include <rte_mbuf.h>

/** Worth a wait, when the round ends. */
#define TCP_BIN_ENOUGH 64
/** Room for that, for one of each packet of a burst, and for a few ACKs of many. */
#define TCP_BIN_MAX 128

/** Zero-initialised is empty. */
struct tcp_bin {
	unsigned n;
	struct rte_mbuf *m[TCP_BIN_MAX];
};

/** Give back all that is in it. */
static inline void tcp_bin_empty(struct tcp_bin *b)
{
	for (unsigned i = 0; i < b->n; i++)
		rte_prefetch0(b->m[i]);
	for (unsigned i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->m[i];

		/* The second line of its header says of such a mbuf what it said when it was new:
		 * the last reference is enough to know, and that is in the first. */
		if (likely(rte_mbuf_refcnt_read(m) == 1))
			rte_mbuf_raw_free(m);
		else
			rte_pktmbuf_free_seg(m);
	}
	b->n = 0;
}

/**
 * Takes over one reference to the single mbuf @p m, which has its own buffer.
 * @param b NULL: it is given back at once.
 */
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
