/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mbuf_cache_state.h What mbuf_cache.h is about. */
#ifndef TCP_MBUF_CACHE_STATE_H
#define TCP_MBUF_CACHE_STATE_H

struct rte_mbuf;

/** Room for those that are worth a wait (mbuf_cache.h), for one of each packet of a burst, and for
 * a few ACKs of many. */
#define TCP_MBUF_CACHE_MAX 128

/** Zero-initialised is empty. */
struct tcp_mbuf_cache {
	struct rte_mbuf *spare; /**< as the pool gives it; NULL: none */
	unsigned n;
	struct rte_mbuf *m[TCP_MBUF_CACHE_MAX];
};

#endif
