/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-GCM of libipsec-mb beside OpenSSL's, with keys of both lengths. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/gcm.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#define LEN_MAX 5000
#define AAD_MAX 12

static struct gcm gcm;
static struct gcm_key gcm_key;
static uint8_t key[32], nonce[GCM_NONCE_LEN], aad[AAD_MAX], text[LEN_MAX];
static struct gcm_terms terms = {.nonce = nonce, .aad = aad};

static int set_up(void **state)
{
	for (unsigned i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)(i * 11 + 3);
	for (unsigned i = 0; i < sizeof nonce; i++)
		nonce[i] = (uint8_t)(i * 5 + 1);
	for (unsigned i = 0; i < sizeof aad; i++)
		aad[i] = (uint8_t)(0x17 + i);
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
	assert_int_equal(EVP_EncryptUpdate(c, NULL, &n, aad, (int)terms.aad_len), 1);
	assert_int_equal(EVP_EncryptUpdate(c, out, &n, text, len), 1);
	assert_int_equal(EVP_EncryptFinal_ex(c, out + len, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, GCM_TAG_LEN, tag), 1);
	EVP_CIPHER_CTX_free(c);
}

static void expect_same(uint8_t key_len, uint32_t len)
{
	uint8_t want[LEN_MAX + 16], got[LEN_MAX + 1], back[LEN_MAX + 1];
	uint8_t want_tag[GCM_TAG_LEN], tag[GCM_TAG_LEN];

	expect_of_openssl(key_len, (int)len, want, want_tag);
	memcpy(got, text, len);
	got[len] = back[len] = 0x5a;
	gcm_seal(&gcm_key, &terms, got, got, len, tag);
	assert_memory_equal(got, want, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	memset(tag, 0, sizeof tag);
	gcm_open(&gcm_key, &terms, back, got, len, tag);
	assert_memory_equal(back, text, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	memset(tag, 0, sizeof tag);
	gcm_open(&gcm_key, &terms, got, got, len, tag);
	assert_memory_equal(got, text, len);
	assert_memory_equal(tag, want_tag, sizeof tag);
	assert_int_equal(got[len], 0x5a);
	assert_int_equal(back[len], 0x5a);
}

static void all_is_as_by_openssl(void **state)
{
	static const uint8_t key_lens[] = {16, 32};
	static const size_t aad_lens[] = {5, 8, 12}; /* of TLS, and of ESP without and with ESN */

	if (!gcm_init(&gcm))
		skip();
	for (unsigned k = 0; k < sizeof key_lens; k++) {
		gcm_expand(&gcm, &gcm_key, key, key_lens[k]);
		assert_ptr_equal(gcm_key.cipher, key_lens[k] == 32 ? &gcm.aes256 : &gcm.aes128);
		for (unsigned a = 0; a < sizeof aad_lens / sizeof aad_lens[0]; a++) {
			terms.aad_len = aad_lens[a];
			for (uint32_t len = 1; len < 600; len++)
				expect_same(key_lens[k], len);
			for (uint32_t len = LEN_MAX - 20; len <= LEN_MAX; len++)
				expect_same(key_lens[k], len);
		}
	}
}

/** Bytes where a counter of 8 or 16 bits would have to carry, and keys with bits at their ends. */
static void keys_and_nonces_of_any_bits_do(void **state)
{
	static const uint8_t fills[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};

	if (!gcm_init(&gcm))
		skip();
	for (unsigned f = 0; f < sizeof fills; f++) {
		memset(key, fills[f], sizeof key);
		memset(nonce, fills[sizeof fills - 1 - f], sizeof nonce);
		gcm_expand(&gcm, &gcm_key, key, 16);
		expect_same(16, LEN_MAX);
		gcm_expand(&gcm, &gcm_key, key, 32);
		expect_same(32, 333);
	}
	set_up(NULL);
}

static void nonce_aad_and_text_change_the_tag(void **state)
{
	uint8_t sealed[700], tag[GCM_TAG_LEN], other[GCM_TAG_LEN];

	if (!gcm_init(&gcm))
		skip();
	gcm_expand(&gcm, &gcm_key, key, 16);
	memcpy(sealed, text, sizeof sealed);
	gcm_seal(&gcm_key, &terms, sealed, sealed, sizeof sealed, tag);
	for (unsigned j = 0; j < 2 + sizeof sealed; j++) {
		uint8_t back[sizeof sealed];
		uint8_t *changed = j == 0 ? nonce : j == 1 ? aad : &sealed[j - 2];

		*changed ^= 1;
		gcm_open(&gcm_key, &terms, back, sealed, sizeof sealed, other);
		assert_memory_not_equal(other, tag, sizeof tag);
		*changed ^= 1;
	}
}

static struct gcm_context_data *left;

static void leave_state(const struct gcm_key_data *k, struct gcm_context_data *c, uint8_t *out,
	const uint8_t *in, uint64_t len, const uint8_t *its_nonce, const uint8_t *its_aad,
	uint64_t aad_len, uint8_t *tag, uint64_t tag_len)
{
	left = c;
	memset(c, 0x5a, sizeof(struct gcm_state));
}

/** Past the checkers of memory: it is a function's that has returned. */
static void expect_wiped(void)
{
	uint8_t bytes[sizeof(struct gcm_state)];
	int fd = open("/proc/self/mem", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, sizeof bytes, (off_t)(uintptr_t)left), sizeof bytes);
	close(fd);
	for (unsigned i = 0; i < sizeof bytes; i++)
		assert_int_not_equal(bytes[i], 0x5a);
}

static void no_state_is_left_on_the_stack(void **state)
{
	static const struct gcm_cipher cipher = {.seal = leave_state, .open = leave_state};
	const struct gcm_key k = {.cipher = &cipher};
	uint8_t tag[GCM_TAG_LEN];

	gcm_seal(&k, &terms, text, text, sizeof text, tag);
	expect_wiped();
	gcm_open(&k, &terms, text, text, sizeof text, tag);
	expect_wiped();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_as_by_openssl),
		cmocka_unit_test(keys_and_nonces_of_any_bits_do),
		cmocka_unit_test(no_state_is_left_on_the_stack),
		cmocka_unit_test(nonce_aad_and_text_change_the_tag),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
