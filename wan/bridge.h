/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file bridge.h
 * The emulator: two ports with a path (path.h) in each direction between them, in real time. Frames
 * of any protocol pass unchanged, as on a wire.
 */
#ifndef WAN_BRIDGE_H
#define WAN_BRIDGE_H

#include "base/histogram.h"
#include "dpdk-port/port.h"
#include "wan/path.h"

#include <signal.h>

struct wan_bridge;

/** Direction 0 is from port 0 to port 1. */
struct wan_bridge_config {
	const char *device[2];
	const char *eal;     /**< further EAL arguments, or NULL */
	uint32_t memory_mib; /**< packet buffers per direction; 0: as the paths need */
	struct wan_path_config path[2];
	uint64_t seed;
	bool poll;          /**< never sleep */
	const int *wake_fd; /**< ends a sleep when it is readable; NULL or -1: none */
	/** Called every 100 ms, and soon after @p wake_fd has become readable. */
	void (*tick)(void *ctx);
	void *ctx;
	const struct log_sink *log;
};

/** Counters of one direction, in addition to the path's. */
struct wan_bridge_stats {
	uint64_t bytes_out;
	uint64_t oversize;         /**< larger than the MTU of a port, as by a kernel's offloads */
	uint64_t missed;           /**< lost before we received them */
	uint64_t refused;          /**< the output port had no room, or its link was down */
	struct histogram lateness; /**< ns from a frame's due time until it was sent */
};

/** Open both ports. @return 0, or negative errno with a sentence in @p e. */
int wan_bridge_open(
	const struct wan_bridge_config *cfg, struct wan_bridge **out, struct port_error *e);

void wan_bridge_close(struct wan_bridge *b);

/** Carry frames until @p *stop, which a signal handler may set, is not 0. */
void wan_bridge_run(struct wan_bridge *b, const volatile sig_atomic_t *stop);

/** The path of direction @p d, 0 or 1. */
struct wan_path *wan_bridge_path(struct wan_bridge *b, unsigned d);

/** Valid until the bridge is closed; @c missed and @c refused are as of this call. */
const struct wan_bridge_stats *wan_bridge_get_stats(struct wan_bridge *b, unsigned d);

/** Nanoseconds that the bridge has run. */
uint64_t wan_bridge_elapsed(const struct wan_bridge *b);

#endif
