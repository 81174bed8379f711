/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file poller.h
 * Drives an engine from a port: received frames go up through IP to TCP, due timers run, and frames
 * to send go to the port. Or it drives it from the kernel's sockets. Implements engine_ops.
 */
#ifndef HOST_POLLER_H
#define HOST_POLLER_H

#include "dpdk-port/clock.h"
#include "dpdk-port/port.h"
#include "engine/engine.h"
#include "ip/ip.h"
#include "sock/sock.h"
#include "tcp/tcp.h"

struct poller;

/** What the engine's thread asks of what is below: the port or the sockets. */
struct poller_source {
	/** A descriptor that becomes readable when something comes; -1: there is none. */
	int (*fd)(const struct poller *p);
	/** It has to be armed first, and perhaps tells of nothing (idle_learn()). */
	bool (*is_interrupt)(const struct poller *p);
	void (*arm)(struct poller *p);
	void (*woken)(struct poller *p);
	void (*disbelieve)(struct poller *p, unsigned ms);
	uint64_t (*received)(const struct poller *p); /**< packets so far */
	bool (*has_backlog)(const struct poller *p); /**< frames wait for room; counted by poll() */
	/** Now and then. @return the link is up. NULL: there is none to look at, and fd tells
	 * always. */
	bool (*watch)(struct poller *p);
	/** May something come, as watch() has seen? One that has changed is called down, but may
	 * be up. NULL: as watch. */
	bool (*carries)(const struct poller *p);
};

struct poller {
	struct engine *engine;
	const struct poller_source *source;
	struct sock_stack *sock; /**< or the next three */
	struct port *port;
	struct ip_stack *ip;   /**< set once it exists; NULL: received frames are dropped */
	struct tcp_stack *tcp; /**< set once it exists */
	struct port_clock clock;
	struct timer again; /**< due at once while the next round has something to do */
	uint64_t last;      /**< time of the last clock(): it never goes back */
	unsigned lcore;     /**< lcore id for the holder of the engine's lock */
	unsigned had;       /**< lcore id that the holder had before */
	bool may_expedite;  /**< poller_expedite() has something to gain */
	int wake_fd;        /**< eventfd that the engine's thread sleeps on */
};

extern const struct engine_ops poller_ops, poller_sock_ops;

/** Prepare @p p and its engine. @return 0 or -errno. */
int poller_init(struct poller *p, struct engine *e, struct port *port);

/** The same over the kernel's sockets; @p p->sock is set once it exists. */
int poller_init_sock(struct poller *p, struct engine *e);

/** The engine's thread must have ended. */
void poller_fini(struct poller *p);

/** engine_ops.wake and clock_unlocked, of both. */
void poller_wake(void *ctx);
uint64_t poller_clock_unlocked(void *ctx);

/** Have the next round come at once. */
void poller_go_on(struct poller *p);

/** What both begin with. @return 0 or -errno. */
int poller_begin(struct poller *p, struct engine *e, const struct poller_source *source);

/** ip_stack_config.transmit, with the port as its context. */
void poller_transmit(void *port, struct rte_mbuf *m);

/**
 * ip_stack_config.expedite, with the poller as its context. A frame that is alone goes before the
 * books are kept; where a burst is being answered, or for a second time under one lock, the answers
 * go together at the end of the round.
 */
void poller_expedite(void *poller);

/** Clear wake_fd. */
void poller_wake_clear(struct poller *p);

#endif
