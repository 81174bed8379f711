/* SPDX-License-Identifier: BSD-2-Clause */
/* What `uiwarp stat --json` writes of what processes tell. */
#include "tools/stat_print.h"

#include "stat_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The same as a tree. */
static json_t *tree(void)
{
	json_t *p = json_loads(about_text, 0, NULL);

	for (unsigned i = 0; i < STAT_LISTS; i++)
		json_object_set_new(p, stat_lists[i], json_loads(list_text[i], 0, NULL));
	return p;
}

/** One by one they stand as in an array that is written at once. */
static void json_is_that_of_an_array(void **state)
{
	struct stat_process p = process();
	json_t *all = json_pack("[o,o]", tree(), tree());
	char *text, *expected = json_dumps(
			    all, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	fputs("[\n ", out);
	assert_true(stat_print_json(out, &p));
	fputs(",\n ", out);
	assert_true(stat_print_json(out, &p));
	fputs("\n]", out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
	json_decref(all);
	stat_process_free(&p);
}

/** A list that was not told is none, and no empty one. */
static void what_is_not_told_is_not_there(void **state)
{
	struct stat_process p = process();
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	p.told[STAT_QPS] = false;
	assert_true(stat_print_json(out, &p));
	fclose(out);
	assert_null(strstr(text, "\"qps\""));
	assert_non_null(strstr(text, "\"mrs\": []"));
	free(text);
	stat_process_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_that_of_an_array),
		cmocka_unit_test(what_is_not_told_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
