/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates that were verified: for whom, and until when. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/verified.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#define BEGIN 1000000000
#define DAY   86400

static struct tls_verified_list list;

/** Valid for so many days from BEGIN, but not before @p after of them. */
static X509 *certificate(int after, int days)
{
	static long serial = 1;
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();

	ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
	ASN1_TIME_set(X509_getm_notBefore(x), BEGIN + (time_t)after * DAY);
	ASN1_TIME_set(X509_getm_notAfter(x), BEGIN + (time_t)days * DAY);
	assert_int_equal(X509_set_pubkey(x, key), 1);
	assert_true(X509_sign(x, key, EVP_sha256()) > 0);
	EVP_PKEY_free(key);
	return x;
}

static int set_up(void **state)
{
	list = (struct tls_verified_list){0};
	return 0;
}

static void only_what_was_verified_is(void **state)
{
	STACK_OF(X509) *chain = sk_X509_new_null();
	X509 *one = certificate(0, 10), *two = certificate(0, 10);

	sk_X509_push(chain, one);
	assert_false(tls_verified_has(&list, one, true, BEGIN + DAY));
	tls_verified_add(&list, one, true, chain);
	assert_true(tls_verified_has(&list, one, true, BEGIN + DAY));
	assert_false(tls_verified_has(&list, two, true, BEGIN + DAY));
	/* Verified as that of a server, it is not one of a client. */
	assert_false(tls_verified_has(&list, one, false, BEGIN + DAY));
	sk_X509_free(chain);
	X509_free(one);
	X509_free(two);
}

static void it_ends_with_the_first_that_expires(void **state)
{
	STACK_OF(X509) *chain = sk_X509_new_null();
	X509 *one = certificate(0, 10), *between = certificate(2, 5), *ca = certificate(0, 30);

	sk_X509_push(chain, one);
	sk_X509_push(chain, between);
	sk_X509_push(chain, ca);
	tls_verified_add(&list, one, true, chain);
	assert_false(tls_verified_has(&list, one, true, BEGIN + 2 * DAY - 1));
	assert_true(tls_verified_has(&list, one, true, BEGIN + 2 * DAY));
	assert_true(tls_verified_has(&list, one, true, BEGIN + 5 * DAY - 1));
	assert_false(tls_verified_has(&list, one, true, BEGIN + 5 * DAY));
	sk_X509_pop_free(chain, X509_free);
}

static void no_chain_verifies_nothing(void **state)
{
	STACK_OF(X509) *chain = sk_X509_new_null();
	X509 *one = certificate(0, 10);

	tls_verified_add(&list, one, true, NULL);
	tls_verified_add(&list, one, true, chain);
	assert_false(tls_verified_has(&list, one, true, BEGIN + DAY));
	sk_X509_free(chain);
	X509_free(one);
}

/** Also if they have one place: more are known than there are places for. */
static void many_do_not_get_mixed_up(void **state)
{
	X509 *of[3 * TLS_VERIFIED_COUNT / 2];
	size_t n = sizeof of / sizeof of[0], known = 0;

	for (size_t i = 0; i < n; i++) {
		STACK_OF(X509) *chain = sk_X509_new_null();

		of[i] = certificate(0, 10);
		sk_X509_push(chain, of[i]);
		assert_false(tls_verified_has(&list, of[i], false, BEGIN + DAY));
		tls_verified_add(&list, of[i], false, chain);
		assert_true(tls_verified_has(&list, of[i], false, BEGIN + DAY));
		sk_X509_free(chain);
	}
	for (size_t i = 0; i < n; i++) {
		known += tls_verified_has(&list, of[i], false, BEGIN + DAY);
		X509_free(of[i]);
	}
	assert_true(known > 0 && known <= TLS_VERIFIED_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_what_was_verified_is, set_up),
		cmocka_unit_test_setup(it_ends_with_the_first_that_expires, set_up),
		cmocka_unit_test_setup(no_chain_verifies_nothing, set_up),
		cmocka_unit_test_setup(many_do_not_get_mixed_up, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
