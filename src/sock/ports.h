/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ports.h
 * Ports that are bound before they are used. A socket holds each, so that the kernel keeps it from
 * other processes; sockets that listen there or connect from there share it by SO_REUSEADDR.
 */
#ifndef SOCK_PORTS_H
#define SOCK_PORTS_H

#include "sock/stack.h"

struct sock_port {
	LIST_ENTRY(sock_port) link;
	struct ip_endpoint local;
	unsigned flags; /**< enum llp_port_flags */
	int fd;         /**< -1: given to a listener */
};

/** llp_port_reserve(). */
int sock_port_reserve(struct sock_stack *s, struct ip_endpoint *local, unsigned flags);

/** llp_port_release(). */
void sock_port_release(struct sock_stack *s, const struct ip_endpoint *local);

/** llp_port_choose(). */
uint16_t sock_port_choose(
	struct sock_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote);

/** A socket bound to @p local as a listener's is to be: the reserved one, if there is one. */
int sock_port_take(struct sock_stack *s, const struct ip_endpoint *local);

/** Let a connection share the port of @p local, if it is reserved, of that address or of all. */
void sock_port_share(struct sock_stack *s, const struct ip_endpoint *local);

#endif
