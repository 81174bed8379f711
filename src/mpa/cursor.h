/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cursor.h A position in received bytes that lie in several pieces. */
#ifndef MPA_CURSOR_H
#define MPA_CURSOR_H

#include "base/guarded.h"
#include "llp/llp.h"
#include "mpa/mpa_wire.h"

#include <string.h>

/**
 * While bytes follow, a cursor is never at the end of a piece, and never at a marker. The caller
 * knows how many bytes follow. A cursor steps over markers: the lengths below do not count them.
 */
struct mpa_cursor {
	const struct llp_iov *v; /**< the piece, and those that follow */
	unsigned n;              /**< pieces from there on */
	uint32_t marker;         /**< bytes to the next marker (1 - 508); 0: there are none */
	size_t off;              /**< offset in the piece */
};

/** Contiguous bytes from here, up to the end of the piece or to a marker. */
static inline size_t mpa_cursor_run(const struct mpa_cursor *c)
{
	size_t n = c->v->len - c->off;

	return c->marker != 0 && n > c->marker ? c->marker : n;
}

static inline const uint8_t *mpa_cursor_at(const struct mpa_cursor *c)
{
	return c->v->base + c->off;
}

/** Pass @p len bytes of the stream, markers included. */
static inline void mpa_cursor_pass(struct mpa_cursor *c, size_t len)
{
	c->off += len;
	while (c->n != 0 && c->off >= c->v->len) {
		c->off -= c->v->len;
		c->v++;
		c->n--;
	}
}

/**
 * Pass the markers within the next @p len bytes, and one that follows them. @return their bytes.
 */
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

/** mpa_cursor_copy() of bytes in several pieces. */
bool mpa_cursor_copy_pieces(struct mpa_cursor *c, void *out, size_t len);

/**
 * Copy the next @p len bytes and pass them, by the rule of base/guarded.h. A word that lies in two
 * pieces is stored whole, too.
 * @return false: @p out is memory that the program has taken away.
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
