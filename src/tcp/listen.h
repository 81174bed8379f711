/* SPDX-License-Identifier: BSD-2-Clause */
/** @file listen.h The LISTEN state (RFC 9293 section 3.10.7.2): listeners and their handshakes. */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "tcp/stack.h"
#include "tcp/synq.h"

struct tcp_listener {
	struct tcp_listener *next;
	struct tcp_listener *port_next; /**< in the chain of its port */
	struct tcp_stack *s;
	struct ip_endpoint local;
	unsigned flags; /**< enum llp_port_flags */
	struct tcp_synq_list synq;
	uint32_t synq_limit;         /**< beyond it, cookies; or the oldest has to go */
	const struct tcp_cc_ops *cc; /**< of what is accepted */
	uint8_t tos;                 /**< of handshakes, and of what is accepted */
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
 * A segment for a listener and for no connection, half-open ones included. Owns @p m, which begins
 * at the text. @p iss_above: the initial sequence number must lie beyond it, for a reopened
 * TIME-WAIT (RFC 9293 section 3.6.1); NULL: no such condition.
 */
void tcp_listen_input(struct tcp_listener *l, const struct ip_rx *rx, struct tcp_segment *seg,
	struct rte_mbuf *m, const uint32_t *iss_above);

/** A segment for a half-open connection. Owns @p m, which begins at the text. */
void tcp_synq_input(struct tcp_synq_entry *h, const struct ip_rx *rx, struct tcp_segment *seg,
	struct rte_mbuf *m);

#endif
