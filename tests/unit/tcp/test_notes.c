/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/notes.h"

#define MANY (3 * TCP_NOTES_PER_BLOCK)

static void test_blocks(void **state)
{
	struct tcp_note_pool s = {0};
	struct tcp_note *n[MANY];

	assert_null(tcp_note_get(&s, false));
	assert_int_equal(s.count, 0);
	for (unsigned i = 0; i < MANY; i++) {
		n[i] = tcp_note_get(&s, true);
		assert_non_null(n[i]);
		memset(n[i], (int)i, sizeof *n[i]); /* nobody else's */
	}
	assert_int_equal(s.count, 3);
	assert_null(tcp_note_get(&s, false));
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(n[i]->text.bytes[0], i);
		tcp_note_put(&s, n[i]);
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_non_null(tcp_note_get(&s, false));
	assert_null(tcp_note_get(&s, false));
	tcp_note_pool_free(&s);
	assert_null(s.unused);
	assert_int_equal(s.count, 0);
}

static void test_lists(void **state)
{
	struct tcp_note_pool s = {0};
	struct tcp_notes a = {0}, b = {0};

	tcp_notes_join(&a, &b);
	assert_null(a.first);
	for (uint32_t i = 0; i < 6; i++) {
		struct tcp_note *n = tcp_note_get(&s, true);

		n->r = (struct tcp_range){i, i + 1};
		tcp_notes_push(i < 2 ? &a : &b, n);
		if (i == 3)
			tcp_notes_join(&a, &b);
	}
	assert_int_equal(b.first->r.left, 4);
	tcp_notes_join(&a, &b);
	assert_null(b.first);
	assert_int_equal(a.last->r.left, 5);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(a.first->r.left, i);
		tcp_notes_drop_first(&a, &s);
	}
	assert_null(a.first);
	tcp_notes_join(&b, &a);
	assert_null(b.first);
	tcp_note_pool_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
