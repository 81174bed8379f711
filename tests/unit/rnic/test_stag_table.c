/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/stag_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

/** Random numbers as the test wants them. */
struct script {
	const uint32_t *next;
	unsigned left;
};

static void fill_script(void *ctx, void *buf, size_t len)
{
	struct script *s = ctx;

	assert_int_equal(len, 4);
	assert_true(s->left > 0);
	memcpy(buf, s->next++, 4);
	s->left--;
}

static void fill_lcg(void *ctx, void *buf, size_t len)
{
	uint64_t *x = ctx;
	uint32_t v;

	*x = *x * 6364136223846793005u + 1442695040888963407u;
	v = (uint32_t)(*x >> 32);
	memcpy(buf, &v, len);
}

static void takes_the_random_number_whole(void **state)
{
	const uint32_t numbers[] = {0x12345678, 0xfedcba98};
	struct script s = {numbers, 2};
	struct random_source r = {fill_script, &s};
	struct stag_table t;
	uint32_t stag;
	int a, b;

	assert_int_equal(stag_table_init(&t, 10, &r), 0);
	assert_int_equal(stag_table_add(&t, &a, &stag), 0);
	assert_int_equal(stag, 0x12345678);
	assert_int_equal(stag_table_add(&t, &b, &stag), 0);
	assert_int_equal(stag, 0xfedcba98);
	assert_ptr_equal(stag_table_get(&t, 0x12345678), &a);
	assert_ptr_equal(stag_table_get(&t, 0xfedcba98), &b);
	/* The key counts. */
	assert_null(stag_table_get(&t, 0x12345679));
	assert_null(stag_table_get(&t, 0));
	stag_table_fini(&t);
}

static void never_zero_and_never_one_index_twice(void **state)
{
	const uint32_t numbers[] = {0x00000000, 0x00000017, 0xabcdef01, 0xabcdef02, 0xabcdee02};
	struct script s = {numbers, 5};
	struct random_source r = {fill_script, &s};
	struct stag_table t;
	uint32_t stag;
	int a, b;

	assert_int_equal(stag_table_init(&t, 10, &r), 0);
	assert_int_equal(stag_table_add(&t, &a, &stag), 0);
	assert_int_equal(stag, 0xabcdef01);
	assert_int_equal(stag_table_add(&t, &b, &stag), 0);
	assert_int_equal(stag, 0xabcdee02);
	stag_table_fini(&t);
}

/** Indexes with the same home, at the end of the table: the search wraps, removal closes holes. */
static void collisions_survive_removal(void **state)
{
	uint32_t numbers[8];
	struct script s = {numbers, 8};
	struct random_source r = {fill_script, &s};
	struct stag_table t;
	uint32_t stag[8];
	int objects[8];

	for (uint32_t i = 0; i < 8; i++)
		numbers[i] = ((i + 1) << 6 | 62 | (i & 1)) << 8 | 0xaa;
	assert_int_equal(stag_table_init(&t, 100, &r), 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(stag_table_add(&t, &objects[i], &stag[i]), 0);
	for (unsigned gone = 0; gone < 8; gone++) {
		unsigned order = gone * 3 % 8;

		stag_table_remove(&t, stag[order]);
		stag[order] = 0;
		for (unsigned i = 0; i < 8; i++)
			assert_ptr_equal(
				stag[i] ? stag_table_get(&t, stag[i]) : &objects[i], &objects[i]);
		assert_null(stag_table_get(&t, numbers[order]));
	}
	assert_int_equal(t.count, 0);
	stag_table_fini(&t);
}

#define MANY 3000

static void many_come_and_go(void **state)
{
	static int objects[MANY];
	static uint32_t stag[MANY];
	uint64_t seed = 1;
	struct random_source r = {fill_lcg, &seed};
	struct stag_table t;
	uint32_t old, extra;

	assert_int_equal(stag_table_init(&t, MANY, &r), 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(stag_table_add(&t, &objects[i], &stag[i]), 0);
	assert_int_equal(stag_table_add(&t, &extra, &extra), -ENOMEM);
	for (unsigned i = 0; i < MANY; i += 3) {
		old = stag[i];
		stag_table_remove(&t, old);
		assert_null(stag_table_get(&t, old));
		assert_int_equal(stag_table_add(&t, &objects[i], &stag[i]), 0);
		/* Used again, it is another STag: the old one stays dead. */
		assert_int_not_equal(stag[i], old);
		assert_null(stag_table_get(&t, old));
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_ptr_equal(stag_table_get(&t, stag[i]), &objects[i]);
	for (unsigned i = 0; i < MANY; i++)
		stag_table_remove(&t, stag[i]);
	assert_int_equal(t.count, 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_null(stag_table_get(&t, stag[i]));
	stag_table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_random_number_whole),
		cmocka_unit_test(never_zero_and_never_one_index_twice),
		cmocka_unit_test(collisions_survive_removal),
		cmocka_unit_test(many_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
