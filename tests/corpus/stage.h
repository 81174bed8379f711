/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stage.h
 * Two simulated hosts, 10.0.0.1 and 10.0.0.2 (or fd00::1 and fd00::2), and a capture of what passes
 * between them. Anything that does not go as it should ends the program.
 */
#ifndef TESTS_CORPUS_STAGE_H
#define TESTS_CORPUS_STAGE_H

#include "sim/pcapng.h"
#include "sim/rdma_pair.h"

#define STAGE_LIMIT (60 * SIM_S)
#define STAGE_SIZE  8192 /**< octets of each side's buffer */

struct stage_config {
	bool v6;
	struct mpa_config a, b; /**< revision 0: the defaults of sim_host_create() */
	struct sim_path_config path;
	uint64_t seed;
	uint16_t mtu;      /**< 0: 1500 */
	bool at_sender;    /**< capture what a sends, not what comes to b */
	unsigned left_out; /**< the capture misses this packet of a's, counted from 1; 0: none */
};

struct stage {
	struct sim *sim;
	struct sim_host *a, *b;
	struct sim_link link;
	struct sim_pcapng *file;
	struct rdma_pair p;
	unsigned from_a, left_out;
};

/** Write to @p path. @p cfg may be NULL. */
void stage_open(struct stage *g, const char *path, const struct stage_config *cfg);

/** A new pair of QPs, not connected yet; a's buffer holds letters, b's digits. */
void stage_pair(struct stage *g, uint16_t port);

/** End the connection in good order, if it is there, and all of the pair. */
void stage_pair_end(struct stage *g);

/** Run until @p done; that must come. */
void stage_until(struct stage *g, bool (*done)(void *ctx), void *ctx);

/** Run until nothing is to happen any more, but the end of TIME-WAIT. */
void stage_settle(struct stage *g);

void stage_close(struct stage *g);

/** End the program unless @p good. */
void stage_must(bool good, const char *what);

#endif
