/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/verified.h"

#include <openssl/evp.h>
#include <string.h>

/** @return the place of @p certificate, and its digest; NULL: OpenSSL does not tell. */
static const struct tls_verified *tls_verified_place(const struct tls_verified_list *l,
	X509 *certificate, uint8_t digest[TLS_VERIFIED_DIGEST_LEN])
{
	unsigned len;

	if (X509_digest(certificate, EVP_sha256(), digest, &len) != 1)
		return NULL;
	return &l->of[digest[0] % TLS_VERIFIED_COUNT];
}

bool tls_verified_has(const struct tls_verified_list *l, X509 *certificate, bool server, time_t now)
{
	uint8_t digest[TLS_VERIFIED_DIGEST_LEN];
	const struct tls_verified *v = tls_verified_place(l, certificate, digest);

	return v && v->server == server && now >= v->from && now < v->until &&
	       memcmp(v->digest, digest, sizeof digest) == 0;
}

/** Seconds of time(). @return false: it cannot be read. */
static bool tls_verified_seconds(const ASN1_TIME *t, int64_t *seconds)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(t, &tm) != 1)
		return false;
	*seconds = timegm(&tm);
	return true;
}

void tls_verified_add(
	struct tls_verified_list *l, X509 *certificate, bool server, const STACK_OF(X509) * chain)
{
	struct tls_verified v = {.from = INT64_MIN, .until = INT64_MAX, .server = server};
	const struct tls_verified *place = tls_verified_place(l, certificate, v.digest);

	for (int i = 0; i < sk_X509_num(chain); i++) {
		const X509 *x = sk_X509_value(chain, i);
		int64_t from, until;

		if (!tls_verified_seconds(X509_get0_notBefore(x), &from) ||
			!tls_verified_seconds(X509_get0_notAfter(x), &until))
			return;
		if (from > v.from)
			v.from = from;
		if (until < v.until)
			v.until = until;
	}
	if (place && sk_X509_num(chain) > 0)
		l->of[place - l->of] = v;
}
