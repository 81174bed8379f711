/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file udp.h
 * A UDP port of the host, of both families, for services of the stack: small datagrams, few of
 * them. What src/ip/udp.h is on a port of our own.
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef SOCK_UDP_H
#define SOCK_UDP_H

#include "sock/sock.h"

/** Data of one datagram, in octets. Longer ones are not taken. */
#define SOCK_UDP_DATA_MAX 512

struct sock_udp;
struct sock_source;

struct sock_udp_user {
	/** A datagram came from @p from to @p to, an address of ours. */
	void (*input)(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
		const uint8_t *data, size_t len, uint64_t now);
	/**
	 * ICMP says that this datagram to @p to was not delivered, or as much of it as was quoted.
	 */
	void (*error)(void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len,
		uint64_t now);
	/** Instead of both: something has come, and the user takes it from the socket itself. */
	void (*readable)(void *ctx, struct sock_source *source);
	bool shared; /**< other sockets may have the port, too, of other processes as well */
	void *ctx;
};

/**
 * Open @p port of each family that the host has; 0: an ephemeral one, not the same of both.
 * @return 0; -EADDRINUSE; another -errno.
 */
int sock_udp_open(struct sock_stack *s, uint16_t port, const struct sock_udp_user *user,
	struct sock_udp **out);

/** @p u may be NULL. */
void sock_udp_close(struct sock_udp *u);

/** Send a datagram from the address @p from. It may be lost. */
void sock_udp_send(struct sock_udp *u, const struct ip_addr *from, const struct ip_endpoint *to,
	const void *data, size_t len);

/** Private: close the descriptors and nothing else, in a child after fork(). */
void sock_udp_let_go(struct sock_udp *u);

#endif
