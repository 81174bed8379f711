/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-GCM as ESP uses it: the vectors of the GCM specification, and what is refused. The others are
 * in test_sa.c. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/cipher.h"

#include <errno.h>
#include <string.h>

#define TEXT_LEN 60

static struct gcm gcm;
static const struct gcm *used; /**< NULL: OpenSSL's cipher */

/* Test cases 4 and 16 of "The Galois/Counter Mode of Operation": 128 and 256 bits. The IV's first
 * four octets are ESP's salt. Their AAD is
 * longer than ESP has, so their ICVs are others; test_sa.c has a whole packet with its ICV. */
static const uint8_t key[32] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f,
	0x94, 0x67, 0x30, 0x83, 0x08, 0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a,
	0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t salt[ESP_SALT_LEN] = {0xca, 0xfe, 0xba, 0xbe};
static uint8_t iv[ESP_GCM_IV_LEN] = {0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t aad[8] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef};
static const uint8_t text[TEXT_LEN] = {0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59,
	0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a};
static const uint8_t want[2][16] = {
	{0x42, 0x83, 0x1e, 0xc2, 0x21, 0x77, 0x74, 0x24, 0x4b, 0x72, 0x21, 0xb7, 0x84, 0xd0, 0xd4,
		0x9c},
	{0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07, 0xf4, 0x7f, 0x37, 0xa3, 0x2a, 0x84, 0x42,
		0x7d},
};

static int create(size_t key_len, bool seal, struct esp_cipher **out)
{
	return esp_cipher_create(
		&(struct esp_cipher_config){
			.key = key, .key_len = key_len, .gcm = used, .salt = salt},
		seal, out);
}

static void both_lengths_of_key(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct esp_cipher *seal, *open;
		uint8_t room[TEXT_LEN], icv[ESP_GCM_ICV_LEN];
		const struct esp_cipher_packet p = {.iv = iv,
			.aad = aad,
			.aad_len = sizeof aad,
			.from = room,
			.text = room,
			.text_len = sizeof room,
			.icv = icv};

		memcpy(room, text, sizeof text);
		assert_int_equal(create(i ? 32 : 16, true, &seal), 0);
		assert_int_equal(create(i ? 32 : 16, false, &open), 0);
		assert_true(esp_cipher_seal(seal, &p));
		assert_memory_equal(room, want[i], sizeof want[i]);
		assert_true(esp_cipher_open(open, &p));
		assert_memory_equal(room, text, sizeof text);
		/* Each octet of the ICV counts, and a failure spoils nothing that follows. */
		for (unsigned at = 0; at < ESP_GCM_ICV_LEN; at++) {
			memcpy(room, text, sizeof text);
			assert_true(esp_cipher_seal(seal, &p));
			icv[at] ^= 1;
			assert_false(esp_cipher_open(open, &p));
		}
		memcpy(room, text, sizeof text);
		assert_true(esp_cipher_seal(seal, &p));
		assert_true(esp_cipher_open(open, &p));
		esp_cipher_destroy(seal);
		esp_cipher_destroy(open);
	}
}

static void other_lengths_are_refused(void **state)
{
	struct esp_cipher *c = NULL;

	for (size_t len = 0; len <= 32; len++)
		if (len != 16 && len != 32)
			assert_int_equal(create(len, true, &c), -EINVAL);
	for (size_t len = 0; len <= 32; len++) {
		const struct esp_cipher_config cbc = {
			.encryption = ESP_AES_CBC, .key = key, .key_len = len, .auth_key = key};
		const struct esp_cipher_config null = {
			.encryption = ESP_NULL, .key_len = len, .auth_key = key};

		if (len != 16 && len != 32)
			assert_int_equal(esp_cipher_create(&cbc, false, &c), -EINVAL);
		if (len)
			assert_int_equal(esp_cipher_create(&null, false, &c), -EINVAL);
	}
	assert_null(c);
	esp_cipher_destroy(NULL);
}

static int with_openssl(void **state)
{
	used = NULL;
	return 0;
}

static int with_ipsec_mb(void **state)
{
	used = gcm_init(&gcm) ? &gcm : NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_lengths_of_key),
		cmocka_unit_test(other_lengths_are_refused),
	};

	return cmocka_run_group_tests_name("OpenSSL", tests, with_openssl, NULL) +
	       cmocka_run_group_tests_name("libipsec-mb", tests, with_ipsec_mb, NULL);
}
