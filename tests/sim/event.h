/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file event.h
 * What will happen at which virtual time: a binary heap of events that their owners embed. Events
 * of the same time happen in the order in which they were set, so that a run can be repeated.
 */
#ifndef TESTS_SIM_EVENT_H
#define TESTS_SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

struct sim_event;

/** Called at the event's time, with the event no longer set: it may set it again. */
typedef void sim_event_fn(struct sim_event *e);

/** Zero-initialised but for fn is not set. */
struct sim_event {
	uint64_t at;    /**< ns */
	uint64_t order; /**< among those of one time */
	uint32_t place; /**< in the heap, from 1; 0: not set */
	sim_event_fn *fn;
};

/** Zero-initialised is empty. */
struct sim_events {
	struct sim_event **heap;
	uint32_t n, cap;
	uint64_t order;
};

/** Set, or move, @p e to @p at; SIM_NEVER clears it. */
void sim_event_set(struct sim_events *q, struct sim_event *e, uint64_t at);

/** The event is not to happen; nothing if it is not set. */
void sim_event_clear(struct sim_events *q, struct sim_event *e);

static inline bool sim_event_is_set(const struct sim_event *e)
{
	return e->place != 0;
}

/** The time of the first one, or SIM_NEVER. */
static inline uint64_t sim_events_next(const struct sim_events *q)
{
	return q->n ? q->heap[0]->at : SIM_NEVER;
}

/** Take the first one out; there must be one. */
struct sim_event *sim_events_take(struct sim_events *q);

/** Free the heap; the events are their owners'. */
void sim_events_fini(struct sim_events *q);

#endif
