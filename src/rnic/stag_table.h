/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stag_table.h
 * Maps STags to memory regions. An STag is a 24-bit index and an 8-bit key (draft-hilland-verbs
 * section 7.2.1). Both are random, so an STag says nothing about others (RFC 5042 section 6.2.3).
 * So this is a hash table of indexes, not an array. Under the engine's lock.
 */
#ifndef RNIC_STAG_TABLE_H
#define RNIC_STAG_TABLE_H

#include "base/random.h"

#include <stdint.h>

struct stag_slot {
	uint32_t stag; /**< 0: free */
	void *object;
};

struct stag_table {
	struct stag_slot *slot;
	uint32_t mask; /**< size - 1; the size is a power of two */
	uint32_t count;
	uint32_t max; /**< limit of STags */
	const struct random_source *random;
};

/**
 * @param max limit of STags, 1 to 2^22: a free random index is still found quickly.
 * @return 0, -ENOMEM.
 */
int stag_table_init(struct stag_table *t, uint32_t max, const struct random_source *random);
void stag_table_fini(struct stag_table *t);

/** Give @p object an STag, never 0. @return 0, or -ENOMEM: max reached or no memory. */
int stag_table_add(struct stag_table *t, void *object, uint32_t *stag);
void stag_table_remove(struct stag_table *t, uint32_t stag);

/**
 * Find by index, with any key. The key in the slot may be changed, as a bind of a window does.
 * @return NULL: no such index.
 */
struct stag_slot *stag_table_find(const struct stag_table *t, uint32_t stag);

/** The indexes are random, so they are their own hash. */
static inline uint32_t stag_table_hash(const struct stag_table *t, uint32_t stag)
{
	return (stag >> 8) & t->mask;
}

/** @return the object of exactly this STag, key included, or NULL. */
static inline void *stag_table_get(const struct stag_table *t, uint32_t stag)
{
	uint32_t i = stag_table_hash(t, stag);

	/* At most half of the slots are in use, so a free one ends the search. */
	while (t->slot[i].stag) {
		if (t->slot[i].stag == stag)
			return t->slot[i].object;
		i = (i + 1) & t->mask;
	}
	return 0;
}

#endif
