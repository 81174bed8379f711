/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sim.h
 * Whole iWARP hosts on a virtual clock, joined by links with a rate, a delay and faults. Nothing
 * here reads a clock, sleeps or starts a thread, and every random choice comes from one seed, so
 * a run that fails replays exactly.
 *
 * A simulated host is the real stack from IP to RNIC; only the port is ours.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "ip/ip.h"
#include "rnic/engine.h"
#include "rnic/rnic.h"
#include "tcp/tcp.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S  UINT64_C(1000000000)

struct sim;
struct sim_host;

/** One direction of a link. Probabilities are in parts per million. */
struct sim_link_config {
	uint64_t rate;  /**< bits per second; 0: infinite */
	uint64_t delay; /**< propagation, ns */
	uint32_t queue; /**< bytes that may wait for the wire; 0: 1 MiB */
	uint32_t loss_ppm;
	uint32_t duplicate_ppm;
	uint32_t corrupt_ppm;   /**< one bit is flipped somewhere behind the Ethernet header */
	uint32_t reorder_ppm;   /**< the packet takes reorder_delay longer */
	uint64_t reorder_delay; /**< ns */
	uint32_t drop_from;     /**< with drop_count: packets number drop_from ... are lost */
	uint32_t drop_count;
};

struct sim_link_stats {
	uint64_t packets, bytes, lost, queue_drops, duplicated, corrupted, reordered;
};

struct sim_host_config {
	const char *address;         /**< "10.0.0.1/24" or IPv6 */
	const char *gateway;         /**< NULL: none */
	uint16_t mtu;                /**< 0: 1500 */
	struct tcp_stack_config tcp; /**< sizes and options; the rest is filled in */
	struct rnic_config rnic;     /**< likewise */
};

struct sim *sim_create(uint64_t seed);
void sim_destroy(struct sim *s);

/** Time now, ns since the start. */
uint64_t sim_now(const struct sim *s);

struct sim_host *sim_host_create(struct sim *s, const struct sim_host_config *cfg);
struct engine *sim_host_engine(struct sim_host *h);
struct ip_stack *sim_host_ip(struct sim_host *h);
struct tcp_stack *sim_host_tcp(struct sim_host *h);
struct rnic *sim_host_rnic(struct sim_host *h);

/** Join two hosts' ports, with the same properties in both directions. */
void sim_join(struct sim_host *a, struct sim_host *b, const struct sim_link_config *cfg);

/** The direction that leaves @p h: change its properties at any time. */
struct sim_link_config *sim_link(struct sim_host *h);
const struct sim_link_stats *sim_link_get_stats(const struct sim_host *h);

/**
 * Run until @p done says so, or @p limit ns have passed.
 * @return true when @p done said so.
 */
bool sim_run(struct sim *s, uint64_t limit, bool (*done)(void *ctx), void *ctx);

/** Mbufs that are still out of the pool: call after every host was torn down. */
unsigned sim_leaked(const struct sim *s);

#endif
