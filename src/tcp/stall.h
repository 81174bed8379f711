/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stall.h
 * Stalled connections: text waits, and the peer, who answers, has kept its window closed for longer
 * than a retransmission time-out. RFC 9293 section 3.8.6.1 lets them live for as long as it
 * answers; the configuration may end them earlier.
 *
 * A connection that its user let go of is none of these: it has the user time-out (timers.c).
 */
#ifndef TCP_STALL_H
#define TCP_STALL_H

#include "tcp/conn.h"

struct tcp_stall {
	uint64_t since; /**< when the last text was acknowledged, or began to wait */
};

/** The window is still closed. Without memory to remember that, it goes unnoticed this time. */
void tcp_stall_begin(struct tcp_conn *c);

/** Text was acknowledged, the user let go, or it is over. Nothing if it is not stalled. */
void tcp_stall_end(struct tcp_conn *c);

/** When the configuration ends a connection that is stalled; TIMER_NEVER: it does not. */
uint64_t tcp_stall_deadline(const struct tcp_conn *c);

/** Say why a stalled connection ends: @p why completes "its window was closed ...". */
void tcp_stall_log(const struct tcp_conn *c, const char *why);

#endif
