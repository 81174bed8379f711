/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cursor.h A place in received bytes that lie in several pieces. */
#ifndef MPA_CURSOR_H
#define MPA_CURSOR_H

#include "base/guarded.h"
#include "llp/llp.h"
#include "mpa/mpa_wire.h"

#include <string.h>

/**
 * Never at the end of a piece, and never at a marker, while bytes follow; the caller knows how many
 * there are. Where the stream has markers the cursor steps over them: lengths below count what is
 * between them.
 */
struct mpa_cursor {
	const struct llp_iov *v; /**< the piece, and those behind it */
	unsigned n;              /**< pieces from there on */
	uint32_t marker;         /**< bytes to the next marker (1 - 508); 0: there are none */
	size_t off;              /**< of the place in its piece */
};

/** Bytes from here that lie in one piece, without a marker. */
static inline size_t mpa_cursor_run(const struct mpa_cursor *c)
{
	size_t n = c->v->len - c->off;

	return c->marker != 0 && n > c->marker ? c->marker : n;
}

static inline const uint8_t *mpa_cursor_at(const struct mpa_cursor *c)
{
	return c->v->base + c->off;
}

/** Pass @p len bytes of the stream, its markers counted. */
static inline void mpa_cursor_pass(struct mpa_cursor *c, size_t len)
{
	c->off += len;
	while (c->n != 0 && c->off >= c->v->len) {
		c->off -= c->v->len;
		c->v++;
		c->n--;
	}
}

/** Bytes of the markers between here and @p len bytes on, and the one there; passes them. */
static inline size_t mpa_cursor_markers(struct mpa_cursor *c, size_t len)
{
	size_t past;

	if (len < c->marker) {
		c->marker -= (uint32_t)len;
		return 0;
	}
	past = len - c->marker;
	c->marker = MPA_MARKER_GAP - (uint32_t)(past % MPA_MARKER_GAP);
	return (1 + past / MPA_MARKER_GAP) * MPA_MARKER_LEN;
}

static inline void mpa_cursor_advance(struct mpa_cursor *c, size_t len)
{
	if (c->marker != 0)
		len += mpa_cursor_markers(c, len);
	mpa_cursor_pass(c, len);
}

/** mpa_cursor_copy() of what does not lie in one piece. */
bool mpa_cursor_copy_pieces(struct mpa_cursor *c, void *out, size_t len);

/**
 * Copy the next @p len bytes and pass them, by the rule of base/guarded.h: also a word that lies in
 * two pieces is stored whole.
 * @return false: @p out, memory of the program's, is not there. Never for memory of our own.
 */
static inline bool mpa_cursor_copy(struct mpa_cursor *c, void *out, size_t len)
{
	if (len == 0)
		return true;
	if (mpa_cursor_run(c) < len)
		return mpa_cursor_copy_pieces(c, out, len);
	if (!guarded_copy(out, mpa_cursor_at(c), len))
		return false;
	mpa_cursor_advance(c, len);
	return true;
}

#endif
