/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file id_table.h
 * Numbers for objects, from 1. They are given out round robin, so a number is not used again soon.
 * Memory grows with use. Under the engine's lock.
 */
#ifndef RNIC_ID_TABLE_H
#define RNIC_ID_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

struct id_table {
	void **slot;            /**< [size]; slot 0 is never used */
	uint32_t size;          /**< a power of two, or 0 */
	_Atomic uint32_t count; /**< others may read it without the table's lock */
	uint32_t max;           /**< objects at most */
	uint32_t next;          /**< where the search for a free slot begins */
};

/** @param max limit of objects (1 to 2^22: numbers fit 24 bits). */
void id_table_init(struct id_table *t, uint32_t max);
void id_table_fini(struct id_table *t);

/** Give @p object a number. @return 0, or -ENOMEM: max reached or no memory. */
int id_table_add(struct id_table *t, void *object, uint32_t *id);
void id_table_remove(struct id_table *t, uint32_t id);

/** @return the object, or NULL. @p id may be any number. */
static inline void *id_table_get(const struct id_table *t, uint32_t id)
{
	return id < t->size ? t->slot[id] : 0;
}

#endif
