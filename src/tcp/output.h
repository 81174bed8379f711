/* SPDX-License-Identifier: BSD-2-Clause */
/** @file output.h What a connection sends of its queue: when, and in what order. */
#ifndef TCP_OUTPUT_H
#define TCP_OUTPUT_H

#include "tcp/conn.h"

/** Send what the windows allow: lost records first, then new ones; keeps the timer running. */
void tcp_output(struct tcp_conn *c);

/**
 * Ask a peer whose window has had no room for long (RFC 9293 section 3.8.6.1), by a segment that it
 * answers and that has no text, one before SND.NXT, as Linux does: of an octet or a record that it
 * might take a part of, the rest would begin within an FPDU, in a segment of its own (RFC 5044
 * section 4.3). If the window has had room for a part since the last one, that part goes
 * (section 3.8.6.2.1); and so does a FIN, which needs none.
 */
void tcp_send_window_probe(struct tcp_conn *c);

/**
 * One segment that repeats @p len bytes of text in flight from @p seq on, wherever records begin.
 * @p len is within the room of a packet. @return 0, or as ip_send(), or -ENOMEM.
 */
int tcp_send_copy(struct tcp_conn *c, uint32_t seq, uint32_t len);

/**
 * A tail loss probe (RFC 8985 section 7.3). @return 0: new text; 1: the last again; -1: nothing.
 */
int tcp_send_loss_probe(struct tcp_conn *c);

/** There is text that has not been sent, and the peer's window has room for it. */
bool tcp_may_send_new(const struct tcp_conn *c);

#endif
