/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/table.h"

#include "base/prefetch.h"
#include "tcp/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_SLOTS     64
#define TABLE_HUGE_PAGE ((size_t)2 << 20)
#define HASH_MASK       ((1u << TCP_SLOT_HASH_BITS) - 1)

/** In huge pages, once it is large: each look is at another place. */
static struct tcp_slot *tcp_table_new_slots(size_t n)
{
	size_t len = n * sizeof(struct tcp_slot);
	struct tcp_slot *slot;

	if (len < TABLE_HUGE_PAGE)
		return calloc(1, len);
	slot = aligned_alloc(TABLE_HUGE_PAGE, len);
	if (!slot)
		return NULL;
	madvise(slot, len, MADV_HUGEPAGE); /* without, it is slower, no more */
	return memset(slot, 0, len);
}

int tcp_table_init(struct tcp_table *t, const struct siphash_key *key)
{
	*t = (struct tcp_table){.key = *key, .mask = FIRST_SLOTS - 1};
	t->slot = tcp_table_new_slots(FIRST_SLOTS);
	return t->slot ? 0 : -ENOMEM;
}

void tcp_table_fini(struct tcp_table *t)
{
	free(t->slot);
	t->slot = NULL;
}

static uint32_t tcp_table_hash_of(const struct tcp_table *t, const struct tcp_tuple *id)
{
	return (uint32_t)siphash(&t->key, id, sizeof *id) & HASH_MASK;
}

static bool tcp_table_same(const struct tcp_tuple *a, const struct tcp_tuple *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static struct tcp_conn *tcp_table_find_slot(
	const struct tcp_table *t, const struct tcp_tuple *id, uint32_t hash)
{
	struct tcp_slot s;

	for (uint32_t i = hash & t->mask; (s = t->slot[i]).line; i = (i + 1) & t->mask)
		if (s.hash == hash && tcp_table_same(&tcp_slot_conn(s)->id, id))
			return tcp_slot_conn(s);
	return NULL;
}

/* ---- what is expected ---------------------------------------------------------------------- */

/** First step: which connection has @p hash? Its slot is here by now. */
static struct tcp_conn *tcp_table_look_up(const struct tcp_table *t, uint32_t hash)
{
	uint32_t k = hash & t->mask;
	struct tcp_slot s;

	while ((s = t->slot[k]).line && s.hash != hash)
		k = (k + 1) & t->mask;
	if (s.line)
		prefetch_range(tcp_slot_conn(s), TCP_CONN_HOT);
	return tcp_slot_conn(s);
}

/** Second step: what waits for an acknowledgment, where that is not in the connection. */
static void tcp_table_open_queue(const struct tcp_conn *c)
{
	if (c && c->sendq.cap > 1 && c->sendq.count)
		__builtin_prefetch(tcp_sendq_at(&c->sendq, 0), 1);
}

/** A slot is here when so many more are told of. */
#define SLOT_TAKES 4
/** So many packets before its turn each has its steps. Earlier, it would wait for all others'. */
#define LOOK_UP_AHEAD 6
#define OPEN_AHEAD    2

static void tcp_table_look_up_next(struct tcp_table *t)
{
	struct tcp_expected *e = &t->ahead;

	e->next[e->looked_up].c = tcp_table_look_up(t, e->next[e->looked_up].hash);
	e->looked_up++;
}

static void tcp_table_prepare(struct tcp_table *t)
{
	struct tcp_expected *e = &t->ahead;

	while (e->looked_up < e->n && e->looked_up < e->at + LOOK_UP_AHEAD)
		tcp_table_look_up_next(t);
	for (; e->opened < e->looked_up && e->opened < e->at + OPEN_AHEAD; e->opened++)
		tcp_table_open_queue(e->next[e->opened].c);
}

void tcp_table_expect_none(struct tcp_table *t)
{
	struct tcp_expected *e = &t->ahead;

	e->n = e->at = e->looked_up = e->opened = 0;
}

void tcp_table_expect(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_expected *e = &t->ahead;
	uint32_t hash;

	if (e->n == TCP_TABLE_AHEAD)
		return;
	hash = tcp_table_hash_of(t, id);
	__builtin_prefetch(&t->slot[hash & t->mask]);
	e->next[e->n].c = NULL;
	e->next[e->n++].hash = hash;
	/* The first have little time: theirs are looked up while the others are told of. */
	if (e->n > SLOT_TAKES && e->looked_up < LOOK_UP_AHEAD)
		tcp_table_look_up_next(t);
}

/** Is it among the next that are expected? Some may have been skipped. */
static struct tcp_conn *tcp_table_expected(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_expected *e = &t->ahead;

	if (e->looked_up == e->at) /* a small burst */
		tcp_table_prepare(t);
	for (unsigned i = e->at; i < e->looked_up && i < e->at + 4; i++) {
		struct tcp_conn *c = e->next[i].c;

		if (c && tcp_table_same(&c->id, id)) {
			e->at = i + 1;
			tcp_table_prepare(t);
			return c;
		}
	}
	return NULL;
}

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_conn *c = t->last;

	if (t->ahead.at < t->ahead.n) {
		c = tcp_table_expected(t, id);
		if (c)
			return t->last = c;
		c = t->last;
	}
	if (c && tcp_table_same(&c->id, id))
		return c;
	c = tcp_table_find_slot(t, id, tcp_table_hash_of(t, id));
	if (c)
		t->last = c;
	return c;
}

