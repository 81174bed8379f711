/* SPDX-License-Identifier: BSD-2-Clause */
/** @file bucket.h Tokens that come at a rate, up to a burst (RFC 2697 with one colour). */
#ifndef TESTS_SIM_BUCKET_H
#define TESTS_SIM_BUCKET_H

#include "sim/sim.h"

struct sim_bucket_config {
	uint64_t rate;  /**< bits per second */
	uint64_t burst; /**< bytes; at least one packet */
};

/** Begins full when `full_at` is 0. The level is kept as the time at which it would be full. */
struct sim_bucket {
	uint64_t full_at;
};

static inline uint64_t sim_bucket_time(const struct sim_bucket_config *c, uint64_t bytes)
{
	return bytes * 8 * SIM_S / c->rate;
}

/** When @p bytes can be taken: now or later. */
static inline uint64_t sim_bucket_ready(
	const struct sim_bucket *b, const struct sim_bucket_config *c, uint64_t bytes, uint64_t now)
{
	uint64_t full = b->full_at > now ? b->full_at : now;
	uint64_t at = full + sim_bucket_time(c, bytes), depth = sim_bucket_time(c, c->burst);

	return at > now + depth ? at - depth : now;
}

static inline void sim_bucket_take(
	struct sim_bucket *b, const struct sim_bucket_config *c, uint64_t bytes, uint64_t now)
{
	b->full_at = (b->full_at > now ? b->full_at : now) + sim_bucket_time(c, bytes);
}

#endif
