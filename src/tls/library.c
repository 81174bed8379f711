/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/library.h"

#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define TLS_LIBRARY_CHOSEN_MAX 32

/** Algorithms of one operation that a handshake of TLS 1.3 with X.509 may need. */
struct tls_library_operation {
	int id;
	const char *property;  /**< NULL: whatever it has */
	const char *names[24]; /**< the first of each algorithm's; none: all of them */
};

static const struct tls_library_operation tls_library_operations[] = {
	{OSSL_OP_DIGEST, NULL,
		{"SHA1", "SHA2-224", "SHA2-256", "SHA2-384", "SHA2-512", "SHA3-256", "SHA3-384",
			"SHA3-512", "SHAKE-256", "MD5", "MD5-SHA1"}},
	{OSSL_OP_CIPHER, NULL,
		{"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305", "AES-128-CTR", "AES-192-CTR",
			"AES-256-CTR", "AES-128-ECB", "AES-192-ECB", "AES-256-ECB", "AES-256-CBC"}},
	{OSSL_OP_MAC, NULL, {"HMAC"}},
	{OSSL_OP_KDF, NULL, {"HKDF", "TLS13-KDF"}},
	{OSSL_OP_RAND, NULL, {NULL}},
	{OSSL_OP_KEYMGMT, NULL,
		{"RSA", "RSA-PSS", "EC", "ED25519", "ED448", "X25519", "X448", "DH", "HMAC"}},
	{OSSL_OP_KEYEXCH, NULL, {"ECDH", "X25519", "X448", "DH"}},
	{OSSL_OP_SIGNATURE, NULL, {"RSA", "ECDSA", "ED25519", "ED448", "HMAC"}},
	{OSSL_OP_DECODER, "input=der,structure=SubjectPublicKeyInfo",
		{"RSA", "RSA-PSS", "EC", "ED25519", "ED448"}},
};

#define TLS_LIBRARY_OPERATIONS (sizeof tls_library_operations / sizeof tls_library_operations[0])

/**
 * What was chosen, as OpenSSL has it: the last has no names. It is made once and stays as it is:
 * OpenSSL asks for it without a pointer of ours.
 */
static struct tls_library_chosen {
	OSSL_PROVIDER *whole; /**< NULL: nothing is chosen */
	OSSL_ALGORITHM of[TLS_LIBRARY_OPERATIONS][TLS_LIBRARY_CHOSEN_MAX + 1];
} tls_library_chosen;
static pthread_once_t tls_library_once = PTHREAD_ONCE_INIT;

static bool tls_library_wants(const struct tls_library_operation *o, const OSSL_ALGORITHM *a)
{
	if (o->property && !strstr(a->property_definition, o->property))
		return false;
	if (!o->names[0])
		return true;
	for (const char *const *name = o->names; *name; name++) {
		size_t len = strlen(*name);

		if (strncmp(a->algorithm_names, *name, len) == 0 &&
			(a->algorithm_names[len] == ':' || a->algorithm_names[len] == '\0'))
			return true;
	}
	return false;
}

static void tls_library_choose(void)
{
	OSSL_LIB_CTX *whole = OSSL_LIB_CTX_new();
	OSSL_PROVIDER *provider = whole ? OSSL_PROVIDER_load(whole, "default") : NULL;

	if (!provider)
		return;
	for (size_t i = 0; i < TLS_LIBRARY_OPERATIONS; i++) {
		const struct tls_library_operation *o = &tls_library_operations[i];
		int no_cache;
		const OSSL_ALGORITHM *a = OSSL_PROVIDER_query_operation(provider, o->id, &no_cache);
		size_t n = 0;

		for (; a && a->algorithm_names && n < TLS_LIBRARY_CHOSEN_MAX; a++)
			if (tls_library_wants(o, a))
				tls_library_chosen.of[i][n++] = *a;
	}
	tls_library_chosen.whole = provider;
}

/* ---- what OpenSSL calls -------------------------------------------------------------------- */

static const OSSL_ALGORITHM *tls_library_query(void *context, int operation, int *no_cache)
{
	*no_cache = 0;
	for (size_t i = 0; i < TLS_LIBRARY_OPERATIONS; i++)
		if (tls_library_operations[i].id == operation)
			return tls_library_chosen.of[i];
	return NULL;
}

static int tls_library_capabilities(
	void *context, const char *capability, OSSL_CALLBACK *callback, void *arg)
{
	return OSSL_PROVIDER_get_capabilities(tls_library_chosen.whole, capability, callback, arg);
}

static int tls_library_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
	const OSSL_DISPATCH **out, void **context)
{
	static const OSSL_DISPATCH dispatch[] = {
		{OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))tls_library_query},
		{OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))tls_library_capabilities},
		{0, NULL}};

	*out = dispatch;
	*context = OSSL_PROVIDER_get0_provider_ctx(tls_library_chosen.whole);
	return 1;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int tls_library_is_default(OSSL_PROVIDER *p, void *only)
{
	if (strcmp(OSSL_PROVIDER_get0_name(p), "default") != 0)
		*(bool *)only = false;
	return 1;
}

/** Has nobody set up OpenSSL in another way? */
static bool tls_library_host_has_default_only(void)
{
	bool only = OSSL_PROVIDER_available(NULL, "default") == 1 &&
		    EVP_default_properties_is_fips_enabled(NULL) != 1;

	return OSSL_PROVIDER_do_all(NULL, tls_library_is_default, &only) == 1 && only;
}

void tls_library_open(struct tls_library *l)
{
	*l = (struct tls_library){0};
	ERR_set_mark();
	if (tls_library_host_has_default_only()) {
		pthread_once(&tls_library_once, tls_library_choose);
		if (tls_library_chosen.whole)
			l->context = OSSL_LIB_CTX_new();
	}
	if (l->context && OSSL_PROVIDER_add_builtin(l->context, "uiwarp", tls_library_init) == 1)
		l->provider = OSSL_PROVIDER_load(l->context, "uiwarp");
	if (!l->provider)
		tls_library_close(l);
	ERR_pop_to_mark();
}

void tls_library_close(struct tls_library *l)
{
	if (l->provider)
		OSSL_PROVIDER_unload(l->provider);
	OSSL_LIB_CTX_free(l->context);
	*l = (struct tls_library){0};
}
