/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/cursor.h"

/** The largest word that is stored whole, if it is naturally aligned. */
#define WORD 8

/** The next @p len bytes, WORD at most, into memory of our own. */
static void mpa_cursor_copy_word(struct mpa_cursor *c, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		out[i] = *mpa_cursor_at(c);
		mpa_cursor_advance(c, 1);
	}
}

bool mpa_cursor_copy_pieces(struct mpa_cursor *c, void *out, size_t len)
{
	uint8_t *to = out, word[WORD];

	while (len != 0) {
		size_t n = mpa_cursor_run(c), part;
		const uint8_t *from = mpa_cursor_at(c);

		/* What is left of a word at the end of a piece waits for its other part. */
		part = n < len ? (uintptr_t)(to + n) % WORD : 0;
		if (n > len)
			n = len;
		if (n > part) {
			n -= part;
			if (!guarded_copy(to, from, n))
				return false;
			mpa_cursor_advance(c, n);
		} else {
			n = WORD - (uintptr_t)to % WORD;
			if (n > len)
				n = len;
			mpa_cursor_copy_word(c, word, n);
			if (!guarded_copy(to, word, n))
				return false;
		}
		to += n;
		len -= n;
	}
	return true;
}
