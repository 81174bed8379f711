/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file notes.h
 * Notes on text that the user took before its turn (llp.h: ooo()): lists of them, as mbufs.h has
 * lists of text, and the memory that they come from. That is in blocks, each about as large as a
 * packet and counted as one: a note is far smaller than the text that it stands for.
 */
#ifndef TCP_NOTES_H
#define TCP_NOTES_H

#include "llp/llp.h"
#include "tcp/seq.h"

#define TCP_NOTES_PER_BLOCK 15

struct tcp_note {
	struct tcp_note *next;
	struct tcp_range r;
	struct llp_note text; /**< the user's */
};

/** In the order of their ranges; zero-initialised is empty. */
struct tcp_notes {
	struct tcp_note *first, *last;
};

struct tcp_note_block;

/** Where notes come from; zero-initialised holds no memory. */
struct tcp_note_pool {
	struct tcp_note *unused;
	struct tcp_note_block *blocks;
	uint32_t count; /**< blocks */
};

/** @param more may it ask for another block? @return NULL: no. */
struct tcp_note *tcp_note_get(struct tcp_note_pool *s, bool more);
void tcp_note_put(struct tcp_note_pool *s, struct tcp_note *n);

/** Free the blocks; no note is in use. */
void tcp_note_pool_free(struct tcp_note_pool *s);

/** Append @p n. */
void tcp_notes_push(struct tcp_notes *l, struct tcp_note *n);

/** Append all of @p more, which is then empty. */
void tcp_notes_join(struct tcp_notes *l, struct tcp_notes *more);

/** Give the first back. */
void tcp_notes_drop_first(struct tcp_notes *l, struct tcp_note_pool *s);

#endif
