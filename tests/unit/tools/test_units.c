/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void rates_are_in_powers_of_1000(void **state)
{
	double r;

	assert_true(units_parse_rate("9600", &r));
	assert_true(r == 9600);
	assert_true(units_parse_rate("2.5g", &r));
	assert_true(r == 2.5e9);
	assert_true(units_parse_rate("100M", &r));
	assert_true(r == 1e8);
	assert_false(units_parse_rate("0", &r));
	assert_false(units_parse_rate("1001g", &r));
	assert_false(units_parse_rate("1e9", &r));
	assert_false(units_parse_rate("inf", &r));
	assert_false(units_parse_rate("1.2.3", &r));
	assert_false(units_parse_rate(".", &r));
	assert_false(units_parse_rate("", &r));
}

static void seconds_become_nanoseconds(void **state)
{
	uint64_t ns;

	assert_true(units_parse_seconds("10", 100, &ns));
	assert_int_equal(ns, UINT64_C(10000000000));
	assert_true(units_parse_seconds("0.25", 100, &ns));
	assert_int_equal(ns, 250000000);
	assert_true(units_parse_seconds("0", 100, &ns));
	assert_int_equal(ns, 0);
	assert_false(units_parse_seconds("100.1", 100, &ns));
	assert_false(units_parse_seconds("-1", 100, &ns));
	assert_false(units_parse_seconds("1s", 100, &ns));
	assert_false(units_parse_seconds("nan", 100, &ns));
}

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
		cmocka_unit_test(rates_are_in_powers_of_1000),
		cmocka_unit_test(seconds_become_nanoseconds),
		cmocka_unit_test(people_read_three_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
