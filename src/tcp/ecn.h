/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ecn.h
 * Explicit congestion notification (RFC 3168 section 6.1): whether it is used, what we echo to the
 * peer, and what we do about the peer's echo.
 */
#ifndef TCP_ECN_H
#define TCP_ECN_H

#include "tcp/conn.h"

/** Codepoints of the two low bits of the traffic class (RFC 3168 section 5). */
enum { TCP_ECN_ECT0 = 2, TCP_ECN_CE = 3, TCP_ECN_MASK = 3 };

/**
 * Section 6.1.1: an ECN-setup SYN has both flags. A peer that got no answer to one tries without
 * (section 6.1.1.1); it may have had our first answer by then, or never get that.
 */
static inline bool tcp_ecn_asks(const struct tcp_segment *syn)
{
	const uint8_t both = TCP_ECE | TCP_CWR;

	return (syn->flags & both) == both;
}

/** Does this SYN ask for ECN, and do we agree? */
bool tcp_ecn_offered(
	const struct tcp_stack_config *cfg, const struct ip_rx *rx, const struct tcp_segment *syn);

/** The flags that our next SYN carries. */
uint8_t tcp_ecn_syn_flags(struct tcp_conn *c);

/** The peer's SYN,ACK to our SYN. */
void tcp_ecn_take_syn_ack(struct tcp_conn *c, const struct tcp_segment *seg);

/** Text came with a mark, or its sender tells that it has slowed down. */
void tcp_ecn_marked(struct tcp_conn *c, const struct ip_rx *rx, const struct tcp_segment *seg);

/** An acceptable ACK with ECE, or the first beyond the window that was reduced for one. */
void tcp_ecn_echoed(struct tcp_conn *c, const struct tcp_segment *seg);

/** For every acceptable segment with text. */
static inline void tcp_ecn_text(
	struct tcp_conn *c, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	if (c->ecn.on && ((rx->tos & TCP_ECN_MASK) == TCP_ECN_CE || (seg->flags & TCP_CWR)))
		tcp_ecn_marked(c, rx, seg);
}

/** For every acceptable ACK, before it is taken. */
static inline void tcp_ecn_ack(struct tcp_conn *c, const struct tcp_segment *seg)
{
	if ((seg->flags & TCP_ECE) || c->ecn.waiting)
		tcp_ecn_echoed(c, seg);
}

/** May new text say that it understands marks? */
static inline bool tcp_ecn_capable(const struct tcp_conn *c)
{
	return c->ecn.on && !c->ecn.distrusted;
}

#endif
