/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file unread.h
 * Text in order that its user leaves here: an FPDU without its end (RFC 5044 section 4.3 lets it be
 * 64 KiB long), a message for which no receive is posted. It is acknowledged, so it can not be
 * dropped, and for as long as nobody wants the packets it may wait. When a connection is refused a
 * packet, the greediest connection goes among those that had no text taken for a while: by what it
 * holds and by how many such connections its peer has.
 */
#ifndef TCP_UNREAD_H
#define TCP_UNREAD_H

#include "tcp/conn.h"

struct tcp_unread {
	TAILQ_ENTRY(tcp_unread) link;
	struct tcp_conn *conn;
	struct peer_charge charge; /**< while tcp_unread_relieve() looks for the greediest */
	uint64_t since;            /**< when the user last took something, or text began to wait */
};

/** @return 0 or -ENOMEM. */
int tcp_unreads_init(struct tcp_stack *s);
void tcp_unreads_fini(struct tcp_stack *s);

/** Remember @p c, which was not. Without memory, text that waits goes unnoticed this time. */
void tcp_unread_add(struct tcp_conn *c);

/** Text begins to wait, or the user took some of it. */
static inline void tcp_unread_moves(struct tcp_conn *c)
{
	if (likely(c->has_unread))
		c->unread->since = c->s->now;
	else
		tcp_unread_add(c);
}

/** Nothing will wait any more: the user let go, or it is over. Nothing if @p c is not known. */
void tcp_unread_end(struct tcp_conn *c);

/** Packets of text that wait for the user of @p c or behind gaps: what its end would give back. */
uint32_t tcp_unread_held(const struct tcp_conn *c);

/** A connection that holds @p held packets was refused one, or had to be given one too many. */
void tcp_unread_want(struct tcp_stack *s, uint32_t held);

/**
 * The round is over, and somebody was refused a packet (tcp_stack.rx_wanted): end the greediest of
 * some connections with unread text, others each time, if it holds more than the connection that
 * was refused.
 */
void tcp_unread_relieve(struct tcp_stack *s);

#endif
