/* SPDX-License-Identifier: BSD-2-Clause */
/** @file output.h Everything that a connection sends. */
#ifndef TCP_OUTPUT_H
#define TCP_OUTPUT_H

#include "tcp/conn.h"

/** Send what the windows allow: lost records first, then new ones; keeps the timer running. */
void tcp_output(struct tcp_conn *c);

/** An ACK of its own, now. */
void tcp_send_ack(struct tcp_conn *c);

/** The window of our SYNs, which is never scaled (RFC 7323 section 2.2). */
uint16_t tcp_syn_window(const struct tcp_stack *s);

/** Our SYN; in SYN-RECEIVED, after a simultaneous open, our SYN,ACK; again perhaps. */
void tcp_send_syn(struct tcp_conn *c);

/** <SEQ=SND.NXT><CTL=RST,ACK>: the connection is being thrown away. */
void tcp_send_rst(struct tcp_conn *c);

/** A segment that the peer must answer: nothing, one before SND.NXT (RFC 9293 section 3.8.4). */
void tcp_send_keepalive(struct tcp_conn *c);

/** The first record beyond the window, whole: at least one octet (RFC 9293 section 3.8.6.1). */
void tcp_send_window_probe(struct tcp_conn *c);

/**
 * One segment that repeats @p len bytes of text in flight from @p seq on, wherever records begin.
 * @p len is within the room of a packet. @return 0, or as ip_send(), or -ENOMEM.
 */
int tcp_send_copy(struct tcp_conn *c, uint32_t seq, uint32_t len);

/** A tail loss probe (RFC 8985 section 7.3). @return 0: new text; 1: the last again; -1: nothing.
 */
int tcp_send_loss_probe(struct tcp_conn *c);

/** There is text that has not been sent, and the peer's window has room for it. */
bool tcp_may_send_new(const struct tcp_conn *c);

/** An ACK to a suspicious segment, at a limited rate (RFC 5961 section 7). */
void tcp_challenge_ack(struct tcp_conn *c);

/** The answer to a SYN. @p cookie: the timestamp carries what else nobody here would know. */
void tcp_send_syn_ack(struct tcp_stack *s, const struct tcp_embryo *e, bool cookie);

/** tcp_challenge_ack() for a half-open connection. */
void tcp_reply_challenge(struct tcp_stack *s, const struct tcp_embryo *e);

/** A half-open connection is being thrown away. */
void tcp_send_embryo_rst(struct tcp_stack *s, const struct tcp_embryo *e);

/**
 * Answer @p seg, which belongs to no connection, with a reset (RFC 9293 section 3.10.7.1); never
 * answers a reset.
 */
void tcp_reply_rst(struct tcp_stack *s, const struct ip_rx *rx, const struct tcp_segment *seg);

#endif
