/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ooo.h
 * Text that came before what it follows: islands in the sequence space, sorted, with a gap of at
 * least a byte between any two. An island knows its bounds, so it is a SACK block as it is, and
 * holds its text as a list, so it goes to the receive queue in one step.
 *
 * What is there stays: of a new segment only the bytes that are missing are taken. Islands lie in
 * a ring, found by bisection; one that comes or goes moves the shorter side, and that is nothing
 * where losses happen (at the far end) and are repaired (at the near end).
 */
#ifndef TCP_OOO_H
#define TCP_OOO_H

#include "tcp/mbufs.h"
#include "tcp/seq.h"

#include <stdbool.h>

/** Islands of one connection at most: what bounds the work that a hostile peer can ask for. */
#define TCP_OOO_ISLANDS 8192

struct tcp_island {
	struct tcp_range r;
	struct tcp_mbufs text;
};

/** Zero-initialised is empty and holds no memory. */
struct tcp_ooo {
	struct tcp_island *ring;
	uint32_t cap, head, n;
	uint32_t held; /**< mbufs in all: a packet costs a whole one, whatever it carries */
};

/** What became of a segment. */
struct tcp_ooo_result {
	uint32_t kept;        /**< bytes that were missing and are held now */
	struct tcp_range dup; /**< the first run of bytes that were held already; empty: none */
};

static inline struct tcp_island *tcp_ooo_at(const struct tcp_ooo *o, uint32_t i)
{
	return &o->ring[(o->head + i) & (o->cap - 1)];
}

/**
 * Keep what is missing of @p m, whose text of @p len bytes, at least one, begins at @p seq; owns
 * it. Where it fills several gaps at once, it is copied into packets of @p pool.
 */
struct tcp_ooo_result tcp_ooo_insert(struct tcp_ooo *o, struct rte_mbuf *m, uint32_t seq,
	uint32_t len, struct rte_mempool *pool);

/**
 * Take the first island if it reaches or passes @p next, cut to begin there.
 * @param[out] out the caller's to keep.
 */
bool tcp_ooo_take(struct tcp_ooo *o, uint32_t next, struct tcp_mbufs *out);

/** The island that holds byte @p seq, or NULL. */
const struct tcp_island *tcp_ooo_find(const struct tcp_ooo *o, uint32_t seq);

/** Drop islands, the farthest first, until @p packets fewer are held, or none. */
void tcp_ooo_prune(struct tcp_ooo *o, uint32_t packets);

void tcp_ooo_clear(struct tcp_ooo *o);

#endif
