/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file poller.h
 * Drives an engine from a port: received frames go up through IP to TCP, due timers run, and frames
 * to send go to the port. Implements engine_ops.
 */
#ifndef HOST_POLLER_H
#define HOST_POLLER_H

#include "dpdk-port/clock.h"
#include "dpdk-port/port.h"
#include "engine/engine.h"
#include "ip/ip.h"
#include "tcp/tcp.h"

struct poller {
	struct engine *engine;
	struct port *port;
	struct ip_stack *ip;   /**< set once it exists; NULL: received frames are dropped */
	struct tcp_stack *tcp; /**< set once it exists */
	struct port_clock clock;
	struct timer again; /**< due at once while looped packets wait for ip_input() */
	uint64_t last;      /**< time of the last clock(): it never goes back */
	unsigned lcore;     /**< lcore id for the holder of the engine's lock */
	unsigned had;       /**< lcore id that the holder had before */
	int wake_fd;        /**< eventfd that the engine's thread sleeps on */
};

extern const struct engine_ops poller_ops;

/** Prepare @p p and its engine. @return 0 or -errno. */
int poller_init(struct poller *p, struct engine *e, struct port *port);

/** The engine's thread must have ended. */
void poller_fini(struct poller *p);

/** ip_stack_config.transmit, with the port as its context. */
void poller_transmit(void *port, struct rte_mbuf *m);

/** Clear wake_fd. */
void poller_wake_clear(struct poller *p);

#endif
