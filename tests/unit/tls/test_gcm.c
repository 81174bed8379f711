/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-GCM of libipsec-mb beside OpenSSL's, with keys of both lengths. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/gcm.h"

#include <openssl/evp.h>
#include <string.h>

#define LEN_MAX 5000

static struct tls_gcm gcm;
static struct tls_gcm_key gcm_key;
static uint8_t key[32], nonce[TLS_NONCE_LEN], header[TLS_HEADER_LEN], text[LEN_MAX];

static int set_up(void **state)
{
	for (unsigned i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)(i * 11 + 3);
	for (unsigned i = 0; i < sizeof nonce; i++)
		nonce[i] = (uint8_t)(i * 5 + 1);
	for (unsigned i = 0; i < sizeof header; i++)
		header[i] = (uint8_t)(0x17 + i);
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)(i * 31 + (i >> 8));
	return 0;
}

/** What OpenSSL makes of the first @p len bytes of text. */
static void expect_of_openssl(uint8_t key_len, int len, uint8_t *out, uint8_t *tag)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	assert_int_equal(
		EVP_EncryptInit_ex(
			c, key_len == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), NULL, key, nonce),
		1);
	assert_int_equal(EVP_EncryptUpdate(c, NULL, &n, header, sizeof header), 1);
	assert_int_equal(EVP_EncryptUpdate(c, out, &n, text, len), 1);
	assert_int_equal(EVP_EncryptFinal_ex(c, out + len, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TLS_TAG_LEN, tag), 1);
	EVP_CIPHER_CTX_free(c);
}

static void expect_same(uint8_t key_len, uint32_t len)
{
	uint8_t want[LEN_MAX + 16], got[LEN_MAX + 1], back[LEN_MAX + 1];
	uint8_t want_tag[TLS_TAG_LEN], tag[TLS_TAG_LEN];

	expect_of_openssl(key_len, (int)len, want, want_tag);
	memcpy(got, text, len);
	got[len] = back[len] = 0x5a;
	tls_gcm_seal(&gcm_key, nonce, header, got, len, tag);
	assert_memory_equal(got, want, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	memset(tag, 0, sizeof tag);
	tls_gcm_open(&gcm_key, nonce, header, back, got, len, tag);
	assert_memory_equal(back, text, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	memset(tag, 0, sizeof tag);
	tls_gcm_open(&gcm_key, nonce, header, got, got, len, tag);
	assert_memory_equal(got, text, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	assert_int_equal(got[len], 0x5a);
	assert_int_equal(back[len], 0x5a);
}

static void records_are_those_of_openssl(void **state)
{
	static const uint8_t key_lens[] = {16, 32};

	if (!tls_gcm_init(&gcm))
		skip();
	for (unsigned k = 0; k < sizeof key_lens; k++) {
		tls_gcm_expand(&gcm, &gcm_key, key, key_lens[k]);
		assert_ptr_equal(gcm_key.cipher, key_lens[k] == 32 ? &gcm.aes256 : &gcm.aes128);
		for (uint32_t len = 1; len < 600; len++)
			expect_same(key_lens[k], len);
		for (uint32_t len = LEN_MAX - 20; len <= LEN_MAX; len++)
			expect_same(key_lens[k], len);
	}
}

/** Bytes where a counter of 8 or 16 bits would have to carry, and keys with bits at their ends. */
static void keys_and_nonces_of_any_bits_do(void **state)
{
	static const uint8_t fills[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};

	if (!tls_gcm_init(&gcm))
		skip();
	for (unsigned f = 0; f < sizeof fills; f++) {
		memset(key, fills[f], sizeof key);
		memset(nonce, fills[sizeof fills - 1 - f], sizeof nonce);
		tls_gcm_expand(&gcm, &gcm_key, key, 16);
		expect_same(16, LEN_MAX);
		tls_gcm_expand(&gcm, &gcm_key, key, 32);
		expect_same(32, 333);
	}
	set_up(NULL);
}

static void nonce_header_and_text_change_the_tag(void **state)
{
	uint8_t sealed[700], tag[TLS_TAG_LEN], other[TLS_TAG_LEN];

	if (!tls_gcm_init(&gcm))
		skip();
	tls_gcm_expand(&gcm, &gcm_key, key, 16);
	memcpy(sealed, text, sizeof sealed);
	tls_gcm_seal(&gcm_key, nonce, header, sealed, sizeof sealed, tag);
	for (unsigned j = 0; j < 2 + sizeof sealed; j++) {
		uint8_t back[sizeof sealed];
		uint8_t *changed = j == 0 ? nonce : j == 1 ? header : &sealed[j - 2];

		*changed ^= 1;
		tls_gcm_open(&gcm_key, nonce, header, back, sealed, sizeof sealed, other);
		assert_memory_not_equal(other, tag, sizeof tag);
		*changed ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_those_of_openssl),
		cmocka_unit_test(keys_and_nonces_of_any_bits_do),
		cmocka_unit_test(nonce_header_and_text_change_the_tag),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
