/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/table.h"

#include "tcp/conn.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64
#define CACHE_LINE  64

int tcp_table_init(struct tcp_table *t, const struct siphash_key *key)
{
	*t = (struct tcp_table){.key = *key, .mask = FIRST_SLOTS - 1};
	t->slot = calloc(FIRST_SLOTS, sizeof *t->slot);
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

/** Is it among the next that are expected? Some may have been skipped. */
static struct tcp_conn *expected(struct tcp_table *t, const struct tcp_tuple *id)
{
	for (unsigned i = t->at; i < t->n_ahead && i < t->at + 4; i++) {
		struct tcp_conn *c = t->ahead[i];

		if (c && same(&c->id, id)) {
			t->at = i + 1;
			return c;
		}
	}
	return NULL;
}

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_conn *c = t->last;

	if (c && same(&c->id, id))
		return c;
	c = t->at < t->n_ahead ? expected(t, id) : NULL;
	if (!c)
		c = find(t, id, hash_of(t, id));
	if (c)
		t->last = c;
	return c;
}

static void fetch(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += CACHE_LINE)
		__builtin_prefetch((const char *)p + i, 1);
}

/*
 * Step by step for all of them, so that the memory works for all of them at once: each step's
 * loads were asked for by the one before.
 */
void tcp_table_expect(struct tcp_table *t, const struct tcp_tuple *id, unsigned n)
{
	uint32_t hash[TCP_TABLE_AHEAD];

	t->at = 0;
	t->n_ahead = n;
	for (unsigned i = 0; i < n; i++) {
		hash[i] = hash_of(t, &id[i]);
		__builtin_prefetch(&t->slot[hash[i] & t->mask]);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct tcp_slot *s;
		uint32_t k = hash[i] & t->mask;

		while ((s = &t->slot[k])->c && s->hash != hash[i])
			k = (k + 1) & t->mask;
		t->ahead[i] = s->c;
		if (s->c)
			fetch(s->c, sizeof *s->c);
	}
	for (unsigned i = 0; i < n; i++)
		if (t->ahead[i] && t->ahead[i]->sendq.count)
			__builtin_prefetch(tcp_sendq_at(&t->ahead[i]->sendq, 0), 1);
	for (unsigned i = 0; i < n; i++)
		if (t->ahead[i] && t->ahead[i]->sendq.count)
			fetch(tcp_sendq_at(&t->ahead[i]->sendq, 0)->m, sizeof(struct rte_mbuf));
}

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
	struct tcp_slot *old = t->slot, *wide = calloc(2 * ((size_t)old_mask + 1), sizeof *wide);

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
	for (unsigned k = t->at; k < t->n_ahead; k++)
		if (t->ahead[k] == c)
			t->ahead[k] = NULL;
}

struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i)
{
	for (uint32_t k = 0; k <= t->mask; k++)
		if (t->slot[k].c && i-- == 0)
			return t->slot[k].c;
	return NULL;
}
