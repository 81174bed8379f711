/* SPDX-License-Identifier: BSD-2-Clause */
/* What scripts/configuration reads: a line for each key of the table, five fields each. */
#include "host/config_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
/* After the four that it needs. */
#include <cmocka.h>

static const char *program;

static void test_lines(void **state)
{
	FILE *f = popen(program, "r");
	char line[4096];
	unsigned n = 0;

	assert_non_null(f);
	for (; fgets(line, sizeof line, f); n++) {
		const struct config_key *k = &config_keys[n];
		char *field[6] = {NULL}, *rest = line;
		struct config_phrase p;
		unsigned i;

		assert_in_range(n, 0, config_num_keys - 1);
		assert_int_equal(line[strlen(line) - 1], '\n');
		line[strlen(line) - 1] = '\0';
		for (i = 0; rest && i < 6; i++)
			field[i] = strsep(&rest, "\t");
		assert_int_equal(i, 5);
		assert_string_equal(field[0], k->name);
		assert_string_equal(field[1], k->initial ? k->initial : "");
		assert_string_equal(field[2], k->absent ? k->absent : "");
		assert_string_equal(field[3], config_value_expected(k, &p));
		assert_string_equal(field[4], k->text);
	}
	assert_int_equal(n, config_num_keys);
	assert_int_equal(pclose(f), 0);
}

/* A list that was cut must not become a document. */
static void test_full_disk(void **state)
{
	char command[4096];
	int status;

	snprintf(command, sizeof command, "%s >/dev/full", program);
	status = system(command);
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_full_disk),
	};

	if (argc != 2)
		return 2;
	program = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
