/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/pem.h"

#include "base/regular_file.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

int tls_pem_no_password(char *buf, int size, int rwflag, void *u)
{
	return -1;
}

/* ---- files ------------------------------------------------------------------------------- */

/** @return 0 or a negative errno. */
static int tls_pem_copy(BIO *to, FILE *f)
{
	uint8_t bytes[4096];
	size_t n, total = 0;

	while ((n = fread(bytes, 1, sizeof bytes, f)) != 0) {
		total += n;
		if (total > TLS_PEM_MAX)
			return -EFBIG;
		if (BIO_write(to, bytes, (int)n) != (int)n)
			return -ENOMEM;
	}
	return ferror(f) ? -errno : 0;
}

BIO *tls_pem_read(const char *path, int *rc, const char **why)
{
	struct stat st;
	FILE *f = regular_file_open(path, &st, rc, why);
	BIO *in;

	if (!f)
		return NULL;
	in = BIO_new(BIO_s_mem());
	*rc = in ? tls_pem_copy(in, f) : -ENOMEM;
	fclose(f);
	if (*rc == 0)
		return in;
	*why = *rc == -EFBIG ? "expected at most 4 MiB" : strerror(-*rc);
	BIO_free(in);
	return NULL;
}

/* ---- certificates ------------------------------------------------------------------------ */

/** @param first it may have words of OpenSSL's on what it is trusted for. */
static X509 *tls_pem_next(OSSL_LIB_CTX *library, BIO *in, bool first)
{
	X509 *x = X509_new_ex(library, NULL);

	if (x && (first ? PEM_read_bio_X509_AUX(in, &x, tls_pem_no_password, NULL)
			: PEM_read_bio_X509(in, &x, tls_pem_no_password, NULL)))
		return x;
	X509_free(x);
	return NULL;
}

/** Is that why there is no other certificate? */
static bool tls_pem_is_at_its_end(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static bool tls_pem_use_others(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in)
{
	X509 *x;

	while ((x = tls_pem_next(library, in, false)))
		if (SSL_CTX_add0_chain_cert(ctx, x) != 1) {
			X509_free(x);
			return false;
		}
	return tls_pem_is_at_its_end();
}

bool tls_pem_use_chain(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in)
{
	X509 *x = tls_pem_next(library, in, true);
	bool good = x && SSL_CTX_use_certificate(ctx, x) == 1;

	X509_free(x);
	return good && tls_pem_use_others(ctx, library, in);
}

bool tls_pem_believe(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	bool any = false, good = true;
	X509 *x;

	while (good && (x = tls_pem_next(library, in, true))) {
		good = X509_STORE_add_cert(store, x) == 1;
		any = true;
		X509_free(x);
	}
	return good && any && tls_pem_is_at_its_end();
}

bool tls_pem_is_blamed(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_PEM || ERR_GET_REASON(error) == ERR_R_PEM_LIB;
}
