/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/event.h"

#include <stdlib.h>

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void put(struct sim_events *q, uint32_t i, struct sim_event *e)
{
	q->heap[i] = e;
	e->place = i + 1;
}

/** Towards the root from the hole at @p i. */
static void rise(struct sim_events *q, uint32_t i, struct sim_event *e)
{
	while (i && before(e, q->heap[(i - 1) / 2])) {
		put(q, i, q->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(q, i, e);
}

/** Away from it. */
static void sink(struct sim_events *q, uint32_t i, struct sim_event *e)
{
	uint32_t child;

	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!before(q->heap[child], e))
			break;
		put(q, i, q->heap[child]);
		i = child;
	}
	put(q, i, e);
}

static void insert(struct sim_events *q, struct sim_event *e)
{
	if (q->n == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 64;
		q->heap = realloc(q->heap, q->cap * sizeof(struct sim_event *));
		if (!q->heap)
			abort();
	}
	rise(q, q->n++, e);
}

static void move(struct sim_events *q, uint32_t i, struct sim_event *e)
{
	if (i && before(e, q->heap[(i - 1) / 2]))
		rise(q, i, e);
	else
		sink(q, i, e);
}

void sim_event_clear(struct sim_events *q, struct sim_event *e)
{
	uint32_t i = e->place - 1;

	if (!e->place)
		return;
	e->place = 0;
	if (i < --q->n)
		move(q, i, q->heap[q->n]);
}

void sim_event_set(struct sim_events *q, struct sim_event *e, uint64_t at)
{
	if (at == SIM_NEVER) {
		sim_event_clear(q, e);
		return;
	}
	e->at = at;
	e->order = q->order++;
	if (e->place)
		move(q, e->place - 1, e);
	else
		insert(q, e);
}

struct sim_event *sim_events_take(struct sim_events *q)
{
	struct sim_event *e = q->heap[0];

	e->place = 0;
	if (--q->n)
		sink(q, 0, q->heap[q->n]);
	return e;
}

void sim_events_fini(struct sim_events *q)
{
	free(q->heap);
	*q = (struct sim_events){0};
}
