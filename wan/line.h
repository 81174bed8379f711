/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file line.h
 * A delay line: things that come out at the time that each was given, ns. What keeps its place in
 * the order waits in a ring, what may be overtaken in a heap; with one delay for all the heap is
 * never touched.
 */
#ifndef WAN_LINE_H
#define WAN_LINE_H

#include <stdbool.h>
#include <stdint.h>

/** Due when nothing is. */
#define WAN_NEVER UINT64_MAX

struct wan_line_entry {
	uint64_t due;
	uint64_t number; /**< in the order of putting, which decides between equals */
	void *thing;
};

struct wan_line {
	struct wan_line_entry *ring, *heap;
	uint32_t capacity;   /**< of each, a power of two */
	uint32_t head, tail; /**< of the ring, counting freely */
	uint32_t heaped;     /**< entries in the heap */
	uint64_t number;
	uint64_t last; /**< due of the youngest in the ring */
};

/** @return false when there is no memory for @p capacity things, 1 to 2^30. */
bool wan_line_init(struct wan_line *l, uint32_t capacity);

/** What is still inside is forgotten: take it out before. */
void wan_line_fini(struct wan_line *l);

static inline uint32_t wan_line_count(const struct wan_line *l)
{
	return l->tail - l->head + l->heaped;
}

/**
 * Put @p thing behind all that were put in order before: its time becomes @p due or theirs,
 * whichever is later. There must be room: wan_line_count() is below the capacity.
 */
void wan_line_put(struct wan_line *l, void *thing, uint64_t due);

/**
 * Put @p thing to come out at @p due, before and after whatever else does. As to room, see above.
 */
void wan_line_put_anywhere(struct wan_line *l, void *thing, uint64_t due);

/** When the next thing is due, or WAN_NEVER. */
uint64_t wan_line_next(const struct wan_line *l);

/** The next thing when it is due at @p now, with its time in @p due; else NULL. */
void *wan_line_take(struct wan_line *l, uint64_t now, uint64_t *due);

#endif
