/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file clock.h
 * A monotonic clock in nanoseconds, read without a system call. It is the TSC, scaled by a constant
 * multiplier. If the TSC is not invariant, or was left (clock_onward()), clock_gettime() is used.
 */
#ifndef DPDK_PORT_CLOCK_H
#define DPDK_PORT_CLOCK_H

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** The TSC and two of the kernel's clocks read at the same moment. */
struct clock_sample {
	uint64_t tsc;
	uint64_t ns;  /**< CLOCK_MONOTONIC */
	uint64_t raw; /**< CLOCK_MONOTONIC_RAW, ns: nobody slews it */
};

/** This clock and the kernel's that is not slewed at the same moment, ns. */
struct clock_look {
	uint64_t ns;
	uint64_t raw;
};

struct port_clock {
	struct clock_sample base;
	_Atomic uint64_t mult;    /**< ns per cycle, times 2^32; 0: clock_gettime(), from now on */
	_Atomic uint64_t ahead;   /**< then: ns to add to it, modulo 2^64 */
	struct clock_look looked; /**< when clock_doubt() was called last, or at first */
	struct clock_look steady; /**< one of minutes ago: a wrong rate shows in longer times */
	bool left;                /**< the TSC, and nobody was told; of who calls clock_onward() */
};

/** Two cores' counters may differ by less, ns. A counter that goes back further has jumped. */
#define CLOCK_BACK_NS UINT64_C(1000000)

/** So long after the last look at the kernel's clock the next one is due, ns. */
#define CLOCK_LOOK_NS UINT64_C(1000000000)

/** Read both clocks, as close to each other as possible. */
struct clock_sample clock_sample_now(void);

/**
 * Start a clock that continues CLOCK_MONOTONIC.
 * @param since an earlier sample. If it is at least 20 ms old, it is used to measure the TSC's
 *              rate, as DPDK's own figure is rounded to 10 MHz. NULL: use DPDK's figure.
 */
void clock_init(struct port_clock *c, const struct clock_sample *since);

/** What is to be said, once, of a clock that has left the TSC. */
#define CLOCK_LEFT                                                                            \
	"the processor's time stamp counter has jumped, or runs at another rate, as after a " \
	"suspend or a migration: the time is the kernel's from now on"

/** True once, when CLOCK_LEFT is to be said. For who calls clock_onward(). */
static inline bool clock_take_left(struct port_clock *c)
{
	bool left = c->left;

	c->left = false;
	return left;
}

/** CLOCK_MONOTONIC in ns, by the kernel. */
uint64_t clock_kernel_ns(void);

/** CLOCK_MONOTONIC @p ns from now, for who waits until then. */
struct timespec clock_after(uint64_t ns);

/** Nanoseconds of @p cycles. */
static inline uint64_t clock_scale(uint64_t cycles, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)cycles * mult >> 32);
}

/** Nanoseconds at @p tsc cycles, by a rate of @p mult; at least 0. */
static inline uint64_t clock_at(const struct clock_sample *base, uint64_t mult, uint64_t tsc)
{
	uint64_t ns;

	if (likely(tsc >= base->tsc))
		return base->ns + clock_scale(tsc - base->tsc, mult);
	ns = clock_scale(base->tsc - tsc, mult);
	return ns < base->ns ? base->ns - ns : 0;
}

/** The time now, ns. It may step back a few ns between two cores. */
static inline uint64_t clock_ns(const struct port_clock *c)
{
	uint64_t mult = atomic_load_explicit(&c->mult, memory_order_acquire);

	if (unlikely(!mult))
		return clock_kernel_ns() + atomic_load_explicit(&c->ahead, memory_order_relaxed);
	return clock_at(&c->base, mult, rte_rdtsc());
}

/** clock_onward() when a look is due, or before @p last. @return the time now. */
uint64_t clock_doubt(struct port_clock *c, uint64_t last, uint64_t now);

/**
 * The time now, for who must not go back. A TSC that has jumped, or has not the rate that was
 * measured, as after a suspend or a live migration, is left for good, and the time goes on from the
 * last. One thread at a time; clock_ns() may be called meanwhile, and may go back until this has
 * been called.
 * @param last what was returned last; base.ns at first.
 */
static inline uint64_t clock_onward(struct port_clock *c, uint64_t last)
{
	uint64_t now = clock_ns(c);

	return likely(now >= last && now - c->looked.ns < CLOCK_LOOK_NS)
		       ? now
		       : clock_doubt(c, last, now);
}

#endif
