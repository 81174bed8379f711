/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/timer_heap.h"

#include <stddef.h>

static void timer_heap_link_at(struct exact_timer **at, struct exact_timer *t)
{
	*at = t;
	if (t)
		t->pprev = at;
}

/** Two heaps become one: the later root a child of the earlier. Roots have no siblings. */
static struct exact_timer *timer_heap_meld(struct exact_timer *a, struct exact_timer *b)
{
	struct exact_timer *first, *second;

	if (!a || !b)
		return a ? a : b;
	first = b->deadline < a->deadline ? b : a;
	second = first == a ? b : a;
	timer_heap_link_at(&second->next, first->child);
	timer_heap_link_at(&first->child, second);
	return first;
}

/** Siblings become one heap: in pairs from the left, then all from the right. */
static struct exact_timer *timer_heap_meld_all(struct exact_timer *list)
{
	struct exact_timer *pairs = NULL, *root = NULL, *next;

	while (list) {
		struct exact_timer *a = list, *b = a->next;

		list = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		a = timer_heap_meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	for (; pairs; pairs = next) {
		next = pairs->next;
		pairs->next = NULL;
		root = timer_heap_meld(root, pairs);
	}
	return root;
}

void exact_timer_stop(struct timer_heap *h, struct exact_timer *t)
{
	struct exact_timer *rest;

	if (!exact_timer_running(t))
		return;
	timer_heap_link_at(t->pprev, t->next);
	rest = timer_heap_meld_all(t->child);
	t->child = t->next = NULL;
	t->pprev = NULL;
	timer_heap_link_at(&h->root, timer_heap_meld(h->root, rest));
}

void exact_timer_start(struct timer_heap *h, struct exact_timer *t, uint64_t deadline)
{
	exact_timer_stop(h, t);
	t->deadline = deadline;
	timer_heap_link_at(&h->root, timer_heap_meld(h->root, t));
}

void timer_heap_run(struct timer_heap *h, uint64_t now)
{
	struct exact_timer *t;

	while ((t = h->root) && t->deadline <= now) {
		exact_timer_stop(h, t);
		t->fn(t, now);
	}
}
