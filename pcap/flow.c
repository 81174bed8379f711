/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/flow.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(sizeof(struct ip_endpoint) == 18, "compared and hashed as bytes");

/* The power of two from the number of flows on. */
static unsigned flow_num_buckets(const struct flow_table *t)
{
	unsigned n = 1;

	while (n < t->max)
		n *= 2;
	return n;
}

int flow_table_init(struct flow_table *t, unsigned max, const struct siphash_key *key)
{
	*t = (struct flow_table){.max = max, .key = *key};
	t->buckets = calloc(flow_num_buckets(t), sizeof *t->buckets);
	return !t->buckets ? -ENOMEM : 0;
}

void flow_table_free(struct flow_table *t)
{
	while (t->oldest)
		flow_remove(t, t->oldest);
	free(t->buckets);
	t->buckets = NULL;
}

static void flow_unlink_age(struct flow_table *t, struct flow *f)
{
	if (f->newer)
		f->newer->older = f->older;
	else
		t->newest = f->older;
	if (f->older)
		f->older->newer = f->newer;
	else
		t->oldest = f->newer;
}

static void flow_make_newest(struct flow_table *t, struct flow *f)
{
	f->newer = NULL;
	f->older = t->newest;
	if (t->newest)
		t->newest->newer = f;
	else
		t->oldest = f;
	t->newest = f;
}

static struct flow *flow_add(
	struct flow_table *t, struct flow **bucket, const struct ip_endpoint end[2])
{
	struct flow *f;

	if (t->used == t->max)
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->end[0] = end[0];
	f->end[1] = end[1];
	f->hash_next = *bucket;
	f->hash_prev = bucket;
	if (*bucket)
		(*bucket)->hash_prev = &f->hash_next;
	*bucket = f;
	t->used++;
	flow_make_newest(t, f);
	return f;
}

static struct flow *flow_find(struct flow_table *t, const struct ip_endpoint end[2])
{
	struct flow **bucket, *f;

	if (t->last && memcmp(t->last->end, end, sizeof t->last->end) == 0)
		return t->last;
	bucket = &t->buckets[siphash(&t->key, end, 2 * sizeof *end) & (flow_num_buckets(t) - 1)];
	for (f = *bucket; f; f = f->hash_next)
		if (memcmp(f->end, end, sizeof f->end) == 0)
			return f;
	return flow_add(t, bucket, end);
}

struct flow *flow_get(struct flow_table *t, const struct ip_endpoint *src,
	const struct ip_endpoint *dst, unsigned *side)
{
	struct ip_endpoint end[2] = {*src, *dst};
	struct flow *f;

	*side = memcmp(src, dst, sizeof *src) > 0;
	if (*side == 1) {
		end[0] = *dst;
		end[1] = *src;
	}
	f = flow_find(t, end);
	if (f && f != t->newest) {
		flow_unlink_age(t, f);
		flow_make_newest(t, f);
	}
	t->last = f;
	return f;
}

void flow_remove(struct flow_table *t, struct flow *f)
{
	flow_unlink_age(t, f);
	*f->hash_prev = f->hash_next;
	if (f->hash_next)
		f->hash_next->hash_prev = f->hash_prev;
	if (t->last == f)
		t->last = NULL;
	t->used--;
	free(f);
}
