/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/prng.h"
#include "mpa/cursor.h"
#include "support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST  120u
#define ROOM  (2 * MOST)
#define PARTS (ROOM + 1)

/* Payload in pieces as the segments were cut, with markers or without. */
struct scene {
	uint8_t sent[MOST], stream[ROOM];
	struct llp_iov v[PARTS];
	unsigned n;
	uint32_t len, marker;
};

static void cut(struct scene *s, struct prng *random, uint32_t most)
{
	uint32_t total = 0, at = 0, next = s->marker;

	for (uint32_t i = 0; i < s->len; i++) {
		s->sent[i] = (uint8_t)(1 + prng_below(random, 255));
		s->stream[total++] = s->sent[i];
		if (s->marker != 0 && --next == 0) {
			memset(s->stream + total, 0xee, MPA_MARKER_LEN);
			total += MPA_MARKER_LEN;
			next = MPA_MARKER_GAP;
		}
	}
	for (s->n = 0; at != total; s->n++) {
		uint32_t n = 1 + prng_below(random, most);

		n = n < total - at ? n : total - at;
		s->v[s->n] = (struct llp_iov){.base = s->stream + at, .len = n};
		at += n;
	}
}

/* Pieces of any length, to any address: as if it were one. */
static void copies_pieces(void **state)
{
	struct prng random = {3};
	static struct scene s;
	uint8_t memory[MOST + 32];

	for (unsigned i = 0; i < 20000; i++) {
		size_t at = 8 + prng_below(&random, 8);
		struct mpa_cursor c = {.v = s.v};

		s.len = prng_below(&random, MOST + 1);
		s.marker = prng_below(&random, 2) * (1 + prng_below(&random, MOST));
		cut(&s, &random, 1 + prng_below(&random, MOST));
		c.n = s.n;
		c.marker = s.marker;
		memset(memory, 0, sizeof memory);
		assert_true(mpa_cursor_copy(&c, memory + at, s.len));
		assert_memory_equal(memory + at, s.sent, s.len);
		assert_int_equal(memory[at - 1], 0);
		assert_int_equal(memory[at + s.len], 0);
		assert_int_equal(c.n, 0);
	}
}

#ifdef WATCHED_STEPS

/* Wherever a segment or a marker cuts a word, it is seen whole, and once. */
static void stores_words_whole(void **state)
{
	struct prng random = {4};
	static struct scene s;
	static uint8_t memory[MOST + 32];

	for (unsigned i = 0; i < 60; i++) {
		uint8_t *to = memory + 8 + i % 8;
		struct mpa_cursor c = {.v = s.v};

		s.len = 1 + prng_below(&random, 60);
		s.marker = i % 2 * (1 + prng_below(&random, s.len));
		cut(&s, &random, 1 + prng_below(&random, 30));
		c.n = s.n;
		c.marker = s.marker;
		watched_begin(to, s.sent, s.len, watched_consume);
		mpa_cursor_copy(&c, to, s.len);
		watched_end();
		if (watched.wrong != NULL)
			fail_msg("%u: %s", i, watched.wrong);
		assert_int_equal(watched.used, s.len);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_pieces),
#ifdef WATCHED_STEPS
		cmocka_unit_test(stores_words_whole),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
