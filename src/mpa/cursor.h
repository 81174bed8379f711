/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cursor.h A place in received bytes that lie in several pieces. */
#ifndef MPA_CURSOR_H
#define MPA_CURSOR_H

#include "llp/llp.h"

#include <string.h>

/** Never at the end of a piece while bytes follow; the caller knows how many there are. */
struct mpa_cursor {
	const struct llp_iov *v;
	unsigned n;
	size_t off;
};

/** Bytes from here that lie in one piece. */
static inline size_t mpa_cursor_run(const struct mpa_cursor *c)
{
	return c->v->len - c->off;
}

static inline const uint8_t *mpa_cursor_at(const struct mpa_cursor *c)
{
	return c->v->base + c->off;
}

static inline void mpa_cursor_advance(struct mpa_cursor *c, size_t len)
{
	c->off += len;
	while (c->n != 0 && c->off >= c->v->len) {
		c->off -= c->v->len;
		c->v++;
		c->n--;
	}
}

/** Copy the next @p len bytes and pass them. */
static inline void mpa_cursor_copy(struct mpa_cursor *c, void *out, size_t len)
{
	uint8_t *to = out;

	while (len != 0) {
		size_t n = mpa_cursor_run(c);

		if (n > len)
			n = len;
		memcpy(to, mpa_cursor_at(c), n);
		mpa_cursor_advance(c, n);
		to += n;
		len -= n;
	}
}

#endif
