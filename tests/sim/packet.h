/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * A frame on its way: an mbuf of the simulation's own pools, with what the network keeps for it in
 * the mbuf's private area. A TCP segment on its way is a reference to the sender's bytes, not a
 * copy of them; to change one, take it by sim_packet_own() first.
 */
#ifndef TESTS_SIM_PACKET_H
#define TESTS_SIM_PACKET_H

#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <stdbool.h>
#include <stdint.h>

struct sim;

/** In the private area of every mbuf on the way. */
struct sim_packet {
	uint64_t at;    /**< ns: when it leaves the heap that it is in */
	uint64_t order; /**< among those of one time */
	bool unfilled;  /**< its checksums were left to the port, which leaves them out */
	bool writable;  /**< its bytes belong to it alone */
};

static inline struct sim_packet *sim_packet(struct rte_mbuf *m)
{
	return rte_mbuf_to_priv(m);
}

/** Take a frame over from a host's stack: owns @p m. @return NULL when a pool is empty. */
struct rte_mbuf *sim_packet_launch(struct sim *s, struct rte_mbuf *m);

/** A second one with the same bytes, or NULL. */
struct rte_mbuf *sim_packet_copy(struct sim *s, struct rte_mbuf *m);

/**
 * The same frame in memory of its own, contiguous, with its checksums filled in and to be verified
 * by the receiver. Owns @p m. @return NULL when the pool is empty.
 */
struct rte_mbuf *sim_packet_own(struct sim *s, struct rte_mbuf *m);

/** An empty frame of memory of its own, or NULL. */
struct rte_mbuf *sim_packet_new(struct sim *s);

/** A place in a FIFO: what elements ask for stands here, as the packets themselves are out of the
 *  processor's caches by the time their turn comes. */
struct sim_slot {
	struct rte_mbuf *m;
	uint64_t at; /**< ns: what the element that holds it makes of it */
	uint32_t len;
};

/** In order of arrival. Zero-initialised is empty. */
struct sim_fifo {
	struct sim_slot *ring;
	uint32_t cap, head, n; /**< cap is a power of two */
	uint64_t bytes;
};

void sim_fifo_push(struct sim_fifo *f, struct rte_mbuf *m, uint64_t at);

/** Number @p i from the front; it must be there. */
static inline struct sim_slot *sim_fifo_at(const struct sim_fifo *f, uint32_t i)
{
	return &f->ring[(f->head + i) & (f->cap - 1)];
}

/** The first, taken out; there must be one. Calls those after it into the caches. */
static inline struct rte_mbuf *sim_fifo_take(struct sim_fifo *f)
{
	struct sim_slot *first = sim_fifo_at(f, 0);

	if (f->n > 16) {
		rte_prefetch0(sim_fifo_at(f, 16)->m);
		rte_prefetch0(rte_pktmbuf_mtod(sim_fifo_at(f, 8)->m, void *));
	}
	f->head++;
	f->n--;
	f->bytes -= first->len;
	return first->m;
}

void sim_fifo_free(struct sim_fifo *f);

/** By sim_packet.at, and among equals in order of arrival. Zero-initialised is empty. */
struct sim_heap {
	struct rte_mbuf **v;
	uint32_t n, cap;
	uint64_t order;
};

void sim_heap_push(struct sim_heap *h, struct rte_mbuf *m);
struct rte_mbuf *sim_heap_take(struct sim_heap *h);
void sim_heap_free(struct sim_heap *h);

#endif
