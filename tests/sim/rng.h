/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rng.h Seeded random numbers (splitmix64): every choice of a simulation can be repeated. */
#ifndef TESTS_SIM_RNG_H
#define TESTS_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct sim_rng {
	uint64_t state;
};

static inline uint64_t sim_rng_next(struct sim_rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/** Evenly from [0, 1). */
static inline double sim_rng_unit(struct sim_rng *r)
{
	return (double)(sim_rng_next(r) >> 11) * 0x1p-53;
}

/** True with probability @p p; draws nothing when @p p is 0. */
static inline bool sim_rng_chance(struct sim_rng *r, double p)
{
	return p > 0 && sim_rng_unit(r) < p;
}

#endif
