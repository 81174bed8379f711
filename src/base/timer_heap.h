/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timer_heap.h
 * Timers to the nanosecond, for what the ticks of the wheel are too coarse for: a pairing heap, in
 * which to start is constant and to stop or fire logarithmic time (amortised). No allocation.
 *
 * A heap is a part of the wheel (timer.h), which runs both and tells the next deadline of both.
 */
#ifndef BASE_TIMER_HEAP_H
#define BASE_TIMER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct exact_timer;

/** Called at or after the deadline, with the timer already stopped: it may start it again. */
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

/** Start, or move, @p t to @p deadline. */
void exact_timer_start(struct timer_heap *h, struct exact_timer *t, uint64_t deadline);

/** Stop @p t; nothing happens if it is not running. */
void exact_timer_stop(struct timer_heap *h, struct exact_timer *t);

/**
 * Fire all that are due at @p now. A callback may start and stop any timer; one that it starts with
 * a deadline that is past as well fires in the same run.
 */
void timer_heap_run(struct timer_heap *h, uint64_t now);

/** The earliest deadline, or UINT64_MAX. */
static inline uint64_t timer_heap_next(const struct timer_heap *h)
{
	return h->root ? h->root->deadline : UINT64_MAX;
}

#endif
