/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/table.h"

#include "tcp/conn.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BUCKETS 64

int tcp_table_init(struct tcp_table *t, const struct siphash_key *key)
{
	*t = (struct tcp_table){.key = *key, .mask = FIRST_BUCKETS - 1};
	t->bucket = calloc(FIRST_BUCKETS, sizeof(struct tcp_conn *));
	return t->bucket ? 0 : -ENOMEM;
}

void tcp_table_fini(struct tcp_table *t)
{
	free(t->bucket);
	t->bucket = NULL;
}

static struct tcp_conn **bucket_of(const struct tcp_table *t, const struct tcp_tuple *id)
{
	return &t->bucket[siphash(&t->key, id, sizeof *id) & t->mask];
}

static bool same(const struct tcp_tuple *a, const struct tcp_tuple *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id)
{
	struct tcp_conn *c = t->last;

	if (c && same(&c->id, id))
		return c;
	for (c = *bucket_of(t, id); c; c = c->hash_next) {
		if (same(&c->id, id)) {
			t->last = c;
			return c;
		}
	}
	return NULL;
}

/** Double the buckets; when there is no memory for that the chains just get longer. */
static void grow(struct tcp_table *t)
{
	uint32_t old_n = t->mask + 1;
	struct tcp_conn **old = t->bucket, **wide = calloc(2 * (size_t)old_n, sizeof *wide);

	if (!wide)
		return;
	t->bucket = wide;
	t->mask = 2 * old_n - 1;
	for (uint32_t i = 0; i < old_n; i++) {
		struct tcp_conn *next;

		for (struct tcp_conn *c = old[i]; c; c = next) {
			struct tcp_conn **b = bucket_of(t, &c->id);

			next = c->hash_next;
			c->hash_next = *b;
			*b = c;
		}
	}
	free(old);
}

void tcp_table_insert(struct tcp_table *t, struct tcp_conn *c)
{
	struct tcp_conn **b;

	if (t->count > t->mask)
		grow(t);
	b = bucket_of(t, &c->id);
	c->hash_next = *b;
	*b = c;
	t->count++;
}

void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c)
{
	struct tcp_conn **p = bucket_of(t, &c->id);

	while (*p != c)
		p = &(*p)->hash_next;
	*p = c->hash_next;
	c->hash_next = NULL;
	t->count--;
	if (t->last == c)
		t->last = NULL;
}

struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i)
{
	for (uint32_t b = 0; b <= t->mask; b++)
		for (struct tcp_conn *c = t->bucket[b]; c; c = c->hash_next)
			if (i-- == 0)
				return c;
	return NULL;
}
