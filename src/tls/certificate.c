/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/certificate.h"

#include "tls/peer_name.h"
#include "tls/pem.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

/** Seconds from now to @p t. */
static int64_t tls_certificate_seconds_to(const ASN1_TIME *t)
{
	int days, seconds;

	/* A time that cannot be read is over. */
	if (ASN1_TIME_diff(&days, &seconds, NULL, t) != 1)
		return INT64_MIN;
	return days * INT64_C(86400) + seconds;
}

int tls_certificate_load(const char *path, const struct ip_addr *addr, struct tls_certificate *out,
	struct tls_error *e)
{
	const char *why;
	int rc;
	BIO *in = tls_pem_read(path, &rc, &why);
	X509 *x;

	if (!in) {
		snprintf(e->text, sizeof e->text, "\"%.300s\": %s", path, why);
		return rc;
	}
	ERR_set_mark();
	x = PEM_read_bio_X509(in, NULL, tls_pem_no_password, NULL);
	ERR_pop_to_mark();
	BIO_free(in);
	if (!x) {
		snprintf(e->text, sizeof e->text, "\"%.300s\" has no certificate in PEM", path);
		return -EINVAL;
	}
	out->seconds_until = tls_certificate_seconds_to(X509_get0_notBefore(x));
	out->seconds_left = tls_certificate_seconds_to(X509_get0_notAfter(x));
	out->has_addr = addr && tls_peer_name_has_addr(x, addr);
	X509_free(x);
	return 0;
}
