/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/id_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static void numbers_start_at_one(void **state)
{
	struct id_table t;
	int a, b;
	uint32_t id;

	id_table_init(&t, 8);
	assert_null(id_table_get(&t, 0));
	assert_null(id_table_get(&t, 1));
	assert_int_equal(id_table_add(&t, &a, &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(id_table_add(&t, &b, &id), 0);
	assert_int_equal(id, 2);
	assert_ptr_equal(id_table_get(&t, 1), &a);
	assert_ptr_equal(id_table_get(&t, 2), &b);
	assert_null(id_table_get(&t, 3));
	assert_null(id_table_get(&t, UINT32_MAX));
	id_table_fini(&t);
}

static void a_number_rests_before_it_is_used_again(void **state)
{
	struct id_table t;
	int a;
	uint32_t id;

	id_table_init(&t, 8);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(id_table_add(&t, &a, &id), 0);
		assert_int_equal(id, 1 + i % 63); /* never 0 */
		id_table_remove(&t, id);
		assert_null(id_table_get(&t, id));
	}
	id_table_fini(&t);
}

static void grows_up_to_its_limit(void **state)
{
	static int objects[1000];
	struct id_table t;
	uint32_t id[1000], more;

	id_table_init(&t, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(id_table_add(&t, &objects[i], &id[i]), 0);
		assert_true(id[i] != 0);
	}
	assert_int_equal(id_table_add(&t, &more, &more), -ENOMEM);
	for (unsigned i = 0; i < 1000; i++)
		assert_ptr_equal(id_table_get(&t, id[i]), &objects[i]);
	id_table_remove(&t, id[500]);
	assert_int_equal(id_table_add(&t, &objects[500], &more), 0);
	assert_ptr_equal(id_table_get(&t, more), &objects[500]);
	id_table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_start_at_one),
		cmocka_unit_test(a_number_rests_before_it_is_used_again),
		cmocka_unit_test(grows_up_to_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
