/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timer_heap.h
 * Timers to the nanosecond, where the ticks of the wheel are too coarse. A pairing heap: starting
 * takes constant time, stopping and firing amortised logarithmic time. No allocation.
 *
 * The heap is part of the wheel (timer.h), which runs it.
 */
#ifndef BASE_TIMER_HEAP_H
#define BASE_TIMER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct exact_timer;

/** Called at or after the deadline. The timer is stopped already and may be started again. */
typedef void exact_timer_fn(struct exact_timer *t, uint64_t now);

/** Embed it; find the owner with container_of. Zero-initialised is stopped. */
struct exact_timer {
	struct exact_timer *child, *next;
	struct exact_timer **pprev; /**< what points here; NULL: not running */
	uint64_t deadline;          /**< ns; valid while running */
	exact_timer_fn *fn;
};

/** Zero-initialised is empty. */
struct timer_heap {
	struct exact_timer *root;
};

static inline bool exact_timer_running(const struct exact_timer *t)
{
	return t->pprev != 0;
}

/** Start @p t, or move it, to @p deadline. */
void exact_timer_start(struct timer_heap *h, struct exact_timer *t, uint64_t deadline);

/** Stop @p t, if it is running. */
void exact_timer_stop(struct timer_heap *h, struct exact_timer *t);

/**
 * Fire all timers due at @p now. A callback may start and stop any timer. If it starts one with a
 * deadline in the past, that fires in the same run.
 */
void timer_heap_run(struct timer_heap *h, uint64_t now);

/** The earliest deadline, or UINT64_MAX. */
static inline uint64_t timer_heap_next(const struct timer_heap *h)
{
	return h->root ? h->root->deadline : UINT64_MAX;
}

#endif
