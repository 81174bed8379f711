/* SPDX-License-Identifier: BSD-2-Clause */
/* Items of JSON, kept as text. */
#include "tools/json_list.h"

#include "stat_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void items_come_back_in_their_order(void **state)
{
	static const char all_text[] = "[1,\"a\\nb\\u2028\\u0085\",null,true,-1.5,{},[],{\"b\":[{"
				       "\"a\":\"\\\"\"}],\"a\":2},"
				       "9223372036854775807]";
	json_t *all = json_loads(all_text, 0, NULL), *item;
	struct json_list l = {.n = 0};
	size_t at = 0, n = 0;

	assert_null(json_list_next(&l, &at));
	fill_list(&l, all_text);
	while ((item = json_list_next(&l, &at))) {
		assert_true(json_equal(item, json_array_get(all, n++)));
		json_decref(item);
	}
	assert_int_equal(n, json_array_size(all));
	assert_int_equal(l.n, n);
	assert_null(json_list_next(&l, &at));
	json_list_free(&l);
	assert_int_equal(l.size, 0);
	json_decref(all);
}

/** What there is no text for leaves it as it was. */
static void what_is_no_json_is_not_added(void **state)
{
	json_t *bad = json_array(), *good = json_integer(7), *item;
	struct json_list l = {.n = 0};
	size_t at = 0;

	assert_int_equal(json_array_append_new(bad, json_stringn_nocheck("\xff", 1)), 0);
	assert_true(json_list_add(&l, good));
	assert_false(json_list_add(&l, bad));
	assert_int_equal(l.n, 1);
	assert_int_equal(l.len, 2);
	item = json_list_next(&l, &at);
	assert_int_equal(json_integer_value(item), 7);
	assert_null(json_list_next(&l, &at));
	json_decref(item);
	json_decref(bad);
	json_decref(good);
	json_list_free(&l);
}

/** A million small ones take little more than their text, and few steps. */
static void it_is_little_more_than_its_text(void **state)
{
	json_t *item = json_integer(7);
	struct json_list l = {.n = 0};

	for (unsigned i = 0; i < 1 << 20; i++)
		assert_true(json_list_add(&l, item));
	assert_int_equal(l.len, 2 << 20);
	assert_in_range(l.size, l.len, l.len + l.len / 4 + 512);
	json_list_free(&l);
	json_decref(item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_back_in_their_order),
		cmocka_unit_test(what_is_no_json_is_not_added),
		cmocka_unit_test(it_is_little_more_than_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
