/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/line.h"

#include <stdlib.h>

static bool wan_line_is_before(const struct wan_line_entry *a, const struct wan_line_entry *b)
{
	return a->due != b->due ? a->due < b->due : a->number < b->number;
}

bool wan_line_init(struct wan_line *l, uint32_t capacity)
{
	uint32_t n = 1;

	while (n < capacity)
		n *= 2;
	*l = (struct wan_line){.capacity = n};
	/* Pages of these that are never used cost nothing. */
	l->ring = malloc(n * sizeof *l->ring);
	l->heap = malloc(n * sizeof *l->heap);
	if (l->ring && l->heap)
		return true;
	wan_line_fini(l);
	return false;
}

void wan_line_fini(struct wan_line *l)
{
	free(l->ring);
	free(l->heap);
	*l = (struct wan_line){0};
}

void wan_line_put(struct wan_line *l, void *thing, uint64_t due)
{
	if (l->head != l->tail && due < l->last)
		due = l->last;
	l->last = due;
	l->ring[l->tail++ & (l->capacity - 1)] = (struct wan_line_entry){due, l->number++, thing};
}

void wan_line_put_anywhere(struct wan_line *l, void *thing, uint64_t due)
{
	struct wan_line_entry e = {due, l->number++, thing};
	uint32_t at = l->heaped++;

	while (at > 0 && wan_line_is_before(&e, &l->heap[(at - 1) / 2])) {
		l->heap[at] = l->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	l->heap[at] = e;
}

/** Take the heap's first and close the gap. */
static void wan_line_heap_pop(struct wan_line *l)
{
	const struct wan_line_entry *e = &l->heap[--l->heaped];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < l->heaped &&
			wan_line_is_before(&l->heap[child + 1], &l->heap[child]))
			child++;
		if (child >= l->heaped || !wan_line_is_before(&l->heap[child], e))
			break;
		l->heap[at] = l->heap[child];
		at = child;
	}
	l->heap[at] = *e;
}

/** The first of the ring and of the heap, whichever is earlier; NULL: the line is empty. */
static const struct wan_line_entry *wan_line_first(const struct wan_line *l)
{
	const struct wan_line_entry *r = &l->ring[l->head & (l->capacity - 1)];

	if (l->heaped == 0)
		return l->head == l->tail ? NULL : r;
	return l->head == l->tail || wan_line_is_before(l->heap, r) ? l->heap : r;
}

uint64_t wan_line_next(const struct wan_line *l)
{
	const struct wan_line_entry *e = wan_line_first(l);

	return !e ? WAN_NEVER : e->due;
}

void *wan_line_take(struct wan_line *l, uint64_t now, uint64_t *due)
{
	const struct wan_line_entry *e = wan_line_first(l);
	void *thing;

	if (!e || e->due > now)
		return NULL;
	thing = e->thing;
	*due = e->due;
	if (e == l->heap)
		wan_line_heap_pop(l);
	else
		l->head++;
	return thing;
}
