/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file loss.h
 * Packets that never arrive: by chance, one by one or in bursts, as the path emulator loses them;
 * by number; or as a function says.
 */
#ifndef TESTS_SIM_LOSS_H
#define TESTS_SIM_LOSS_H

#include "sim/element.h"
#include "wan/loss.h"

/** Packets number @p from (the first is 0) up to @p from + @p count - 1. */
struct sim_loss_range {
	uint64_t from, count;
};

struct sim_loss_config {
	struct wan_loss_config chance;
	/** A burst is over after so many ns, however few packets came; 0: never. Bursts are counted
	 *  in packets, and where few are sent, one might last for minutes. */
	uint64_t longest;
	struct sim_loss_range lose[4]; /**< count 0: not used */
	/** @return true: lose it. NULL: none. Packets lost otherwise are not shown. */
	bool (*predicate)(void *ctx, struct rte_mbuf *m, uint64_t number);
	void *ctx;
};

struct sim_loss_stats {
	uint64_t packets, lost;
};

struct sim_loss;

struct sim_loss *sim_loss_create(struct sim *s, const struct sim_loss_config *cfg);
struct sim_element *sim_loss_element(struct sim_loss *l);
struct sim_loss_config *sim_loss_config(struct sim_loss *l); /**< to change at any time */
const struct sim_loss_stats *sim_loss_stats(const struct sim_loss *l);

#endif
