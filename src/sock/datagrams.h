/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file datagrams.h
 * Datagrams of programs over a UDP port of the host, many of them: those that go out together, and
 * those that have come, take one system call. udp.h is for the stack's own few.
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef SOCK_DATAGRAMS_H
#define SOCK_DATAGRAMS_H

#include "sock/sock.h"

/** Datagrams in one system call. */
#define SOCK_DATAGRAMS_BATCH 16

struct sock_datagrams;

/** Where a datagram goes, or has come from. */
struct sock_datagrams_path {
	struct ip_addr local; /**< received: perhaps a group */
	struct ip_endpoint remote;
	unsigned interface; /**< sending to a group: over that one; 0: the host finds one */
	uint8_t tos;
	uint8_t ttl; /**< sending: 0: the host's usual one */
};

typedef void sock_datagrams_fn(
	void *ctx, const struct sock_datagrams_path *path, const uint8_t *data, size_t len);

/**
 * Open @p port of each family that the host has.
 * @param max octets of the longest datagram; longer ones are dropped.
 * @return 0; -EADDRINUSE; another -errno.
 */
int sock_datagrams_open(struct sock_stack *s, uint16_t port, size_t max, sock_datagrams_fn *input,
	void *ctx, struct sock_datagrams **out);

/**
 * The same, for what is sent to multicast groups that sock_datagrams_join() names, and for nothing
 * else. Several processes may open such a port: each gets all.
 */
int sock_datagrams_open_shared(struct sock_stack *s, uint16_t port, size_t max,
	sock_datagrams_fn *input, void *ctx, struct sock_datagrams **out);

/**
 * Be a member of @p group on @p interface of the host. Once each.
 * @return 0; -EINVAL: no group; -ENODEV: no interface; -ENOSPC: more than the host allows a socket
 *         (net.ipv4.igmp_max_memberships); another -errno.
 */
int sock_datagrams_join(struct sock_datagrams *d, const struct ip_addr *group, unsigned interface);
void sock_datagrams_leave(
	struct sock_datagrams *d, const struct ip_addr *group, unsigned interface);

/** @p d may be NULL. */
void sock_datagrams_close(struct sock_datagrams *d);

/**
 * Room for the next one to send; sock_datagrams_commit() or nothing follows.
 * @return 0; -EAGAIN: the host takes no more now; -EMSGSIZE; -EAFNOSUPPORT.
 */
int sock_datagrams_begin(struct sock_datagrams *d, const struct sock_datagrams_path *path,
	size_t len, uint8_t **room);
void sock_datagrams_commit(struct sock_datagrams *d);

/** Send them. @return false: the host does not take all now; the next call goes on. */
bool sock_datagrams_flush(struct sock_datagrams *d);

#endif
