/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sim.h
 * A network of whole hosts on a virtual clock. Nothing here reads a clock, sleeps or starts a
 * thread, and every random choice comes from one seed, so a run that fails replays exactly.
 *
 * host.h: what is at the ends; path.h: what is between them, made of elements (element.h).
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "base/prng.h"
#include "base/random.h"
#include "sim/event.h"

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;

#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S  UINT64_C(1000000000)

struct sim_element;
struct sim_host;

struct sim_config {
	uint64_t seed;
	/** Packets that all hosts' stacks may hold at one time: sent and not acknowledged, unread,
	 *  out of order. 0: 16,383. Memory that is not used costs little. */
	uint32_t packets;
	uint16_t room; /**< of one packet, for the largest MTU with its headers; 0: 2,048 */
	/** Packets on their way that somebody changed or copied; 0: 16,383. */
	uint32_t copies;
	/** Asked for each packet that a stack takes. @return true: there is none. NULL: nobody. */
	bool (*no_packet)(void);
};

struct sim {
	uint64_t now; /**< ns; begins at 1 s */
	struct sim_events events;
	struct prng rng;
	struct rte_mempool *pool;       /**< of the hosts' stacks */
	struct rte_mempool *references; /**< packet.h */
	struct rte_mempool *copies;
	struct rte_mempool *external; /**< of hosts that gather */
	uint64_t no_packet;           /**< packets lost because one of the last two was empty */
	struct sim_element *elements;
	struct appointment *appointments; /**< of sim_at() */
	struct sim_host *hosts;
	unsigned n_hosts;
	bool changed; /**< a host or a program did something since sim_run() asked */
};

/** @return never NULL. */
struct sim *sim_create(const struct sim_config *cfg);

/** Hosts, elements, packets; aborts when a packet has leaked. */
void sim_destroy(struct sim *s);

/** Time now, ns. */
static inline uint64_t sim_now(const struct sim *s)
{
	return s->now;
}

/** Call @p fn at time @p at: a route changes, a host begins. */
void sim_at(struct sim *s, uint64_t at, void (*fn)(void *ctx), void *ctx);

/**
 * Run until @p done says so, or @p limit ns have passed. @p done is asked after each event at a
 * host, and may call what it likes.
 * @return true when @p done said so.
 */
bool sim_run(struct sim *s, uint64_t limit, bool (*done)(void *ctx), void *ctx);

/** For ip_stack_config.random and its like. */
struct random_source sim_random_source(struct sim *s);

#endif
