/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/id_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 64

void id_table_init(struct id_table *t, uint32_t max)
{
	*t = (struct id_table){.max = max, .next = 1};
}

void id_table_fini(struct id_table *t)
{
	free(t->slot);
	t->slot = NULL;
	t->size = 0;
}

/** Keep half of the slots free, so that looking for one is short and numbers rest. */
static int id_table_grow(struct id_table *t)
{
	uint32_t size = t->size ? t->size * 2 : FIRST_SIZE;
	void **slot = realloc(t->slot, size * sizeof *slot);

	if (!slot)
		return -ENOMEM;
	memset(slot + t->size, 0, (size - t->size) * sizeof *slot);
	t->slot = slot;
	t->size = size;
	return 0;
}

int id_table_add(struct id_table *t, void *object, uint32_t *id)
{
	if (t->count >= t->max)
		return -ENOMEM;
	if (t->count + 1 > t->size / 2 && id_table_grow(t))
		return -ENOMEM;
	for (;; t->next++) {
		if (t->next >= t->size)
			t->next = 1;
		if (!t->slot[t->next])
			break;
	}
	t->slot[t->next] = object;
	t->count++;
	*id = t->next++;
	return 0;
}

void id_table_remove(struct id_table *t, uint32_t id)
{
	t->slot[id] = NULL;
	t->count--;
}
