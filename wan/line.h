/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file line.h
 * A delay line: each thing comes out at its own time (ns). Those that keep their order wait in a
 * ring, the others in a heap. With a constant delay the heap is not used.
 */
#ifndef WAN_LINE_H
#define WAN_LINE_H

#include <stdbool.h>
#include <stdint.h>

/** No time. */
#define WAN_NEVER UINT64_MAX

struct wan_line_entry {
	uint64_t due;
	uint64_t number; /**< of the put, to order equal times */
	void *thing;
};

struct wan_line {
	struct wan_line_entry *ring, *heap;
	uint32_t capacity;   /**< of each, a power of two */
	uint32_t head, tail; /**< of the ring, free running */
	uint32_t heaped;     /**< entries in the heap */
	uint64_t number;
	uint64_t last; /**< due of the newest in the ring */
};

/** @param capacity 1 to 2^30 things. @return false: no memory. */
bool wan_line_init(struct wan_line *l, uint32_t capacity);

/** Take all things out before: they are not freed. */
void wan_line_fini(struct wan_line *l);

static inline uint32_t wan_line_count(const struct wan_line *l)
{
	return l->tail - l->head + l->heaped;
}

/**
 * Put @p thing behind all that were put in order: it comes out at @p due, but not before them.
 * wan_line_count() must be below the capacity.
 */
void wan_line_put(struct wan_line *l, void *thing, uint64_t due);

/**
 * Put @p thing to come out at @p due, in any order. wan_line_count() must be below the capacity.
 */
void wan_line_put_anywhere(struct wan_line *l, void *thing, uint64_t due);

/** When the next thing is due, or WAN_NEVER. */
uint64_t wan_line_next(const struct wan_line *l);

/** Take the next thing if it is due at @p now, with its time in @p due; else NULL. */
void *wan_line_take(struct wan_line *l, uint64_t now, uint64_t *due);

#endif
