/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stall.h
 * Stalled connections: text waits, and the peer answers but has kept its window closed for longer
 * than a retransmission time-out. RFC 9293 section 3.8.6.1 lets them live for as long as it
 * answers. So they do here, unless the configuration ends them earlier, or others want the packets
 * that they hold: then the greediest goes, by what it holds and by how many such connections its
 * peer has.
 *
 * A connection that its user let go of is none of these: it has the user time-out (timers.c).
 */
#ifndef TCP_STALL_H
#define TCP_STALL_H

#include "tcp/conn.h"

struct tcp_stall {
	TAILQ_ENTRY(tcp_stall) link;
	struct tcp_conn *conn;
	struct peer_charge charge;
	uint64_t since;       /**< when the last text was acknowledged, or began to wait */
	uint64_t bytes_acked; /**< the connection's, when this was noticed */
};

/** @return 0 or -ENOMEM. */
int tcp_stalls_init(struct tcp_stack *s);
void tcp_stalls_fini(struct tcp_stack *s);

/**
 * The window of @p c is still closed. If its peer may not have one more such connection, the one
 * of those before it goes that holds most. Without memory to remember that, it goes unnoticed this
 * time.
 */
void tcp_stall_begin(struct tcp_conn *c);

/**
 * Text was acknowledged. That ends it if a quarter of what waits was taken since it began, or 64
 * KiB: a peer that takes a few bytes now and then keeps the rest of our packets as one does that
 * takes none.
 */
void tcp_stall_progress(struct tcp_conn *c);

/** The user let go, or it is over. Nothing if it is not stalled. */
void tcp_stall_end(struct tcp_conn *c);

/** When the configuration ends a connection that is stalled; TIMER_NEVER: it does not. */
uint64_t tcp_stall_deadline(const struct tcp_conn *c);

/** Say why a stalled connection ends: @p why completes "it took 9 in 60 s, ...". */
void tcp_stall_log(const struct tcp_conn *c, const char *why);

/**
 * The round is over, and somebody was refused a packet (tcp_stack.tx_wanted): end the greediest of
 * some stalled connections, others each time, if it holds more than the connection that was
 * refused.
 */
void tcp_stalls_relieve(struct tcp_stack *s);

#endif
