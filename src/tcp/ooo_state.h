/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ooo_state.h
 * Text that came out of order or twice, and what SACK reports of it. A side structure, as few
 * connections have any at a time. The first such segment makes it. It is freed at the end of a
 * round when nothing is held or left to report.
 */
#ifndef TCP_OOO_STATE_H
#define TCP_OOO_STATE_H

#include "tcp/ooo.h"
#include "tcp/sack.h"

struct rte_mbuf;
struct tcp_conn;
struct tcp_segment;

struct tcp_ooo_state {
	struct tcp_ooo ooo;
	struct tcp_sack_out sack;
	uint32_t ts_gap, gap_seq; /**< TS.Recent and RCV.NXT when the present gap opened */
};

/** @p c's, made if need be; NULL: no memory. */
struct tcp_ooo_state *tcp_ooo_state_get(struct tcp_conn *c);

/**
 * May the user have the text of @p m, which is at @p seg, before its turn (llp.h: ooo())? It is
 * still the caller's. @param more may it cost memory? @return true: taken, a note is in its place.
 */
bool tcp_ooo_state_offer(
	struct tcp_conn *c, const struct tcp_segment *seg, const struct rte_mbuf *m, bool more);

/** Let it go if it is empty. */
void tcp_ooo_state_done(struct tcp_conn *c);

/** Drop all that is held. */
void tcp_ooo_state_clear(struct tcp_conn *c);

/** These bytes came a second time: report it, if nothing else waits to be reported. */
void tcp_ooo_state_duplicate(struct tcp_conn *c, struct tcp_range r);

#endif
