/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/legacy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_words(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool is;
		uint16_t ird, ord;
	} t[] = {
		{"\0\0\0\x10\0\0\0\x01", 8, true, 16, 1},
		{"\x10\0\0\0\x01\0\0\0", 8, true, 16, 1}, /* a processor's own order */
		{"\0\0\x3f\xfe\0\0\0\x01", 8, true, 16382, 1},
		{"\0\0\x3f\xff\0\0\0\x01", 8, false, 0, 0},
		{"\0\0\0\0\0\0\0\x01", 8, false, 0, 0}, /* none may be zero */
		{"\0\0\0\x01\0\0\0\0", 8, false, 0, 0},
		{"\0\0\0\x10\x01\0\0\0", 8, false, 0, 0}, /* one of each order */
		{"\x10\0\0\0\0\0\0\x01", 8, false, 0, 0},
		{"\0\0\0\x10\0\0\0\x01\0", 9, false, 0, 0},
		{"\0\0\0\x10\0\0\0", 7, false, 0, 0},
		{"deadbeef", 8, false, 0, 0},
		{"", 0, false, 0, 0},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		uint16_t ird = 7, ord = 8;

		assert_int_equal(
			mpa_legacy_depths((const uint8_t *)t[i].bytes, t[i].len, &ird, &ord),
			t[i].is);
		assert_int_equal(ird, t[i].is ? t[i].ird : 7);
		assert_int_equal(ord, t[i].is ? t[i].ord : 8);
	}
}

static void test_where(void **state)
{
	assert_true(mpa_legacy_applies(MPA_LEGACY_SMB_PORT, 5445));
	assert_false(mpa_legacy_applies(MPA_LEGACY_SMB_PORT, 7174));
	assert_true(mpa_legacy_applies(MPA_LEGACY_ALWAYS, 7174));
	assert_false(mpa_legacy_applies(MPA_LEGACY_NEVER, 5445));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
