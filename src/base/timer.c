/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Level L holds the timers that are less than 128^(L+1) ticks away, one slot per 128^L ticks. When
 * the wheel reaches the first tick of an upper slot, that slot's timers move down. Empty slots cost
 * nothing: the bitmaps tell the next occupied one.
 *
 * With tens of thousands of timers, none is in the cache when it is due. A list is read one by one:
 * the second timer is known only when the first was loaded. So a slot has several lists, which are
 * loaded in parallel.
 */
#include "base/timer.h"

#include <stddef.h>

#define SLOT_BITS 7
#define TICK_BITS 14
#define HORIZON   (UINT64_C(1) << (SLOT_BITS * TIMER_LEVELS))

_Static_assert(TIMER_SLOTS == 1 << SLOT_BITS, "so many bits of a tick tell its slot");
_Static_assert(TIMER_TICK_NS == 1 << TICK_BITS, "a tick is a shift");

static void timer_list_push(struct timer **head, struct timer *t)
{
	t->next = *head;
	t->pprev = head;
	if (*head)
		(*head)->pprev = &t->next;
	*head = t;
}

static void timer_list_remove(struct timer *t)
{
	*t->pprev = t->next;
	if (t->next)
		t->next->pprev = t->pprev;
	t->pprev = NULL;
}

/* Take all of @from's timers over to @to, which is empty. */
static void timer_list_move(struct timer **to, struct timer **from)
{
	*to = *from;
	*from = NULL;
	if (*to)
		(*to)->pprev = to;
}

static void timer_expect(const struct timer *t)
{
	__builtin_prefetch(t, 1);
}

static void timer_slot_move(struct timer_slot *to, struct timer_slot *from)
{
	for (unsigned i = 0; i < TIMER_LANES; i++)
		timer_expect(from->lane[i]);
	for (unsigned i = 0; i < TIMER_LANES; i++)
		timer_list_move(&to->lane[i], &from->lane[i]);
}

static bool timer_slot_is_empty(const struct timer_slot *s)
{
	struct timer *any = NULL;

	for (unsigned i = 0; i < TIMER_LANES && !any; i++)
		any = s->lane[i];
	return !any;
}

/* Take one out, of lane @turn or a later one; NULL: there is none. */
static struct timer *timer_slot_pop(struct timer_slot *s, unsigned *turn)
{
	for (unsigned i = 0; i < TIMER_LANES; i++) {
		struct timer **lane = &s->lane[(*turn)++ % TIMER_LANES], *t = *lane;

		if (!t)
			continue;
		timer_list_remove(t);
		timer_expect(*lane);
		return t;
	}
	return NULL;
}

/* The first tick that is not before @deadline: rounding up, so that none fires early. */
static uint64_t timer_tick_of(uint64_t deadline)
{
	return (deadline >> TICK_BITS) + ((deadline & (TIMER_TICK_NS - 1)) != 0);
}

static timer_slots timer_bit(unsigned slot)
{
	return (timer_slots)1 << slot;
}

/* The lowest one of @s, which are not empty. */
static unsigned timer_first_slot(timer_slots s)
{
	uint64_t low = (uint64_t)s;

	return low ? (unsigned)__builtin_ctzll(low)
		   : 64 + (unsigned)__builtin_ctzll((uint64_t)(s >> 64));
}

static void timer_wheel_place(struct timer_wheel *w, struct timer *t)
{
	uint64_t tick = timer_tick_of(t->deadline);
	uint64_t ahead = tick - w->tick, event;
	unsigned level = 0;
	unsigned slot;

	/* Beyond the horizon: the last slot, and a new place from there. */
	if (ahead >= HORIZON) {
		ahead = HORIZON - 1;
		tick = w->tick + ahead;
	}
	if (ahead)
		level = (unsigned)(63 - __builtin_clzll(ahead)) / SLOT_BITS;
	event = tick >> (SLOT_BITS * level) << (SLOT_BITS * level);
	if (event < w->event)
		w->event = event;
	slot = tick >> (SLOT_BITS * level) & (TIMER_SLOTS - 1);
	w->occupied[level] |= timer_bit(slot);
	timer_list_push(&w->slot[level][slot].lane[w->turn++ % TIMER_LANES], t);
}

void timer_wheel_init(struct timer_wheel *w, uint64_t now)
{
	*w = (struct timer_wheel){.tick = now >> TICK_BITS, .now = now, .event = UINT64_MAX};
}

