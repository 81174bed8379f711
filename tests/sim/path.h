/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file path.h
 * One direction between two points: policer, shaper, smaller MTU, queue and line, loss, marks,
 * propagation, reordering, duplication, corruption, in this order; those that the configuration
 * asks for.
 */
#ifndef TESTS_SIM_PATH_H
#define TESTS_SIM_PATH_H

#include "sim/bucket.h"
#include "sim/delay.h"
#include "sim/loss.h"
#include "sim/mtu.h"
#include "sim/queue.h"
#include "sim/reorder.h"
#include "sim/shaper.h"

struct sim_path_config {
	struct sim_queue_config queue;
	uint64_t delay; /**< ns */
	struct sim_loss_config loss;
	struct sim_reorder_config reorder;
	double duplicate, corrupt, mark;  /**< probabilities */
	struct sim_bucket_config policer; /**< rate 0: none */
	struct sim_shaper_config shaper;  /**< bucket.rate 0: none */
	struct sim_mtu_config mtu;        /**< mtu 0: none */
};

/** Its elements, to change and to read; they belong to the simulation. */
struct sim_path {
	struct sim_element *in;
	struct sim_mtu *mtu;
	struct sim_queue *queue;
	struct sim_loss *loss;
	struct sim_delay *delay;
	struct sim_reorder *reorder;
	struct sim_element *out; /**< the last one: its next is where the path leads to */
	/* These may be NULL. */
	struct sim_shaper *shaper;
	struct sim_policer *policer;
	struct sim_some *duplicate;
	struct sim_some *corrupt;
	struct sim_some *mark;
};

/** A path that leads to @p to. */
void sim_path_create(struct sim *s, const struct sim_path_config *cfg, struct sim_element *to,
	struct sim_path *out);

/** Put @p e before all that the path has. */
void sim_path_prepend(struct sim_path *p, struct sim_element *e);

/** Put @p e behind all that the path has. */
void sim_path_append(struct sim_path *p, struct sim_element *e);

/** Two hosts and nothing else. */
struct sim_link {
	struct sim_host *a, *b;
	struct sim_path ab, ba;
};

/** Join two hosts; @p ba NULL: as @p ab. */
void sim_join(struct sim_host *a, struct sim_host *b, const struct sim_path_config *ab,
	const struct sim_path_config *ba, struct sim_link *out);

/** Elements before and behind each direction of a link: for middleboxes and taps. */
void sim_link_prepend(struct sim_link *l, struct sim_element *ab, struct sim_element *ba);

#endif
