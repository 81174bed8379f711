/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file clock.h
 * A monotonic clock in nanoseconds, read without a system call. It is the TSC, scaled by a constant
 * multiplier. If the TSC is not invariant, clock_gettime() is used.
 */
#ifndef DPDK_PORT_CLOCK_H
#define DPDK_PORT_CLOCK_H

#include <rte_cycles.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** The TSC and CLOCK_MONOTONIC read at the same moment. */
struct clock_sample {
	uint64_t tsc;
	uint64_t ns;
};

struct port_clock {
	struct clock_sample base;
	uint64_t mult; /**< ns per cycle, times 2^32; 0: clock_gettime() */
};

/** Read both clocks, as close to each other as possible. */
struct clock_sample clock_sample_now(void);

/**
 * Start a clock that continues CLOCK_MONOTONIC.
 * @param since an earlier sample. If it is at least 20 ms old, it is used to measure the TSC's
 *              rate, as DPDK's own figure is rounded to 10 MHz. NULL: use DPDK's figure.
 */
void clock_init(struct port_clock *c, const struct clock_sample *since);

/** CLOCK_MONOTONIC in ns, by the kernel. */
uint64_t clock_kernel_ns(void);

/** CLOCK_MONOTONIC @p ns from now, for who waits until then. */
struct timespec clock_after(uint64_t ns);

/** Nanoseconds at @p tsc cycles, which must not be before the clock's start. */
static inline uint64_t clock_at(const struct port_clock *c, uint64_t tsc)
{
	return c->base.ns + (uint64_t)((unsigned __int128)(tsc - c->base.tsc) * c->mult >> 32);
}

/** The time now, ns. It may step back a few ns between two cores. */
static inline uint64_t clock_ns(const struct port_clock *c)
{
	uint64_t tsc;

	if (!c->mult)
		return clock_kernel_ns();
	tsc = rte_rdtsc();
	return clock_at(c, tsc > c->base.tsc ? tsc : c->base.tsc);
}

#endif
