/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file skip_probe.h
 * Against optimistic acknowledgments (Savage et al., "TCP Congestion Control with a Misbehaving
 * Receiver", section 2.3; Sherwood et al., "Misbehaving TCP Receivers Can Cause Internet-Wide
 * Congestion Collapse", section 5): a receiver that acknowledges text before it comes hides every
 * loss and shortens the round trip, and has us send as fast as we can into a path that is full.
 *
 * Now and then, where nobody can foresee it, one segment is counted as sent and is not. An honest
 * receiver reports the gap by what comes behind it; the segment goes out at once then, and
 * congestion control hears nothing. A peer that acknowledges it, by SEG.ACK or in a SACK block, has
 * acknowledged what was never sent: the connection is reset.
 *
 * The price for an honest peer is one gap for a round trip, after the first 4096 segments and then
 * ever more seldom: never twice in 128 flights, in the end once in a quarter of a million.
 */
#ifndef TCP_SKIP_PROBE_H
#define TCP_SKIP_PROBE_H

#include "tcp/conn.h"

/** The first skipped record is among the 4096 that follow the first 4096. */
#define TCP_SKIP_PROBE_FIRST 12

/** The connection is established: when to think of it first. */
static inline void tcp_skip_probe_init(struct tcp_conn *c)
{
	c->sendq.skip_probe = c->sendq.head + (1u << TCP_SKIP_PROBE_FIRST);
}

/** Has the next new record's time come? What it costs the others. */
static inline bool tcp_skip_probe_due(const struct tcp_conn *c)
{
	return seq_geq(c->sendq.head + c->sendq.nxt, c->sendq.skip_probe);
}

/**
 * The first record that was not sent may go now, and tcp_skip_probe_due().
 * @return true: count it as sent instead.
 */
bool tcp_skip_probe_begin(struct tcp_conn *c);

/** A record that was skipped goes out after all, for whatever reason. */
void tcp_skip_probe_over(struct tcp_conn *c, struct tcp_record *r);

/**
 * What does @p seg, with an acceptable SEG.ACK, say of the segment that is skipped? It may be
 * sent for that. @return false: acknowledged, and the connection closed.
 */
bool tcp_skip_probe_ack(struct tcp_conn *c, const struct tcp_segment *seg);

#endif
