/* SPDX-License-Identifier: BSD-2-Clause */
/* The cipher of a build without OpenSSL refuses, and does nothing else. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/cipher.h"

#include <errno.h>

static void refuses(void **state)
{
	static const uint8_t key[16], salt[ESP_SALT_LEN];
	const struct esp_cipher_packet nothing = {0};
	struct esp_cipher *c = NULL;

	assert_int_equal(esp_cipher_create(
				 &(struct esp_cipher_config){
					 .key = key, .key_len = sizeof key, .salt = salt},
				 true, &c),
		-ENOTSUP);
	assert_null(c);
	assert_false(esp_cipher_seal(c, &nothing));
	assert_false(esp_cipher_open(c, &nothing));
	esp_cipher_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(refuses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
