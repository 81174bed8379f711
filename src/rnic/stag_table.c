/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/stag_table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SIZE 64

int stag_table_init(struct stag_table *t, uint32_t max, const struct random_source *random)
{
	*t = (struct stag_table){.mask = FIRST_SIZE - 1, .max = max, .random = random};
	t->slot = calloc(FIRST_SIZE, sizeof *t->slot);
	return t->slot ? 0 : -ENOMEM;
}

void stag_table_fini(struct stag_table *t)
{
	free(t->slot);
	t->slot = NULL;
}

static void stag_table_insert(struct stag_table *t, uint32_t stag, void *object)
{
	uint32_t i = stag_table_hash(t, stag);

	while (t->slot[i].stag)
		i = (i + 1) & t->mask;
	t->slot[i] = (struct stag_slot){stag, object};
}

static int stag_table_grow(struct stag_table *t)
{
	struct stag_slot *old = t->slot;
	uint32_t n = t->mask + 1;

	t->slot = calloc((size_t)n * 2, sizeof *t->slot);
	if (!t->slot) {
		t->slot = old;
		return -ENOMEM;
	}
	t->mask = n * 2 - 1;
	for (uint32_t i = 0; i < n; i++) {
		if (old[i].stag)
			stag_table_insert(t, old[i].stag, old[i].object);
	}
	free(old);
	return 0;
}

struct stag_slot *stag_table_find(const struct stag_table *t, uint32_t stag)
{
	for (uint32_t i = stag_table_hash(t, stag); t->slot[i].stag; i = (i + 1) & t->mask) {
		if (t->slot[i].stag >> 8 == stag >> 8)
			return &t->slot[i];
	}
	return NULL;
}

int stag_table_add(struct stag_table *t, void *object, uint32_t *stag)
{
	if (t->count >= t->max)
		return -ENOMEM;
	if (t->count + 1 > (t->mask + 1) / 2 && stag_table_grow(t))
		return -ENOMEM;
	/*
	 * One index, one object: the key alone must not tell two apart, its owner may change it.
	 * At most a quarter of the indexes are in use: this ends soon.
	 */
	do
		*stag = random_u32(t->random);
	while (*stag >> 8 == 0 || stag_table_find(t, *stag));
	stag_table_insert(t, *stag, object);
	t->count++;
	return 0;
}

void stag_table_remove(struct stag_table *t, uint32_t stag)
{
	uint32_t hole = stag_table_hash(t, stag), i;

	while (t->slot[hole].stag != stag)
		hole = (hole + 1) & t->mask;
	/* Move back what was pushed past the hole, so that a free slot always ends a search. */
	for (i = (hole + 1) & t->mask; t->slot[i].stag; i = (i + 1) & t->mask) {
		uint32_t home = stag_table_hash(t, t->slot[i].stag);

		if (((i - home) & t->mask) < ((i - hole) & t->mask))
			continue;
		t->slot[hole] = t->slot[i];
		hole = i;
	}
	t->slot[hole] = (struct stag_slot){0};
	t->count--;
}
