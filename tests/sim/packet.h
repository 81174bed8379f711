/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * A frame on its way: an mbuf of the simulation's own pools, with what the network keeps for it in
 * the mbuf's private area. A TCP segment on its way is a reference to the sender's bytes, not a
 * copy of them; whoever wants to change one takes it by sim_packet_own() first.
 */
#ifndef TESTS_SIM_PACKET_H
#define TESTS_SIM_PACKET_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct sim;

/** In the private area of every mbuf on the way. */
struct sim_packet {
	struct rte_mbuf *next; /**< in a FIFO */
	uint64_t at;           /**< ns: what the element that holds it makes of it */
	uint64_t order;        /**< among those of one time, in a heap */
	bool unfilled;         /**< its checksums were left to the port, which leaves them out */
	bool writable;         /**< its bytes belong to it alone */
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

/** In order of arrival. Zero-initialised is empty. */
struct sim_fifo {
	struct rte_mbuf *first, *last;
	uint64_t bytes;
	uint32_t n;
};

static inline void sim_fifo_push(struct sim_fifo *f, struct rte_mbuf *m)
{
	sim_packet(m)->next = NULL;
	if (f->first)
		sim_packet(f->last)->next = m;
	else
		f->first = m;
	f->last = m;
	f->bytes += m->pkt_len;
	f->n++;
}

/** The first, taken out; there must be one. */
static inline struct rte_mbuf *sim_fifo_take(struct sim_fifo *f)
{
	struct rte_mbuf *m = f->first;

	f->first = sim_packet(m)->next;
	f->bytes -= m->pkt_len;
	f->n--;
	return m;
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
