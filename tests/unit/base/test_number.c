/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	assert_false(number_parse_size("1 ", 0, UINT64_MAX, &n));
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

static void rates_are_in_powers_of_1000(void **state)
{
	double r;

	assert_true(number_parse_rate("9600", 1, 1e12, &r));
	assert_true(r == 9600);
	assert_true(number_parse_rate("2.5g", 1, 1e12, &r));
	assert_true(r == 2.5e9);
	assert_true(number_parse_rate("100M", 1, 1e12, &r));
	assert_true(r == 1e8);
	assert_true(number_parse_rate("1.5mbit", 1, 1e12, &r));
	assert_true(r == 1.5e6);
	assert_false(number_parse_rate("1kb", 1, 1e12, &r));
	assert_false(number_parse_rate("0", 1, 1e12, &r));
	assert_false(number_parse_rate("1001g", 1, 1e12, &r));
	assert_false(number_parse_rate("1e9", 1, 1e12, &r));
	assert_false(number_parse_rate("inf", 1, 1e12, &r));
	assert_false(number_parse_rate("1.2.3", 1, 1e12, &r));
	assert_false(number_parse_rate(".", 1, 1e12, &r));
	assert_false(number_parse_rate("", 1, 1e12, &r));
}

static void seconds_become_nanoseconds(void **state)
{
	uint64_t ns;

	assert_true(number_parse_seconds("10", 100, &ns));
	assert_int_equal(ns, UINT64_C(10000000000));
	assert_true(number_parse_seconds("0.25", 100, &ns));
	assert_int_equal(ns, 250000000);
	assert_true(number_parse_seconds("0", 100, &ns));
	assert_int_equal(ns, 0);
	assert_false(number_parse_seconds("100.1", 100, &ns));
	assert_false(number_parse_seconds("-1", 100, &ns));
	assert_false(number_parse_seconds("1s", 100, &ns));
	assert_false(number_parse_seconds("nan", 100, &ns));
}

static void times_have_units(void **state)
{
	static const char *const wrong[] = {
		"", "ms", "1", "1m", "1 ms", "-1ms", "1.0001s", "1001ms", "1mss", "nans"};
	uint64_t ns = 5;

	assert_true(number_parse_time("0", 1e9, &ns));
	assert_int_equal(ns, 0);
	assert_true(number_parse_time("1s", 1e9, &ns));
	assert_int_equal(ns, 1000000000);
	assert_true(number_parse_time("1.5MS", 1e9, &ns));
	assert_int_equal(ns, 1500000);
	assert_true(number_parse_time("0.1us", 1e9, &ns));
	assert_int_equal(ns, 100);
	assert_true(number_parse_time("7ns", 1e9, &ns));
	assert_int_equal(ns, 7);
	for (unsigned i = 0; i < COUNT(wrong); i++)
		assert_false(number_parse_time(wrong[i], 1e9, &ns));
	assert_int_equal(ns, 7);
}

/* What is said of a range is what is taken: both ends, and the suffixes that can be of use. */
static void ranges_of_sizes_are_told(void **state)
{
	static const struct {
		uint64_t min, max;
		const char *told;
	} ranges[] = {
		{1, 1000, "from 1 to 1000"},
		{0, 1024, "from 0 to 1K; K may follow it"},
		{1, 10000, "from 1 to 10000; K may follow it"},
		{16384, UINT64_C(1023) << 20, "from 16K to 1023M; K and M may follow it"},
		{1, UINT64_C(1) << 30, "from 1 to 1G; K, M and G may follow it"},
		{1, UINT64_C(1) << 62, "from 1 to 4194304T; K, M, G and T may follow it"},
		{UINT64_MAX, UINT64_MAX,
			"from 18446744073709551615 to 18446744073709551615; K, M, G and T may "
			"follow it"},
	};
	char buf[NUMBER_SIZE_RANGE];

	for (unsigned i = 0; i < COUNT(ranges); i++)
		assert_string_equal(
			number_size_range(buf, ranges[i].min, ranges[i].max), ranges[i].told);
}

static void numbers_are_written(void **state)
{
	static const uint64_t numbers[] = {0, 1, 9, 10, 255, 65535, 1000000000, UINT64_MAX};
	char text[NUMBER_DIGITS + 2], wanted[NUMBER_DIGITS + 2];

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		memset(text, '#', sizeof text);
		*number_put(text, numbers[i]) = '\0';
		snprintf(wanted, sizeof wanted, "%" PRIu64, numbers[i]);
		assert_string_equal(text, wanted);
	}
	assert_int_equal(text[sizeof text - 1], '#');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(other_text_is_refused),
		cmocka_unit_test(numbers_are_written),
		cmocka_unit_test(sizes_are_in_powers_of_1024),
		cmocka_unit_test(sizes_out_of_range_or_form_are_refused),
		cmocka_unit_test(decimals_and_what_follows),
		cmocka_unit_test(rates_are_in_powers_of_1000),
		cmocka_unit_test(seconds_become_nanoseconds),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(ranges_of_sizes_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
