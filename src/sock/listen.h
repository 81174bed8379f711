/* SPDX-License-Identifier: BSD-2-Clause */
/** @file listen.h Private: a socket that listens. */
#ifndef SOCK_LISTEN_H
#define SOCK_LISTEN_H

#include "sock/stack.h"

struct llp_listener {
	struct sock_source source;
	struct sock_stack *s;
	LIST_ENTRY(llp_listener) link; /**< in listeners, then in dead_listeners */
	TAILQ_ENTRY(llp_listener) accepting_link;
	llp_accept_fn *accept;
	void *user;
	struct timer again; /**< to look at what could not be accepted */
	bool is_accepting;  /**< in that list */
};

/** llp_listen(). */
int sock_listen(struct sock_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out);

/** End it for its peers, and close the descriptor. */
void sock_listener_close(struct llp_listener *l);

/** llp_unlisten(). */
void sock_unlisten(struct llp_listener *l);

/** Accept some of what waits. */
void sock_accept(struct llp_listener *l);

#endif