/*
 * What w->event is, by looking. It changes only when a slot is filled or emptied: the wheel passes
 * by nothing.
 */
static uint64_t timer_find_event(const struct timer_wheel *w)
{
	uint64_t first = UINT64_MAX;

	for (unsigned level = 0; level < TIMER_LEVELS; level++) {
		timer_slots slots = w->occupied[level];
		uint64_t at = w->tick >> (SLOT_BITS * level);
		unsigned turn = (at + 1) & (TIMER_SLOTS - 1);
		uint64_t event;

		if (!slots)
			continue;
		/* Turned so that bit 0 is the slot after the current one. */
		slots = slots >> turn | slots << (-turn & (TIMER_SLOTS - 1));
		event = (at + 1 + timer_first_slot(slots)) << (SLOT_BITS * level);
		if (event < first)
			first = event;
	}
	return first;
}

void timer_start(struct timer_wheel *w, struct timer *t, uint64_t deadline)
{
	timer_stop(w, t);
	if (deadline == TIMER_NEVER)
		return;
	t->deadline = deadline;
	if (deadline <= w->now)
		timer_list_push(&w->due, t);
	else
		timer_wheel_place(w, t);
}

void timer_stop(struct timer_wheel *w, struct timer *t)
{
	struct timer **head = t->pprev;
	struct timer **first = &w->slot[0][0].lane[0];
	size_t slot;

	if (!timer_running(t))
		return;
	timer_list_remove(t);
	/* The last one of its slot: so that timer_wheel_next() does not wake anybody for it. */
	if (head < first || head >= first + TIMER_LEVELS * TIMER_SLOTS * TIMER_LANES || *head)
		return;
	slot = (size_t)(head - first) / TIMER_LANES;
	if (!timer_slot_is_empty(&w->slot[0][0] + slot))
		return;
	w->occupied[slot / TIMER_SLOTS] &= ~timer_bit(slot % TIMER_SLOTS);
	w->event = timer_find_event(w);
}

static void timer_slot_take(struct timer_wheel *w, unsigned level, struct timer_slot *to)
{
	unsigned slot = w->tick >> (SLOT_BITS * level) & (TIMER_SLOTS - 1);

	*to = (struct timer_slot){0};
	if (!(w->occupied[level] & timer_bit(slot)))
		return;
	w->occupied[level] &= ~timer_bit(slot);
	timer_slot_move(to, &w->slot[level][slot]);
}

static void timer_cascade(struct timer_wheel *w)
{
	for (unsigned level = 1; level < TIMER_LEVELS; level++) {
		struct timer_slot list;
		struct timer *t;
		unsigned turn = 0;

		if (w->tick & ((UINT64_C(1) << (SLOT_BITS * level)) - 1))
			return;
		timer_slot_take(w, level, &list);
		while ((t = timer_slot_pop(&list, &turn)))
			timer_wheel_place(w, t);
	}
}

static void timer_fire(struct timer_slot *list, uint64_t now)
{
	struct timer *t;
	unsigned turn = 0;

	while ((t = timer_slot_pop(list, &turn)))
		t->fn(t, now);
}

static void timer_fire_due(struct timer_wheel *w, uint64_t now)
{
	struct timer_slot list = {0};

	timer_list_move(&list.lane[0], &w->due);
	timer_fire(&list, now);
}

static void timer_turn(struct timer_wheel *w, uint64_t now)
{
	uint64_t target = now >> TICK_BITS;
	struct timer_slot list;

	if (w->due)
		timer_fire_due(w, now);
	while (w->tick < target) {
		if (w->event > target) {
			w->tick = target;
			return;
		}
		w->tick = w->event;
		timer_cascade(w);
		timer_slot_take(w, 0, &list);
		w->event = timer_find_event(w);
		timer_fire(&list, now);
	}
}

void timer_wheel_run(struct timer_wheel *w, uint64_t now)
{
	if (now < w->now)
		return;
	w->now = now;
	timer_turn(w, now);
	timer_heap_run(&w->exact, now);
}

uint64_t timer_wheel_next(const struct timer_wheel *w)
{
	uint64_t event = w->event == UINT64_MAX ? TIMER_NEVER : w->event << TICK_BITS;
	uint64_t exact = timer_heap_next(&w->exact);

	if (w->due)
		return w->now;
	return exact < event ? exact : event;
}
