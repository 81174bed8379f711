/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands beside UIWARP_SET. What sentences make of it is in test_config_environment.c. */
#include "host/config_givers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char set[] = "mtu=none";

static void expect(size_t options, const char *others)
{
	const struct config_givers by = config_givers_of(set);

	assert_int_equal(by.options, options);
	assert_string_equal(by.others, others);
}

static void test_written_and_read(void **state)
{
	unsetenv("UIWARP_SET_BY");
	expect(0, "UIWARP_SET");
	for (size_t options = 0; options <= strlen(set); options++) {
		config_givers_export(&(struct config_givers){options, "--config"}, set);
		expect(options, "--config");
		config_givers_export(&(struct config_givers){options, "UIWARP_SET"}, set);
		expect(options, "UIWARP_SET");
	}
}

/* UIWARP_SET_BY is a variable like others: whatever stands there, no line is another's for it. */
static void test_others_are_not_believed(void **state)
{
	static const char *const other[] = {"", "8", "8 8", "8 8 ", "8 8 --set", "8 8 --config ",
		"8 9 --config", "7 7 --config", "9 8 --config", "8  8 --config", "8 -1 --config",
		"-1 8 --config", " 8 8 --config", "18446744073709551616 8 --config",
		"8 8 UIWARP_SET UIWARP_SET UIWARP_SET UIWARP_SET UIWARP_SET UIWARP_SET UIWARP_SET"};

	setenv("UIWARP_SET_BY", "8 0 --config", 1);
	expect(0, "--config");
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		setenv("UIWARP_SET_BY", other[i], 1);
		expect(0, "UIWARP_SET");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_and_read),
		cmocka_unit_test(test_others_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
