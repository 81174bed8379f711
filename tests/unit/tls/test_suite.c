/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys from traffic secrets: the trace of RFC 8448 section 3. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/suite.h"

#include <openssl/crypto.h>
#include <string.h>

static void bytes_of(const char *hex, uint8_t *out, size_t len)
{
	long n;
	unsigned char *b = OPENSSL_hexstr2buf(hex, &n);

	assert_non_null(b);
	assert_int_equal(n, len);
	memcpy(out, b, len);
	OPENSSL_free(b);
}

static void expect_keys(const char *secret_hex, const char *key_hex, const char *iv_hex)
{
	const struct tls_suite *s = tls_suite_find(0x1301);
	uint8_t secret[32], key[16], iv[12], want_key[16], want_iv[12];

	bytes_of(secret_hex, secret, sizeof secret);
	bytes_of(key_hex, want_key, sizeof want_key);
	bytes_of(iv_hex, want_iv, sizeof want_iv);
	assert_true(tls_suite_expand(s, secret, "key", key, sizeof key));
	assert_true(tls_suite_expand(s, secret, "iv", iv, sizeof iv));
	assert_memory_equal(key, want_key, sizeof key);
	assert_memory_equal(iv, want_iv, sizeof iv);
}

static void keys_are_those_of_the_trace(void **state)
{
	expect_keys("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38",
		"3fce516009c21727d0f2e4e86ee403bc", "5d313eb2671276ee13000b30");
	expect_keys("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5",
		"17422dda596ed5d9acd890e3c63f5051", "5b78923dee08579033e523d9");
	expect_keys("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643",
		"9f02283b6c9c07efc26bb9f2ac92e356", "cf782b88dd83549aadf1e984");
}

static void suites_are_the_three(void **state)
{
	assert_int_equal(tls_suite_find(0x1302)->secret_len, 48);
	assert_int_equal(tls_suite_find(0x1303)->key_len, 32);
	assert_null(tls_suite_find(0x1304));
	assert_null(tls_suite_find(0xc02b));
	/* Section 5.5: well below 2^24.5 records. */
	assert_true(tls_suite_find(0x1301)->records_max <= 1 << 24);
}

static void more_than_a_block_is_refused(void **state)
{
	uint8_t secret[48] = {0}, out[64];

	assert_false(tls_suite_expand(tls_suite_find(0x1301), secret, "key", out, 33));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_those_of_the_trace),
		cmocka_unit_test(suites_are_the_three),
		cmocka_unit_test(more_than_a_block_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
