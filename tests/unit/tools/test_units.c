/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void people_read_three_figures(void **state)
{
	char b[UNITS_LEN];

	assert_string_equal(units_bytes(b, 0), "0.00 B");
	assert_string_equal(units_bytes(b, 1448), "1.45 kB");
	assert_string_equal(units_bytes(b, 12.5e6), "12.5 MB");
	assert_string_equal(units_bytes(b, 999.94), "999.9 B");
	assert_string_equal(units_bytes(b, 999.96), "1.00 kB");
	assert_string_equal(units_bytes(b, 5e15), "5000.0 TB");
	assert_string_equal(units_rate(b, 941.5e6), "941.5 Mb/s");
	assert_string_equal(units_time(b, 927), "927.0 ns");
	assert_string_equal(units_time(b, 100.2e6), "100.2 ms");
	assert_string_equal(units_time(b, 60e9), "60.0 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_read_three_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
