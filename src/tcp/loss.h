/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file loss.h
 * Loss recovery: which records are believed lost (RFC 8985; without SACK, RFC 6582), how fast they
 * and others are sent meanwhile (RFC 6937), and when congestion control is told.
 */
#ifndef TCP_LOSS_H
#define TCP_LOSS_H

#include "tcp/conn.h"

/** One ACK and what it did. */
struct tcp_ack_info {
	const struct tcp_segment *seg;
	uint32_t prior_pipe; /**< tcp_pipe() before it */
	bool duplicate;      /**< as RFC 5681 section 2 defines it */
	struct tcp_delivery d;
};

/** Nothing is known of it yet. Every ACK has one, so what is not valid is not written either. */
static inline void tcp_ack_info_begin(
	struct tcp_ack_info *n, const struct tcp_segment *seg, uint32_t prior_pipe)
{
	memset(n, 0, offsetof(struct tcp_ack_info, d.newest));
	n->seg = seg;
	n->prior_pipe = prior_pipe;
}

/** Recovery has nothing to remember yet. */
void tcp_loss_init(struct tcp_conn *c);

/** Take SEG.ACK, if it is new, and the SACK blocks into the queue and n->d. */
void tcp_loss_take(struct tcp_conn *c, struct tcp_ack_info *n);

/**
 * Draw the conclusions; SND.UNA and the round trip are up to date. Runs the timer. Without SACK,
 * counts what duplicate ACKs say as delivered in n->d.
 */
void tcp_loss_on_ack(struct tcp_conn *c, struct tcp_ack_info *n);

/** ECN-Echo counts (RFC 3168 section 6.1.2): reduce, once per window; nothing is sent again. */
void tcp_loss_ecn(struct tcp_conn *c);

/** The path's MTU fell: what is in flight and larger was dropped there (RFC 1191 section 6.4). */
void tcp_loss_too_big(struct tcp_conn *c);

/** The retransmission timer fired, for what rec.timer says. */
void tcp_loss_timer(struct tcp_conn *c);

/** Something was sent, or has room again: run the timer for it. */
void tcp_loss_sent(struct tcp_conn *c);

/** The reduction that recovery began with was wrong: take it back (RFC 4015), and end recovery. */
void tcp_loss_undo(struct tcp_conn *c);

#endif
