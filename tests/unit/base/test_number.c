/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void whole_numbers(void **state)
{
	uint64_t n;

	assert_true(number_parse("0", 0, 0, &n));
	assert_int_equal(n, 0);
	assert_true(number_parse("007", 1, 7, &n));
	assert_int_equal(n, 7);
	assert_true(number_parse("18446744073709551615", 0, UINT64_MAX, &n));
	assert_true(n == UINT64_MAX);
}

static void other_text_is_refused(void **state)
{
	static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "0x10", "1.5", "1e3", "1k",
		"101", "9", "18446744073709551616", "18446744073709551620", "36893488147419103240",
		"99999999999999999999999"};
	uint64_t n = 5;

	for (unsigned i = 0; i < COUNT(wrong); i++) {
		assert_false(number_parse(wrong[i], 10, 100, &n));
		if (i != 10)
			assert_false(number_parse(wrong[i], 102, UINT64_MAX, &n));
	}
	assert_false(number_parse("1", 0, 0, &n));
	assert_int_equal(n, 5);
}

static void sizes_are_in_powers_of_1024(void **state)
{
	uint64_t n;

	assert_true(number_parse_size("1", 1, 100, &n));
	assert_int_equal(n, 1);
	assert_true(number_parse_size("16k", 1, 16384, &n));
	assert_int_equal(n, 16384);
	assert_true(number_parse_size("3M", 3 << 20, UINT64_MAX, &n));
	assert_int_equal(n, 3 << 20);
	assert_true(number_parse_size("5g", 1, UINT64_MAX, &n));
	assert_int_equal(n, UINT64_C(5) << 30);
	assert_true(number_parse_size("16777215T", 1, UINT64_MAX, &n));
	assert_int_equal(n, UINT64_C(16777215) << 40);
	assert_true(number_parse_size("18446744073709551615", 0, UINT64_MAX, &n));
	assert_true(n == UINT64_MAX);
}

static void sizes_out_of_range_or_form_are_refused(void **state)
{
	static const char *const wrong[] = {"", "k", "-1", "+1", " 1", "1 ", "0x10", "1.5", "1kk",
		"1q", "101", "1k", "18446744073709551616", "99999999999999999999999",
		"17179869184G"};
	uint64_t n;

	for (unsigned i = 0; i < COUNT(wrong); i++)
		assert_false(number_parse_size(wrong[i], 0, 100, &n));
	assert_false(number_parse_size("0", 1, 100, &n));
	assert_false(number_parse_size("1023", 1024, UINT64_MAX, &n));
	assert_false(number_parse_size("17179869184G", 0, UINT64_MAX, &n));
	assert_false(number_parse_size("16777216T", 0, UINT64_MAX, &n));
}

static void decimals_and_what_follows(void **state)
{
	static const char *const wrong[] = {"", ".", "1.2.3", "-1", "+1", " 1", "inf", "nan",
		"00000000000000000000000000000001"};
	const char *rest;
	double d;

	assert_true(number_parse_decimal("2.5mbit", &d, &rest));
	assert_true(d == 2.5);
	assert_string_equal(rest, "mbit");
	assert_true(number_parse_decimal("0000000000000000000000000000001", &d, &rest));
	assert_true(d == 1);
	assert_string_equal(rest, "");
	assert_true(number_parse_decimal("1e9", &d, &rest));
	assert_string_equal(rest, "e9");
	for (unsigned i = 0; i < COUNT(wrong); i++)
		assert_false(number_parse_decimal(wrong[i], &d, &rest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(other_text_is_refused),
		cmocka_unit_test(sizes_are_in_powers_of_1024),
		cmocka_unit_test(sizes_out_of_range_or_form_are_refused),
		cmocka_unit_test(decimals_and_what_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
