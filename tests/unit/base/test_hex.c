/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hex.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static void digits(void **state)
{
	static const char all[] = "0123456789abcdef";

	for (int c = CHAR_MIN; c <= CHAR_MAX; c++) {
		int lower = c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c;
		const char *at = lower ? strchr(all, lower) : NULL;

		assert_int_equal(hex_digit((char)c), at ? (int)(at - all) : -1);
	}
}

static void octets(void **state)
{
	uint8_t out[257] = {[256] = 0x5a};
	char text[513];

	for (unsigned i = 0; i < 256; i++)
		snprintf(text + 2 * i, 3, i % 2 ? "%02x" : "%02X", i);
	assert_true(hex_octets(text, 256, out));
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(out[i], i);
	assert_int_equal(out[256], 0x5a);
	assert_true(hex_octets("", 0, out));
	assert_true(hex_octets("12xx", 1, out));
	assert_int_equal(out[0], 0x12);
}

static void others_are_refused(void **state)
{
	uint8_t out[2];

	assert_false(hex_octets("", 1, out));
	assert_false(hex_octets("1", 1, out));
	assert_false(hex_octets("123", 2, out));
	assert_false(hex_octets("g0", 1, out));
	assert_false(hex_octets("0g", 1, out));
	assert_false(hex_octets("0x12", 2, out));
	assert_false(hex_octets(" 123", 2, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits),
		cmocka_unit_test(octets),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