static void tcp_table_forget(struct tcp_expected *e, const struct tcp_conn *c)
{
	for (unsigned i = e->at; i < e->looked_up; i++)
		if (e->next[i].c == c)
			e->next[i].c = NULL;
}

/* ---- the table ----------------------------------------------------------------------------- */

static void tcp_table_put(struct tcp_table *t, struct tcp_slot s)
{
	uint32_t i = s.hash & t->mask;

	while (t->slot[i].line)
		i = (i + 1) & t->mask;
	t->slot[i] = s;
}

static int tcp_table_grow(struct tcp_table *t)
{
	uint32_t old_mask = t->mask;
	struct tcp_slot *old = t->slot, *wide;

	if (old_mask == HASH_MASK)
		return -ENOMEM;
	wide = tcp_table_new_slots(2 * ((size_t)old_mask + 1));
	if (!wide)
		return -ENOMEM;
	t->slot = wide;
	t->mask = 2 * old_mask + 1;
	for (uint32_t i = 0; i <= old_mask; i++)
		if (old[i].line)
			tcp_table_put(t, old[i]);
	free(old);
	return 0;
}

int tcp_table_insert(struct tcp_table *t, struct tcp_conn *c)
{
	/* Four fifths full: a look finds what it wants in the first or second line. */
	if (t->count >= t->mask / 5 * 4 && tcp_table_grow(t) && t->count >= t->mask)
		return -ENOMEM;
	tcp_table_put(t, (struct tcp_slot){(uintptr_t)c / 64, tcp_table_hash_of(t, &c->id)});
	t->count++;
	return 0;
}

void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c)
{
	uint32_t i = tcp_table_hash_of(t, &c->id) & t->mask;

	while (tcp_slot_conn(t->slot[i]) != c)
		i = (i + 1) & t->mask;
	/* Move up what could not be where it wanted to be, so that no look ends at the hole. */
	for (uint32_t k = (i + 1) & t->mask; t->slot[k].line; k = (k + 1) & t->mask) {
		uint32_t home = t->slot[k].hash & t->mask;

		if (((k - home) & t->mask) >= ((k - i) & t->mask)) {
			t->slot[i] = t->slot[k];
			i = k;
		}
	}
	t->slot[i] = (struct tcp_slot){0};
	t->count--;
	if (t->last == c)
		t->last = NULL;
	tcp_table_forget(&t->ahead, c);
}

struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i)
{
	for (uint32_t k = 0; k <= t->mask; k++)
		if (t->slot[k].line && i-- == 0)
			return tcp_slot_conn(t->slot[k]);
	return NULL;
}

/*
 * Not by their places, which change as others come and go: by where they want to be, which does
 * not, and all of one such place without a pause.
 */
enum walk tcp_table_walk(
	const struct tcp_table *t, struct tcp_table_walk *w, struct tcp_conn **found)
{
	uint32_t n = 0;

	if (w->home > t->mask)
		return WALK_END;
	for (uint32_t k = w->home; t->slot[k].line; k = (k + 1) & t->mask)
		if ((t->slot[k].hash & t->mask) == w->home && n++ == w->nth) {
			w->nth++;
			*found = tcp_slot_conn(t->slot[k]);
			return WALK_HELD;
		}
	w->home++;
	w->nth = 0;
	return WALK_NONE;
}
