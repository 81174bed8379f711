/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stack.h Private: struct sock_stack. */
#ifndef SOCK_STACK_H
#define SOCK_STACK_H

#include "base/peer_set.h"
#include "sock/buffer.h"
#include "sock/sock.h"

#include <sys/queue.h>

/** Addresses in the configuration, at most. */
#define SOCK_ADDRESSES 16

struct sock_conn;
struct sock_port;
struct llp_listener;

/** What epoll tells of. Embedded in connections and listeners. */
struct sock_source {
	int fd; /**< -1: closed */
	/** @p events of epoll. Not called any more once @p fd is -1. */
	void (*ready)(struct sock_source *source, uint32_t events);
};

/** Buffers of one direction (held.h). */
struct sock_held {
	struct peer_set waiting; /**< connections with something in one */
	uint64_t bytes, most;    /**< of all that connections have; and may */
};

struct sock_stack {
	struct llp_stack llp;
	struct sock_stack_config cfg;
	struct ip_addr addresses[SOCK_ADDRESSES];
	int epoll;
	int spare_fd; /**< closed to accept and refuse a connection when there are no others */
	uint64_t now;
	struct sock_buffers buffers;
	struct sock_held rx, tx;
	struct peer_set orphans;
	LIST_HEAD(, sock_conn) conns;
	struct sock_conn *walk; /**< the next of a walk (inspect.h); NULL: it is over */
	LIST_HEAD(, llp_listener) listeners;
	LIST_HEAD(, sock_port) ports;
	LIST_HEAD(, sock_udp) udps;
	/** More to be read, without another event. */
	TAILQ_HEAD(, sock_conn) ready;
	/** Something to be done at the end of the round. */
	TAILQ_HEAD(, sock_conn) dirty;
	unsigned num_ready, num_dirty;
	/** Small sends that wait for more, the one held longest first. */
	TAILQ_HEAD(, sock_conn) held;
	struct timer held_timer; /**< for the first of them */
	uint64_t looked_at;      /**< time of the last epoll_wait() */
	/**
	 * The last few times epoll told of this connection alone: it is read without being told
	 * of, between two looks. NULL: none, or a past one; not used but with its streak.
	 */
	struct sock_conn *lone;
	unsigned lone_streak; /**< times in a row */
	/** Listeners with more connections to accept. */
	TAILQ_HEAD(, llp_listener) accepting;
	/** To be freed at the end of the round: a caller may be inside of them. */
	LIST_HEAD(, sock_conn) dead;
	LIST_HEAD(, llp_listener) dead_listeners;
	LIST_HEAD(, sock_udp) dead_udps;
	struct sock_stats stats;
	bool told_congestion_control;
	bool checked_buffers; /**< what the kernel makes of their configured sizes */
};

/** Have epoll tell of @p source. @return 0 or -errno. */
int sock_watch(struct sock_stack *s, struct sock_source *source, uint32_t events);

/**
 * Have epoll tell of what @p source still has, which it has told of once. For who leaves something
 * so that others have their turn. @param events as for sock_watch().
 */
void sock_watch_again(struct sock_stack *s, struct sock_source *source, uint32_t events);

/** Have epoll tell of @p source no more, and close its descriptor, if it has one. */
void sock_unwatch(struct sock_stack *s, struct sock_source *source);

/** In a child after fork(), which has epoll in common with its parent: only close it. */
void sock_let_go_of(struct sock_source *source);

/** True if @p a is ours: the host's, and among those of the configuration. */
bool sock_is_ours(const struct sock_stack *s, const struct ip_addr *a);

#endif
