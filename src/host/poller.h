/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file poller.h
 * What drives an engine from below: the port's frames go up through IP to TCP, the due timers
 * run, and what comes out goes to the port. Implements engine_ops.
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
	struct ip_stack *ip;   /**< set once it exists; NULL: frames are dropped */
	struct tcp_stack *tcp; /**< the same */
	struct port_clock clock;
	struct timer again; /**< due at once, while we have yet to hear what we said to ourselves */
	uint64_t last;      /**< the clock never goes back behind this */
	unsigned lcore;     /**< lent to the holder of the engine's lock */
	unsigned had;       /**< what the holder had before */
	int wake_fd;        /**< eventfd that the engine's thread sleeps on */
};

extern const struct engine_ops poller_ops;

/** Prepare @p p and its engine. @return 0 or -errno. */
int poller_init(struct poller *p, struct engine *e, struct port *port);

/** The engine's thread must have ended. */
void poller_fini(struct poller *p);

/** For ip_stack_config.transmit, with the port as its context. */
void poller_transmit(void *port, struct rte_mbuf *m);

/** Take a pending wake-up off wake_fd. */
void poller_wake_clear(struct poller *p);

#endif
