/* SPDX-License-Identifier: BSD-2-Clause */
/** @file listen.h The LISTEN state (RFC 9293 section 3.10.7.2): listeners and their handshakes. */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "tcp/stack.h"

struct tcp_listener {
	struct tcp_listener *next;
	struct tcp_stack *s;
	struct ip_endpoint local;
	unsigned backlog, handshakes;
	llp_accept_fn *accept;
	void *user;
};

int tcp_listen(struct tcp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct tcp_listener **out);

/** Handshakes under way are reset. */
void tcp_unlisten(struct tcp_listener *l);

/** The listener for packets to @p local: the exact address before the wildcards. */
struct tcp_listener *tcp_listener_find(struct tcp_stack *s, const struct ip_endpoint *local);

/**
 * A segment for a listener and for no connection. @p iss_above: the initial sequence number must
 * lie beyond it, for a reopened TIME-WAIT (RFC 9293 section 3.6.1); NULL: no such condition.
 */
void tcp_listen_input(struct tcp_listener *l, const struct ip_rx *rx, const struct tcp_segment *seg,
	const uint32_t *iss_above);

#endif
