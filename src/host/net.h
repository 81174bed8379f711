/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net.h
 * Builds a TCP/IP host from a configuration: port, engine, IP, TCP, the engine's thread. With
 * `port = kernel` the kernel's sockets are in the place of port, IP and TCP. The layer above, an
 * RNIC or plain streams, belongs to the caller.
 */
#ifndef HOST_NET_H
#define HOST_NET_H

#include "base/random.h"
#include "engine/engine.h"
#include "host/config.h"
#include "iwpm/mapper.h"
#include "tcp/tcp.h"
#include "ud/net.h"

struct esp_boundary;
struct net;
struct telemetry;

/** The kernel's random generator. */
extern const struct random_source net_random;

/**
 * Open the port and the layers on it. No packet moves before net_start(). The calling thread's
 * affinity and signal mask and the process's stdout are restored. The configuration's slot is held
 * until net_close(), or given back on failure.
 * @return 0, or a negative errno with a sentence in @p e. For a bad port it has DPDK's reason.
 */
int net_open(const struct config *c, struct net **out, struct config_error *e);

/** Events of the port, called under the engine's lock. Each may be NULL. */
struct net_events {
	/**
	 * Not called for a memif, which has no link of its own. The first call is for a link that
	 * is down.
	 */
	void (*link_changed)(void *ctx, bool up);
	void (*gone)(void *ctx); /**< the port was removed; called once */
	void *ctx;
};

/**
 * Start the engine's thread and wait a little for a link that is slow to come up.
 * @param events copied; may be NULL.
 * @return 0, or a negative errno with a sentence in @p e.
 */
int net_start(struct net *n, const struct net_events *events, struct config_error *e);

/** Give the configuration's slot back. */
void net_release_slot(struct net *n);

/** In a child after fork(): neither the slot nor the port stays in use when the parent ends. */
void net_let_go(struct net *n);

/**
 * Wait for a short time until peers have acknowledged what was sent before we closed. The engine's
 * thread does the sending. No lock is waited for.
 */
void net_linger(struct net *n);

/**
 * True if the engine's lock is not released for a second: by a thread that jumped out of a verb
 * from a signal handler, or by the caller itself, which is in one. Waits up to a second.
 */
bool net_is_stuck(struct net *n);

/**
 * At the end of the process: net_linger(), then reset what is still connected and keep the lock.
 */
void net_end(struct net *n);

/** stack_end_by(). */
void net_end_by(struct net *n, int sig);

/** Stop the engine's thread. */
void net_stop(struct net *n);

/** net_stop(), reset what is connected, and close everything, the port last. */
void net_close(struct net *n);

/**
 * The same when exit() runs: the process has other threads, in verbs or on the way to one. Nothing
 * is freed or closed, and engine_end() lets them through.
 */
void net_leave(struct net *n);

const struct config *net_config(const struct net *n);
const struct log_sink *net_log(const struct net *n);
struct engine *net_engine(struct net *n);

/** For further commands, before net_start(). NULL: telemetry is off. */
struct telemetry *net_telemetry(struct net *n);

/** NULL over the kernel's sockets. */
struct ip_stack *net_ip(struct net *n);
struct tcp_stack *net_tcp(struct net *n);

/** NULL: no IPsec. */
struct esp_boundary *net_esp(struct net *n);

/** NULL: in the clear. */
struct tls_stack *net_tls(struct net *n);

/** What an RNIC stands on: TCP, ours or the kernel's, or TLS on it. */
struct llp_stack *net_llp(struct net *n);

/** How the datagrams of an RNIC's UD QPs go; NULL: the configuration wants none, or `tls` does. */
const struct ud_net *net_ud(struct net *n);

/** What a program that wants UD QPs is to know (rnic_config.ud_remark), or NULL. */
const char *net_ud_remark(const struct net *n);

/** The port mapper that an RNIC is to ask; NULL: off. */
struct iwpm *net_mapper(struct net *n);

/** The time on the engine's clock in ns. Any thread. */
uint64_t net_now(const struct net *n);

/** The MAC address in use. */
void net_mac(const struct net *n, uint8_t mac[6]);

/** IP MTU of the port. */
uint16_t net_mtu(const struct net *n);

/** True if the link is up. A memif's is up while its peer is there. Under the engine's lock. */
bool net_has_link(struct net *n);

/** @param[out] speed Mb/s, 0: unknown. May be NULL. @return whether the link is up. */
bool net_link(struct net *n, uint32_t *speed);

#endif
