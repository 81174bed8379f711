/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file shaper.h
 * A token bucket with a queue: bursts pass at once until the tokens are spent, what exceeds the
 * rate waits, and what does not fit the queue is dropped.
 */
#ifndef TESTS_SIM_SHAPER_H
#define TESTS_SIM_SHAPER_H

#include "sim/bucket.h"
#include "sim/element.h"

struct sim_shaper_config {
	struct sim_bucket_config bucket;
	uint64_t limit; /**< bytes that may wait; 0: 1 MiB */
};

struct sim_shaper_stats {
	uint64_t packets, drops, max_bytes;
};

struct sim_shaper;

struct sim_shaper *sim_shaper_create(struct sim *s, const struct sim_shaper_config *cfg);
struct sim_element *sim_shaper_element(struct sim_shaper *p);
const struct sim_shaper_stats *sim_shaper_stats(const struct sim_shaper *p);

#endif
