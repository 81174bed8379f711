/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file early.h
 * What came too early or twice, and what SACK has to say of it: a side structure, as few
 * connections have any at a time. It comes with the first such segment, and goes when the round
 * ends and nothing is held or left to tell.
 */
#ifndef TCP_EARLY_H
#define TCP_EARLY_H

#include "tcp/ooo.h"
#include "tcp/sack.h"

struct rte_mbuf;
struct tcp_conn;
struct tcp_segment;

struct tcp_early {
	struct tcp_ooo ooo;
	struct tcp_sack_out sack;
	uint32_t ts_gap, gap_seq; /**< TS.Recent and RCV.NXT when the present gap opened */
};

/** @p c's, made if need be; NULL: no memory. */
struct tcp_early *tcp_early_get(struct tcp_conn *c);

/**
 * May the user have the text of @p m, which is at @p seg, before its turn (llp.h: early())? It is
 * still the caller's. @param more may it cost memory? @return true: taken, a note is in its place.
 */
bool tcp_early_offer(
	struct tcp_conn *c, const struct tcp_segment *seg, const struct rte_mbuf *m, bool more);

/** Let it go if it is empty. */
void tcp_early_done(struct tcp_conn *c);

/** Drop all that is held. */
void tcp_early_clear(struct tcp_conn *c);

/** These bytes came a second time: tell it, if nothing else waits to be told. */
void tcp_early_duplicate(struct tcp_conn *c, struct tcp_range r);

#endif
