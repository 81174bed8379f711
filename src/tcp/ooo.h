/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ooo.h
 * Text that came before what it follows: islands in the sequence space, sorted, with a gap of at
 * least a byte between any two. An island knows its bounds, so it is a SACK block as it is, and
 * holds its text as a list, so it goes to the receive queue in one step.
 *
 * Where the user took text already, a note stands in its place (notes.h). Neighbours of a note
 * share no packet, so that each run of text between notes is a list of its own mbufs.
 *
 * What is there stays: of a new segment only the bytes that are missing are taken. Islands lie in
 * a ring, found by bisection; one that comes or goes moves the shorter side, and that is nothing
 * where losses happen (at the far end) and are repaired (at the near end).
 */
#ifndef TCP_OOO_H
#define TCP_OOO_H

#include "tcp/mbufs.h"
#include "tcp/notes.h"
#include "tcp/seq.h"

#include <stdbool.h>

/** Islands of one connection at most: what bounds the work that a hostile peer can ask for. */
#define TCP_OOO_ISLANDS 8192

struct tcp_island {
	struct tcp_range r;
	struct tcp_mbufs text; /**< all of it but what the notes stand for */
	struct tcp_notes notes;
};

/** Zero-initialised is empty and holds no memory. */
struct tcp_ooo {
	struct tcp_island *ring;
	uint32_t cap, head, n;
	/**
	 * Mbufs in all, as a packet costs a whole one, whatever it carries; and blocks of notes.
	 */
	uint32_t held;
	uint32_t bytes; /**< of the stream, in all islands */
	struct tcp_note_pool notes;
};

/** What became of a segment. */
struct tcp_ooo_result {
	uint32_t kept;        /**< bytes that were missing and are held now */
	struct tcp_range dup; /**< the first run of bytes that were held already; empty: none */
};

/** What comes next out of it: text, or what the user took as @p note says. */
struct tcp_ooo_run {
	uint32_t len;          /**< of the stream */
	struct tcp_mbufs text; /**< empty: taken */
	struct llp_note note;
};

static inline struct tcp_island *tcp_ooo_at(const struct tcp_ooo *o, uint32_t i)
{
	return &o->ring[(o->head + i) & (o->cap - 1)];
}

/**
 * Keep what is missing of @p m. Its text of @p len bytes, at least one, begins at @p seq. Owns @p
 * m. Where it fills several gaps at once, it is copied into packets of @p pool.
 */
struct tcp_ooo_result tcp_ooo_insert(struct tcp_ooo *o, struct rte_mbuf *m, uint32_t seq,
	uint32_t len, struct rte_mempool *pool);

/**
 * A note for text of @p r, to be filled in and kept or dropped.
 * @param more may it take more memory?
 * @return NULL: some of @p r is there already, or there is no memory.
 */
struct tcp_note *tcp_ooo_note(struct tcp_ooo *o, struct tcp_range r, bool more);

/** Keep @p n in place of its text, all of which is missing. */
void tcp_ooo_keep_note(struct tcp_ooo *o, struct tcp_note *n);
void tcp_ooo_drop_note(struct tcp_ooo *o, struct tcp_note *n);

/** Does a note stand for any of what the islands hold that begin before @p seq? */
bool tcp_ooo_has_notes_before(const struct tcp_ooo *o, uint32_t seq);

/** Does one stand for anything at all? */
bool tcp_ooo_has_notes(const struct tcp_ooo *o);

/**
 * Take the first run of the first island if that reaches or passes @p next, cut to begin there.
 * @param[out] out the caller's to keep.
 */
bool tcp_ooo_take(struct tcp_ooo *o, uint32_t next, struct tcp_ooo_run *out);

/** The island that holds byte @p seq, or NULL. */
const struct tcp_island *tcp_ooo_find(const struct tcp_ooo *o, uint32_t seq);

/**
 * Drop text, that of the farthest islands first, until @p packets fewer are held or there is none.
 * Notes stay: what the user took must not come to it again.
 */
void tcp_ooo_prune(struct tcp_ooo *o, uint32_t packets);

void tcp_ooo_clear(struct tcp_ooo *o);

#endif
