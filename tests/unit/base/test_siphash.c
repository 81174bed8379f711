/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The key 00 01 .. 0f of the paper's appendix A. */
static const struct siphash_key key = {
	{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)},
};

static void vectors_of_the_authors(void **state)
{
	static const uint64_t want[] = {
		[0] = UINT64_C(0x726fdb47dd0e0e31),
		[1] = UINT64_C(0x74f839c593dc67fd),
		[7] = UINT64_C(0xab0200f58b01d137),
		[8] = UINT64_C(0x93f5f5799a932462),
		[15] = UINT64_C(0xa129ca6149be45e5), /* the paper's own example */
	};
	uint8_t in[16];

	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)i;
	for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
		if (want[i])
			assert_true(siphash(&key, in, i) == want[i]);
	}
}

static void alignment_does_not_matter_but_the_key_does(void **state)
{
	struct siphash_key other = key;
	uint8_t in[17] = {9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	uint8_t moved[18];

	for (unsigned i = 0; i < sizeof in; i++)
		moved[i + 1] = in[i];
	assert_true(siphash(&key, in, 17) == siphash(&key, moved + 1, 17));
	other.k[1] ^= 1;
	assert_true(siphash(&key, in, 17) != siphash(&other, in, 17));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_the_authors),
		cmocka_unit_test(alignment_does_not_matter_but_the_key_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
