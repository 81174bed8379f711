/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file prng.h
 * A small seeded generator (splitmix64) for simulations: the same seed gives the same numbers. They
 * are predictable; random.h has those that are not.
 */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stdbool.h>
#include <stdint.h>

struct prng {
	uint64_t state; /**< any seed */
};

static inline uint64_t prng_u64(struct prng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/** A number below @p n; 0 when @p n is 0. Uniform to one part in 2^64 / n. */
static inline uint64_t prng_below(struct prng *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)prng_u64(r) * n >> 64);
}

/** True with @p probability, 0 to 1. Draws nothing at 0 and at 1. */
static inline bool prng_chance(struct prng *r, double probability)
{
	if (probability <= 0)
		return false;
	if (probability >= 1)
		return true;
	return (double)(prng_u64(r) >> 11) < probability * 0x1p53;
}

#endif
