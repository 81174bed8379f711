/* SPDX-License-Identifier: BSD-2-Clause */
/* All that a process tells, of one that answers as a script has it. */
#include "tools/stat_process.h"

#include "answering.h"

#include <string.h>

#define INFO "{\"/uiwarp/info\":{\"pid\":1}}"
#define NONE "{\"/uiwarp/x\":null}"

/** The number of the QP that connection @p n has; 0: none. */
static json_int_t qp_of(const struct stat_process *p, unsigned n)
{
	json_int_t qp = -1;
	size_t at = 0;
	json_t *item;

	for (unsigned i = 0; (item = stat_process_next(p, STAT_CONNECTIONS, &at)); i++) {
		if (i == n)
			qp = json_integer_value(json_object_get(item, "qp"));
		json_decref(item);
	}
	return qp;
}

/** By their ends, of which one does not go on in the other. */
static void connections_have_their_qps(void **state)
{
	static const char connections[] =
		"{\"/uiwarp/connections\":{\"items\":["
		"{\"local\":\"a\",\"remote\":\"b\"},{\"local\":\"a\",\"remote\":\"c\"},"
		"{\"local\":\"a \",\"remote\":\"b\"},{\"local\":\"a\",\"remote\":\"d\"},7]}}";
	static const char qps[] = "{\"/uiwarp/qps\":{\"items\":["
				  "{\"qp\":4,\"local\":\"a\",\"remote\":\"c\"},"
				  "{\"qp\":5,\"local\":\"a\",\"remote\":\"b\"},"
				  "{\"qp\":6,\"local\":\"a\",\"remote\":\"c\"},"
				  "{\"local\":\"a\",\"remote\":\"d\"},7,"
				  "{\"qp\":7},{\"qp\":8}]}}";
	unsigned n = begin((struct script){
		.say = {GREETING, INFO, NONE, NONE, connections, qps, NONE}, .greets = true});
	struct stat_process p;

	open_all(1);
	assert_true(stat_process_collect(&p, of(n), true));
	assert_string_equal(json_string_value(json_object_get(p.about, "socket")), server[n].name);
	assert_string_equal(json_string_value(json_object_get(p.about, "directory")), directory);
	assert_int_equal(p.list[STAT_CONNECTIONS].n, 5);
	assert_int_equal(qp_of(&p, 0), 5);
	assert_int_equal(qp_of(&p, 1), 6);
	assert_int_equal(qp_of(&p, 2), 0);
	assert_int_equal(qp_of(&p, 3), 0);
	assert_true(p.told[STAT_CQS]);
	assert_string_equal(of(n)->refused, "");
	assert_false(p.told[STAT_MRS]);
	stat_process_free(&p);
}

static void who_goes_leaves_what_it_has_told(void **state)
{
	static const char cut[] = "{\"/uiwarp/connections\":{\"items\":[{}],\"next\":1}}";
	unsigned n =
		begin((struct script){.say = {GREETING, INFO, NONE, NONE, cut}, .greets = true});
	struct stat_process p;

	open_all(1);
	assert_true(stat_process_collect(&p, of(n), false));
	assert_non_null(json_object_get(p.about, "info"));
	for (unsigned i = 0; i < STAT_LISTS; i++)
		assert_true(!p.told[i] && p.list[i].n == 0);
	stat_process_free(&p);
	assert_string_equal(of(n)->refused, "it went, or answered no more, before it had told all");
	assert_false(stat_process_collect(&p, of(n), false));
	assert_null(p.about);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connections_have_their_qps, setup, teardown),
		cmocka_unit_test_setup_teardown(who_goes_leaves_what_it_has_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
