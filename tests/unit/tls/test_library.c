/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSSL's context for handshakes: what it has, what it has not, and when there is none. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/library.h"

#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

/** Keys of certificates are read, and what they have signed is verified. */
static void expect_key(struct tls_library *l, EVP_PKEY *key, const EVP_MD *hash)
{
	static const uint8_t text[] = "text";
	uint8_t *bytes = NULL, signature[1024];
	const uint8_t *at;
	size_t signature_len = sizeof signature;
	EVP_MD_CTX *m = EVP_MD_CTX_new();
	EVP_PKEY *found;
	int len = i2d_PUBKEY(key, &bytes);

	assert_true(len > 0);
	assert_int_equal(EVP_DigestSignInit(m, NULL, hash, NULL, key), 1);
	assert_int_equal(EVP_DigestSign(m, signature, &signature_len, text, sizeof text), 1);
	at = bytes;
	found = d2i_PUBKEY_ex(NULL, &at, len, l->context, NULL);
	assert_non_null(found);
	EVP_MD_CTX_reset(m);
	assert_int_equal(EVP_DigestVerifyInit_ex(m, NULL, hash ? EVP_MD_get0_name(hash) : NULL,
				 l->context, NULL, found, NULL),
		1);
	assert_int_equal(EVP_DigestVerify(m, signature, signature_len, text, sizeof text), 1);
	EVP_MD_CTX_free(m);
	EVP_PKEY_free(found);
	EVP_PKEY_free(key);
	OPENSSL_free(bytes);
}

static void keys_of_certificates_are_known(void **state)
{
	struct tls_library l;

	tls_library_open(&l);
	assert_non_null(l.context);
	expect_key(&l, EVP_EC_gen("P-256"), EVP_sha256());
	expect_key(&l, EVP_EC_gen("P-384"), EVP_sha384());
	expect_key(&l, EVP_EC_gen("P-521"), EVP_sha512());
	expect_key(&l, EVP_RSA_gen(2048), EVP_sha256());
	expect_key(&l, EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), NULL);
	expect_key(&l, EVP_PKEY_Q_keygen(NULL, NULL, "ED448"), NULL);
	tls_library_close(&l);
}

static void all_groups_of_tls_are_known(void **state)
{
	struct tls_library l;
	SSL_CTX *ctx;

	tls_library_open(&l);
	ctx = SSL_CTX_new_ex(l.context, NULL, TLS_method());
	assert_non_null(ctx);
	assert_int_equal(
		SSL_CTX_set1_groups_list(ctx, "X25519:P-256:X448:P-521:P-384:ffdhe2048"), 1);
	SSL_CTX_free(ctx);
	tls_library_close(&l);
}

static void what_has_no_use_is_left_out(void **state)
{
	struct tls_library l;
	EVP_CIPHER *cipher;

	tls_library_open(&l);
	assert_null(EVP_CIPHER_fetch(l.context, "ARIA-128-GCM", NULL));
	cipher = EVP_CIPHER_fetch(l.context, "AES-128-GCM", NULL);
	assert_non_null(cipher);
	EVP_CIPHER_free(cipher);
	tls_library_close(&l);
}

/** Two of them, one after the other and beside each other. */
static void there_may_be_several(void **state)
{
	struct tls_library one, two;

	tls_library_open(&one);
	tls_library_open(&two);
	assert_ptr_not_equal(one.context, two.context);
	tls_library_close(&one);
	expect_key(&two, EVP_EC_gen("P-256"), EVP_sha256());
	tls_library_close(&two);
}

/** Who has set other providers wants them used. */
static void the_hosts_choice_is_kept(void **state)
{
	OSSL_PROVIDER *base = OSSL_PROVIDER_load(NULL, "base");
	struct tls_library l;

	assert_non_null(base);
	tls_library_open(&l);
	assert_null(l.context);
	tls_library_close(&l);
	assert_int_equal(OSSL_PROVIDER_unload(base), 1);
}

static void the_hosts_properties_are_kept(void **state)
{
	struct tls_library l;

	assert_int_equal(EVP_default_properties_enable_fips(NULL, 1), 1);
	tls_library_open(&l);
	assert_null(l.context);
	tls_library_close(&l);
	assert_int_equal(EVP_default_properties_enable_fips(NULL, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_certificates_are_known),
		cmocka_unit_test(all_groups_of_tls_are_known),
		cmocka_unit_test(what_has_no_use_is_left_out),
		cmocka_unit_test(there_may_be_several),
		cmocka_unit_test(the_hosts_properties_are_kept),
		cmocka_unit_test(the_hosts_choice_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
