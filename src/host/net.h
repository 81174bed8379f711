/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net.h
 * A TCP/IP host put together from a configuration: port, engine, IP, TCP, the engine's thread.
 * What is above, an RNIC or plain streams, is its user's.
 */
#ifndef HOST_NET_H
#define HOST_NET_H

#include "base/random.h"
#include "engine/engine.h"
#include "host/config.h"
#include "tcp/tcp.h"

struct net;

/** The kernel's generator. */
extern const struct random_source net_random;

/**
 * Open the port and what stands on it; nothing moves before net_start(). The calling thread's
 * affinity and signal mask, and the process's stdout, are as before when it returns. The
 * configuration's slot is held until net_close(), and given back on failure.
 * @return 0, or a negative errno with a sentence in @p e (DPDK's own reason for a bad port).
 */
int net_open(const struct config *c, struct net **out, struct config_error *e);

/** What happens to the port; called under the engine's lock. Each may be NULL. */
struct net_events {
	/** Never for a memif: its link is its peer's presence. Else first when it is down. */
	void (*link_changed)(void *ctx, bool up);
	void (*gone)(void *ctx); /**< for good; once */
	void *ctx;
};

/**
 * Start the engine's thread and wait a little for a link that is slow to come up.
 * @param events is copied; NULL: none.
 * @return 0, or a negative errno with a sentence in @p e.
 */
int net_start(struct net *n, const struct net_events *events, struct config_error *e);

/**
 * Give the configuration's slot back. A child after fork() calls it too: its copy would keep the
 * slot when the parent is gone.
 */
void net_release_slot(struct net *n);

/**
 * Wait, but not for long, until peers have acknowledged what was sent before we closed. The
 * engine's thread sends it; no lock is waited for.
 */
void net_linger(struct net *n);

/**
 * Is the engine held by a thread that does not let go of it: one that jumped out of a verb from a
 * signal handler, or the caller itself, in one? Waits a second at most to see.
 */
bool net_is_stuck(struct net *n);

/** net_linger(), then reset what is still connected and keep the engine: the process ends. */
void net_end(struct net *n);

/** stack_end_by(). */
void net_end_by(struct net *n, int sig);

/** Stop the engine's thread. */
void net_stop(struct net *n);

/**
 * Stop if that has not been done, reset what is connected, close everything, the port last.
 * @param end the process ends and its other threads may be in here: nothing is freed, and the
 *        engine stays locked for good.
 */
void net_close(struct net *n, bool end);

const struct config *net_config(const struct net *n);
const struct log_sink *net_log(const struct net *n);
struct engine *net_engine(struct net *n);
struct ip_stack *net_ip(struct net *n);
struct tcp_stack *net_tcp(struct net *n);

/** Nanoseconds on the engine's clock, now; any thread. */
uint64_t net_now(const struct net *n);

/** The MAC address in use. */
void net_mac(const struct net *n, uint8_t mac[6]);

/** IP MTU of the port. */
uint16_t net_mtu(const struct net *n);

/** Is the link up, a memif's too? Under the engine's lock. */
bool net_has_link(struct net *n);

/** @param[out] speed Mb/s, 0: unknown. May be NULL. @return whether the link is up. */
bool net_link(struct net *n, uint32_t *speed);

#endif
