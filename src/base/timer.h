/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timer.h
 * A hierarchical timer wheel for tens of thousands of timers. Start, stop and restart take constant
 * time. The wheel reads no clock: time is an argument, in nanoseconds on any monotonic clock.
 *
 * Not thread-safe: a wheel belongs to one engine and is used under its lock.
 */
#ifndef BASE_TIMER_H
#define BASE_TIMER_H

#include "base/timer_heap.h"

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER UINT64_MAX

/** One tick of the wheel. A timer fires at most this long after its deadline, never before it. */
#define TIMER_TICK_NS (UINT64_C(1) << 14)

#define TIMER_LEVELS 5
#define TIMER_SLOTS  128
/** Lists per slot. So many timers can be prefetched in parallel. */
#define TIMER_LANES 16

struct timer;

/** Called at or after the deadline. The timer is stopped already and may be started again. */
typedef void timer_fn(struct timer *t, uint64_t now);

/** Embed one per purpose; find the owner with container_of. Zero-initialised is stopped. */
struct timer {
	struct timer *next;
	struct timer **pprev; /**< NULL: not running. */
	uint64_t deadline;    /**< ns; valid while running. */
	timer_fn *fn;
};

/** A bit for each slot of a level. */
typedef unsigned __int128 timer_slots;

struct timer_slot {
	struct timer *lane[TIMER_LANES];
};

struct timer_wheel {
	uint64_t tick;     /**< the tick processed last */
	uint64_t now;      /**< of the last run */
	struct timer *due; /**< started with a deadline in the past; they fire in the next run */
	unsigned turn;     /**< the lane for the next timer */
	timer_slots occupied[TIMER_LEVELS];
	uint64_t
		event; /**< the first tick at which a slot is due or moves down; UINT64_MAX: none */
	struct timer_slot slot[TIMER_LEVELS][TIMER_SLOTS];
	struct timer_heap exact; /**< timers to the nanosecond */
};

/** Make @p w empty, at time @p now. */
void timer_wheel_init(struct timer_wheel *w, uint64_t now);

/** Bind @p fn to a stopped timer. */
static inline void timer_init(struct timer *t, timer_fn *fn)
{
	*t = (struct timer){.fn = fn};
}

static inline bool timer_running(const struct timer *t)
{
	return t->pprev != 0;
}

/**
 * Start @p t, or move it, to @p deadline in ns. With a deadline in the past it fires in the next
 * run. TIMER_NEVER stops it. Timers of one tick fire in no particular order.
 */
void timer_start(struct timer_wheel *w, struct timer *t, uint64_t deadline);

/** Stop @p t, if it is running. */
void timer_stop(struct timer_wheel *w, struct timer *t);

/** A wheel that is driven fires no timer so much too late, however busy the machine. */
#define TIMER_LATE_NS UINT64_C(500000000)

/**
 * For what gives somebody else up at @p deadline: how long after it @p now is, if that is more than
 * TIMER_LATE_NS, else 0. So long nobody drove the wheel: this process, or the virtual machine that
 * it and perhaps the other side are on, stood still. What came meanwhile is not handled yet, so
 * this time should not count as the other side's.
 */
static inline uint64_t timer_late(uint64_t deadline, uint64_t now)
{
	return now > deadline && now - deadline > TIMER_LATE_NS ? now - deadline : 0;
}

/** The same for the callback of @p t. */
static inline uint64_t timer_stood_still(const struct timer *t, uint64_t now)
{
	return timer_late(t->deadline, now);
}

/** Fire all timers due at @p now, the exact ones last. A callback may start and stop any timer. */
void timer_wheel_run(struct timer_wheel *w, uint64_t now);

/**
 * When timer_wheel_run() must be called next: at an exact deadline, or not later than the tick of
 * the earliest deadline. It may be earlier (a cascade). TIMER_NEVER when no timer runs. Nothing is
 * searched.
 */
uint64_t timer_wheel_next(const struct timer_wheel *w);

#endif
