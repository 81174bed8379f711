/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sampler.h The state of a flow and of the queue it passes, looked at again and again. */
#ifndef TESTS_SIM_SAMPLER_H
#define TESTS_SIM_SAMPLER_H

#include "sim/flow.h"
#include "sim/queue.h"

struct sim_sample {
	uint64_t at; /**< ns */
	struct sim_flow_state flow;
	uint64_t queue_bytes;
};

struct sim_sampler;

/** From now on, each @p interval ns. @p q may be NULL. */
struct sim_sampler *sim_sampler_create(
	struct sim *s, const struct sim_flow *f, const struct sim_queue *q, uint64_t interval);

/** All so far. @return how many; valid until the simulation goes on. */
size_t sim_sampler_get(const struct sim_sampler *p, const struct sim_sample **out);

/** Look now, too: at the end of a run. */
void sim_sampler_look(struct sim_sampler *p);

void sim_sampler_destroy(struct sim_sampler *p);

#endif
