/* SPDX-License-Identifier: BSD-2-Clause */
/** @file udp_priv.h Private: struct sock_udp. */
#ifndef SOCK_UDP_PRIV_H
#define SOCK_UDP_PRIV_H

#include "sock/stack.h"
#include "sock/udp.h"

#include <sys/socket.h>

struct sock_udp_socket {
	struct sock_source source;
	struct sock_udp *udp;
	uint16_t port;
};

struct sock_udp {
	LIST_ENTRY(sock_udp) link;
	struct sock_stack *s;
	uint16_t port; /**< 0: ephemeral */
	struct sock_udp_user user;
	struct sock_udp_socket socket[2]; /**< IPv4, IPv6 */
};

/** Where a received datagram was sent to. @return false: it is not told. */
bool sock_udp_destination(struct msghdr *msg, struct ip_addr *to);

/**
 * Begin the control data of one to send, which has room: the address that it is to come from, and
 * the interface that it is to take, 0: any.
 */
void sock_udp_set_source(struct msghdr *msg, const struct ip_addr *from, unsigned interface);

#endif
