/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file clock_id.h
 * The kernel's clocks, for who has no round. That begins with the port's (dpdk-port/clock.h).
 */
#ifndef BASE_CLOCK_ID_H
#define BASE_CLOCK_ID_H

#include <stdint.h>
#include <time.h>

/** What the clock @p id shows, in ns. */
static inline uint64_t clock_id_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/** The same in seconds. */
static inline double clock_id_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
