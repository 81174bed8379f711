/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-GCM by VAES: a vector of its specification. What OpenSSL makes is in test_gcm.c. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/vaes.h"

#include <string.h>

static struct tls_gcm gcm;
static struct tls_gcm_key key;

/** The hash key of AES-128 with a key of zeros is known: one block of zeros under it, too. */
static void a_block_of_zeros_is_that_of_the_specification(void **state)
{
	/* "The Galois/Counter Mode of Operation", test case 2: its ciphertext. */
	static const uint8_t want[] = {0x03, 0x88, 0xda, 0xce, 0x60, 0xb6, 0xa3, 0x92, 0xf3, 0x28,
		0xc2, 0xb9, 0x71, 0xb2, 0xfe, 0x78};
	uint8_t zeros[32] = {0}, text[16] = {0}, tag[TLS_TAG_LEN];

	if (!tls_vaes_init(&gcm))
		skip();
	tls_gcm_expand(&gcm, &key, zeros, 16);
	tls_gcm_seal(&key, zeros, zeros, text, sizeof text, tag);
	assert_memory_equal(text, want, sizeof want);
}

/** Sealed here and opened there in blocks: the last bytes of a text are neither read nor written.
 */
static void nothing_behind_the_text_is_touched(void **state)
{
	uint8_t zeros[32] = {0}, text[700], tag[TLS_TAG_LEN];

	if (!tls_vaes_init(&gcm))
		skip();
	tls_gcm_expand(&gcm, &key, zeros, 32);
	for (uint32_t len = 1; len < 600; len++) {
		memset(text, 0x33, sizeof text);
		tls_gcm_seal(&key, zeros, zeros, text, len, tag);
		for (size_t i = len; i < sizeof text; i++)
			assert_int_equal(text[i], 0x33);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_of_zeros_is_that_of_the_specification),
		cmocka_unit_test(nothing_behind_the_text_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
