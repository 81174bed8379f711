/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/table.h"

#include "tcp/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_SLOTS 64
#define CACHE_LINE  64
#define HUGE_PAGE   ((size_t)2 << 20)

/** In huge pages, once it is large: each look is at another place. */
static struct tcp_slot *new_slots(size_t n)
{
	size_t len = n * sizeof(struct tcp_slot);
	struct tcp_slot *slot;

	if (len < HUGE_PAGE)
		return calloc(1, len);
	slot = aligned_alloc(HUGE_PAGE, len);
	if (!slot)
		return NULL;
	madvise(slot, len, MADV_HUGEPAGE); /* without, it is slower, no more */
	return memset(slot, 0, len);
}

int tcp_table_init(struct tcp_table *t, const struct siphash_key *key)
{
	*t = (struct tcp_table){.key = *key, .mask = FIRST_SLOTS - 1};
	t->slot = new_slots(FIRST_SLOTS);
	return t->slot ? 0 : -ENOMEM;
}

void tcp_table_fini(struct tcp_table *t)
{
	free(t->slot);
	t->slot = NULL;
}

static uint32_t hash_of(const struct tcp_table *t, const struct tcp_tuple *id)
{
	return (uint32_t)siphash(&t->key, id, sizeof *id);
}

static bool same(const struct tcp_tuple *a, const struct tcp_tuple *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static struct tcp_conn *find(const struct tcp_table *t, const struct tcp_tuple *id, uint32_t hash)
{
	const struct tcp_slot *s;

	for (uint32_t i = hash & t->mask; (s = &t->slot[i])->c; i = (i + 1) & t->mask)
		if (s->hash == hash && same(&s->c->id, id))
			return s->c;
	return NULL;
}

/* ---- what is expected ---------------------------------------------------------------------- */

static void fetch(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += CACHE_LINE)
		__builtin_prefetch((const char *)p + i, 0, 2);
}

/** First step: which connection is it? Its slot is here by now. */
static void look_up(struct tcp_table *t, struct tcp_slot *e)
{
	const struct tcp_slot *s;
	uint32_t k = e->hash & t->mask;

	while ((s = &t->slot[k])->c && s->hash != e->hash)
		k = (k + 1) & t->mask;
	e->c = s->c;
	if (s->c)
		fetch(s->c, TCP_CONN_HOT);
}

/** Second step: what waits for an acknowledgment, where that is not in the connection. */
static void open_queue(const struct tcp_conn *c)
{
	if (c && c->sendq.cap > 1 && c->sendq.count)
		__builtin_prefetch(tcp_sendq_at(&c->sendq, 0), 1);
}

/** So many packets before its turn each has its steps. */
enum { LOOK_UP_AHEAD = 12, OPEN_AHEAD = 6 };

static void prepare(struct tcp_table *t)
{
	struct tcp_expected *e = &t->ahead;

	for (; e->looked_up < e->n && e->looked_up < e->at + LOOK_UP_AHEAD; e->looked_up++)
		look_up(t, &e->next[e->looked_up]);
	for (; e->opened < e->looked_up && e->opened < e->at + OPEN_AHEAD; e->opened++)
		open_queue(e->next[e->opened].c);
}

void tcp_table_expect(struct tcp_table *t, const struct tcp_tuple *id, unsigned n)
{
	struct tcp_expected *e = &t->ahead;

	e->n = n;
	e->at = e->looked_up = e->opened = 0;
	for (unsigned i = 0; i < n; i++) {
		e->next[i] = (struct tcp_slot){NULL, hash_of(t, &id[i])};
		__builtin_prefetch(&t->slot[e->next[i].hash & t->mask], 0, 2);
	}
	prepare(t);
}

/** Is it among the next that are expected? Some may have been skipped. */
static struct tcp_conn *expected(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_expected *e = &t->ahead;

	for (unsigned i = e->at; i < e->looked_up && i < e->at + 4; i++) {
		struct tcp_conn *c = e->next[i].c;

		if (c && same(&c->id, id)) {
			e->at = i + 1;
			prepare(t);
			return c;
		}
	}
	return NULL;
}

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_conn *c = t->last;

	if (t->ahead.at < t->ahead.n) {
		c = expected(t, id);
		if (c)
			return t->last = c;
		c = t->last;
	}
	if (c && same(&c->id, id))
		return c;
	c = find(t, id, hash_of(t, id));
	if (c)
		t->last = c;
	return c;
}

static void forget(struct tcp_expected *e, const struct tcp_conn *c)
{
	for (unsigned i = e->at; i < e->looked_up; i++)
		if (e->next[i].c == c)
			e->next[i].c = NULL;
}

/* ---- the table ----------------------------------------------------------------------------- */

static void put(struct tcp_table *t, struct tcp_slot s)
{
	uint32_t i = s.hash & t->mask;

	while (t->slot[i].c)
		i = (i + 1) & t->mask;
	t->slot[i] = s;
}

static int grow(struct tcp_table *t)
{
	uint32_t old_mask = t->mask;
	struct tcp_slot *old = t->slot, *wide = new_slots(2 * ((size_t)old_mask + 1));

	if (!wide)
		return -ENOMEM;
	t->slot = wide;
	t->mask = 2 * old_mask + 1;
	for (uint32_t i = 0; i <= old_mask; i++)
		if (old[i].c)
			put(t, old[i]);
	free(old);
	return 0;
}

int tcp_table_insert(struct tcp_table *t, struct tcp_conn *c)
{
	/* Two thirds full: a look finds what it wants in the first or second line. */
	if (t->count >= t->mask / 3 * 2 && grow(t) && t->count >= t->mask)
		return -ENOMEM;
	put(t, (struct tcp_slot){c, hash_of(t, &c->id)});
	t->count++;
	return 0;
}

void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c)
{
	uint32_t i = hash_of(t, &c->id) & t->mask;

	while (t->slot[i].c != c)
		i = (i + 1) & t->mask;
	/* Move up what could not be where it wanted to be, so that no look ends at the hole. */
	for (uint32_t k = (i + 1) & t->mask; t->slot[k].c; k = (k + 1) & t->mask) {
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
	forget(&t->ahead, c);
}

struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i)
{
	for (uint32_t k = 0; k <= t->mask; k++)
		if (t->slot[k].c && i-- == 0)
			return t->slot[k].c;
	return NULL;
}
