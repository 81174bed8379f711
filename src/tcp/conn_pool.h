/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file conn_pool.h
 * Memory of one stack's connections. The connections themselves come from large pieces, in huge
 * pages where the kernel has them: with tens of thousands, a connection is looked up in the page
 * tables more often than in the cache otherwise. Rings of send queues are lent: a connection with
 * nothing to send has none, and steady traffic finds the one that was given back last still in the
 * cache.
 */
#ifndef TCP_CONN_POOL_H
#define TCP_CONN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What connections are laid out in and aligned to: the line of x86 and of most of ARM. Not DPDK's
 * RTE_CACHE_LINE_SIZE, which is 128 for any ARM.
 */
#define TCP_CACHE_LINE 64

/** Rings of 1, 2, ... 2^18 records: a request or an answer is one. */
#define TCP_RING_CLASSES 19

struct tcp_conn_pool {
	void *free_conns; /**< a list through their first words */
	void *pieces;
	size_t next_piece;
	struct tcp_ring *rings[TCP_RING_CLASSES];
	size_t ring_bytes; /**< in these lists */
};

/** Memory for a connection: zeroed, aligned to a cache line; NULL: there is none. */
void *tcp_conn_pool_get(struct tcp_conn_pool *s, size_t size);
void tcp_conn_pool_put(struct tcp_conn_pool *s, void *conn);

/**
 * A ring for @p n records of @p size bytes at least. @param[out] cap for how many it is, a power
 * of two. @return NULL: no memory.
 */
void *tcp_conn_pool_ring(struct tcp_conn_pool *s, uint32_t n, size_t size, uint32_t *cap);

/** Give back a ring for @p cap records. */
void tcp_conn_pool_ring_free(struct tcp_conn_pool *s, void *ring, uint32_t cap, size_t size);

/** Free everything; all connections and rings must have been given back. */
void tcp_conn_pool_fini(struct tcp_conn_pool *s);

#endif
