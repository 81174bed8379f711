/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/tls_files.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void need(bool good)
{
	if (!good)
		abort();
}

const char *tls_files_path(const struct tls_files *f, const char *name, char path[TLS_MAX_PATH])
{
	need(snprintf(path, TLS_MAX_PATH, "%s/%s", f->directory, name) < TLS_MAX_PATH);
	return path;
}

/** For its owner alone, from its first moment on. */
static FILE *create(const struct tls_files *f, const char *name)
{
	char path[TLS_MAX_PATH];
	mode_t before = umask(077);
	FILE *file = fopen(tls_files_path(f, name, path), "w");

	umask(before);
	need(file != NULL);
	return file;
}

void tls_files_write(struct tls_files *f, const char *name, const char *text)
{
	FILE *file = create(f, name);

	need(fputs(text, file) >= 0);
	need(fclose(file) == 0);
}

static void write_certificate(const struct tls_files *f, const char *name, X509 *x)
{
	FILE *file = create(f, name);

	need(PEM_write_X509(file, x) == 1);
	need(fclose(file) == 0);
}

static void extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	need(e != NULL && X509_add_ext(x, e, -1) == 1);
	X509_EXTENSION_free(e);
}

static X509 *certificate(const char *common, EVP_PKEY *key, int days)
{
	static long serial = 1;
	X509 *x = X509_new();
	X509_NAME *n;

	need(x != NULL && X509_set_version(x, 2) == 1);
	ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
	X509_gmtime_adj(X509_getm_notBefore(x), -10 * 86400L);
	X509_gmtime_adj(X509_getm_notAfter(x), days * 86400L);
	n = X509_get_subject_name(x);
	need(X509_NAME_add_entry_by_txt(
		     n, "CN", MBSTRING_ASC, (const unsigned char *)common, -1, -1, 0) == 1);
	need(X509_set_pubkey(x, key) == 1);
	return x;
}

void tls_files_open(struct tls_files *f)
{
	strcpy(f->directory, "/tmp/tls-test-XXXXXX");
	need(mkdtemp(f->directory) != NULL);
	f->ca_key = EVP_EC_gen("P-256");
	f->ca = certificate("test CA", f->ca_key, 30);
	need(X509_set_issuer_name(f->ca, X509_get_subject_name(f->ca)) == 1);
	extend(f->ca, f->ca, NID_basic_constraints, "critical,CA:TRUE");
	need(X509_sign(f->ca, f->ca_key, EVP_sha256()) > 0);
	write_certificate(f, "ca.pem", f->ca);
}

void tls_files_delegate(struct tls_files *f)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = certificate("test CA between", key, 30);

	need(X509_set_issuer_name(x, X509_get_subject_name(f->ca)) == 1);
	extend(x, f->ca, NID_basic_constraints, "critical,CA:TRUE");
	need(X509_sign(x, f->ca_key, EVP_sha256()) > 0);
	write_certificate(f, "between.pem", x);
	X509_free(f->ca);
	EVP_PKEY_free(f->ca_key);
	f->ca = x;
	f->ca_key = key;
}

void tls_files_append(struct tls_files *f, const char *name, const char *what)
{
	tls_files_append_of(f, name, f, what);
}

void tls_files_append_of(
	struct tls_files *f, const char *name, const struct tls_files *of, const char *what)
{
	char to[TLS_MAX_PATH], from[TLS_MAX_PATH], bytes[8192];
	FILE *in = fopen(tls_files_path(of, what, from), "r");
	FILE *out = fopen(tls_files_path(f, name, to), "a");
	size_t n;

	need(in != NULL && out != NULL);
	n = fread(bytes, 1, sizeof bytes, in);
	need(n != 0 && n < sizeof bytes && fwrite(bytes, 1, n, out) == n);
	need(fclose(in) == 0 && fclose(out) == 0);
}

void tls_files_close(struct tls_files *f)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", f->directory);
	need(system(command) == 0);
	X509_free(f->ca);
	EVP_PKEY_free(f->ca_key);
}

void tls_files_issue(struct tls_files *f, const char *name, const char *names, int days)
{
	char file[64];
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = certificate(name, key, days);
	FILE *out;

	need(X509_set_issuer_name(x, X509_get_subject_name(f->ca)) == 1);
	extend(x, f->ca, NID_subject_alt_name, names);
	need(X509_sign(x, f->ca_key, EVP_sha256()) > 0);
	snprintf(file, sizeof file, "%s.pem", name);
	write_certificate(f, file, x);
	snprintf(file, sizeof file, "%s.key", name);
	out = create(f, file);
	need(PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1);
	need(fclose(out) == 0);
	X509_free(x);
	EVP_PKEY_free(key);
}

void tls_files_config(const struct tls_files *f, const char *name, struct tls_config *c)
{
	char file[64];

	*c = (struct tls_config){.mode = TLS_REQUIRED};
	tls_files_path(f, "ca.pem", c->ca);
	snprintf(file, sizeof file, "%s.pem", name);
	tls_files_path(f, file, c->certificate);
	snprintf(file, sizeof file, "%s.key", name);
	tls_files_path(f, file, c->key);
}

void tls_files_open_two(struct tls_files *f, struct tls_config *one, struct tls_config *two)
{
	tls_files_open(f);
	tls_files_issue(f, "one", "IP:10.0.0.1", 10);
	tls_files_issue(f, "two", "IP:10.0.0.2", 10);
	tls_files_config(f, "one", one);
	tls_files_config(f, "two", two);
}

int64_t tls_files_time(void)
{
	return time(NULL);
}
