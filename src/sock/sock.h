/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sock.h
 * The kernel's TCP as an LLP (llp/llp.h): connections are non-blocking sockets, and addresses,
 * routes and ports are the host's. It needs no privilege and no port of its own.
 *
 * Records are not aligned to segments: the kernel cuts the stream as it likes. A record of at most
 * the EMSS mostly has a segment for itself, which RFC 5044 asks for and does not count on.
 *
 * All sockets hang on one epoll instance, edge-triggered. sock_poll() takes what has come,
 * sock_flush() sends what is queued: one system call for all records of a connection.
 *
 * A connection that is not closed by llp_shutdown() or llp_release() is reset when its descriptor
 * is closed, also when the process is killed.
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef SOCK_SOCK_H
#define SOCK_SOCK_H

#include "base/log.h"
#include "base/random.h"
#include "base/timer.h"
#include "llp/llp.h"

struct sock_stack;

struct sock_stack_config {
	struct timer_wheel *wheel;
	const struct log_sink *log;
	/** Ours, copied; none: all of the host's. Connections to or from others are not made. */
	const struct ip_addr *addresses;
	unsigned num_addresses;
	const char *congestion_control; /**< of llp_connect_params; NULL: the kernel's default */
	uint32_t record_max;            /**< the EMSS, if it is more than a segment takes */
	uint32_t send_buffer, receive_buffer; /**< the kernel's, bytes; 0: as it likes */
	/** A peer that acknowledges nothing of what was sent for so long is gone; 0: 30,000 */
	uint32_t user_timeout_ms;
	/** One that acknowledges, but keeps its window closed for so long, is left; 0: never */
	uint32_t zero_window_timeout_ms;
	uint32_t keepalive_ms; /**< idle time before probes; 0: off */
	/**
	 * Bytes of buffers that connections may have together: half of them for what has come and
	 * is not taken, or not whole yet, and half for what goes. For more, the connection that
	 * waits longest gives way of the peer that has most. 0: 64 MiB
	 */
	uint64_t memory;
	/**
	 * Connections that are released and that their peer has not closed: each has its descriptor
	 * for up to a minute. For one more, the oldest is let go of the peer that has most. 0: any
	 * number
	 */
	uint32_t max_orphans;
	const struct random_source *random;
};

/** @return 0, -ENOMEM, or -errno: no descriptor for epoll. */
int sock_stack_create(const struct sock_stack_config *cfg, uint64_t now, struct sock_stack **out);

/** Resets what is open. */
void sock_stack_destroy(struct sock_stack *s);

/** The stack as MPA and the RNIC use it. */
struct llp_stack *sock_llp_stack(struct sock_stack *s);

/** A descriptor that is readable while there is something for sock_poll(). Any thread. */
int sock_fd(const struct sock_stack *s);

/** The time of this round by CLOCK_MONOTONIC, in ns; never goes back. */
void sock_set_now(struct sock_stack *s, uint64_t now);

/**
 * Take what has come: bytes, connections, room to send. Of one connection at most SOCK_BUFFER bytes
 * are taken.
 * @return how many sockets had something.
 */
unsigned sock_poll(struct sock_stack *s);

/**
 * The round is over: send what is queued, tell writable(), free closed connections.
 * @return true: there is more to do at once.
 */
bool sock_flush(struct sock_stack *s);

/** Reset each connection and do nothing else: the process ends. Neither allocates nor frees. */
void sock_reset_all(struct sock_stack *s);

/** In a child after fork(): close its copies of all descriptors. The parent's stay as they are. */
void sock_let_go(struct sock_stack *s);

/** True while a peer has yet to acknowledge something that was sent. */
bool sock_is_parting(const struct sock_stack *s);

/** Always-on counters. */
struct sock_stats {
	uint64_t connects, accepts, connections; /**< connections: now */
	uint64_t bytes_in, bytes_out, receives, sends;
	uint64_t no_descriptor;                         /**< sockets that could not be had */
	uint64_t buffers_evicted, zero_window_timeouts; /**< connections ended for that */
	uint64_t orphans_recycled; /**< released ones that were let go before their time */
};

const struct sock_stats *sock_stack_stats(const struct sock_stack *s);

#endif
