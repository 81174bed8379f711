/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file neighbour_priv.h
 * What the parts of the neighbour cache share: neighbour.c has the states and the questions,
 * neighbour_table.c the entries, neighbour_queue.c the packets that wait for an answer, and
 * neighbour_rival.c which station is believed.
 */
#ifndef IP_NEIGHBOUR_PRIV_H
#define IP_NEIGHBOUR_PRIV_H

#include "ip/neighbour.h"

/** Is there a link-layer address? */
static inline bool neighbour_is_known(const struct ip_neighbour *n)
{
	return n->state == NEIGHBOUR_REACHABLE || n->state == NEIGHBOUR_STALE ||
	       n->state == NEIGHBOUR_DELAY || n->state == NEIGHBOUR_PROBE;
}

/* ---- states ------------------------------------------------------------------------------- */

void neighbour_set_state(struct ip_neighbour *n, enum neighbour_state state);
void neighbour_become_stale(struct ip_neighbour *n, uint64_t now);
void neighbour_become_reachable(struct ip_neighbour *n, uint64_t now);
void neighbour_start_probe(struct ip_neighbour *n, enum neighbour_asked asked, uint64_t now);

/** @return the address that is being asked; NULL: all are. */
const uint8_t *neighbour_asked_mac(const struct ip_neighbour *n);

void neighbour_arm(struct ip_neighbour *n, uint64_t deadline);
timer_fn neighbour_expire;

/* ---- entries ------------------------------------------------------------------------------ */

/** Free the entry, and what waits for it. */
void neighbour_release(struct ip_stack *s, struct ip_neighbour *n);

/* ---- packets that wait -------------------------------------------------------------------- */

/** Let @p m wait for the neighbour's answer. Owns it. */
void neighbour_enqueue(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m);

/** Empty the queue into @p to. @return how many there were. */
unsigned neighbour_take_queue(struct ip_neighbour *n, struct rte_mbuf *to[NEIGHBOUR_QUEUE]);

void neighbour_drop_queue(struct ip_neighbour *n);
void neighbour_flush_queue(struct ip_neighbour *n, uint64_t now);

/* ---- stations ----------------------------------------------------------------------------- */

/**
 * It has answered when it was asked, or there was progress through it: that counts for its routes.
 * What it says unasked, as if it had been, proves nothing (RFC 3756 section 4.1.2).
 */
void neighbour_prove(struct ip_neighbour *n, uint64_t now);

/** Believe another address, perhaps of the entry's own; the former one becomes the rival. */
void neighbour_move(struct ip_neighbour *n, const uint8_t *mac, uint64_t now);

#endif
