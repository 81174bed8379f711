/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file control.h
 * Segments without text: acknowledgments, openings, resets, and answers where there is no
 * connection (yet).
 */
#ifndef TCP_CONTROL_H
#define TCP_CONTROL_H

#include "tcp/conn.h"

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

/** An ACK to a suspicious segment, at a limited rate (RFC 5961 section 7). */
void tcp_challenge_ack(struct tcp_conn *c);

/**
 * An ACK to the peer's keep-alive, or to its probe of a closed window: limited as challenges of
 * this connection are, but not by those of all. Ten thousand idle connections are probed at a time,
 * and whose probe is not answered is given up.
 */
void tcp_answer_probe(struct tcp_conn *c);

/**
 * The answer to a SYN to @p l. @p cookie: the timestamp carries the state that is not kept here.
 * This and the next two have the traffic class that @p l has now.
 */
void tcp_send_syn_ack(const struct tcp_listener *l, const struct tcp_syn_request *e, bool cookie);

/** tcp_challenge_ack() for a half-open connection. */
void tcp_reply_challenge(const struct tcp_listener *l, const struct tcp_syn_request *e);

/** A half-open connection is being thrown away. */
void tcp_send_syn_request_rst(const struct tcp_listener *l, const struct tcp_syn_request *e);

/**
 * Answer @p seg, which belongs to no connection, with a reset (RFC 9293 section 3.10.7.1); never
 * answers a reset.
 */
void tcp_reply_rst(struct tcp_stack *s, const struct ip_rx *rx, const struct tcp_segment *seg);

#endif
