/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tls_files.h Makes a CA, certificates and keys for tests, in a directory of their own. */
#ifndef TESTS_SUPPORT_TLS_FILES_H
#define TESTS_SUPPORT_TLS_FILES_H

#include "tls/tls.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

struct tls_files {
	char directory[64];
	EVP_PKEY *ca_key;
	X509 *ca;
};

/** A directory with "ca.pem", of a new CA. */
void tls_files_open(struct tls_files *f);

/** Remove it. */
void tls_files_close(struct tls_files *f);

/** The path of a file in it. @return the path, in @p path. */
const char *tls_files_path(const struct tls_files *f, const char *name, char path[TLS_MAX_PATH]);

/**
 * Write NAME.pem and NAME.key.
 * @param names as OpenSSL has them: "IP:10.0.0.1,DNS:a.test".
 * @param days until it expires; negative: it has.
 */
void tls_files_issue(struct tls_files *f, const char *name, const char *names, int days);

/** A CA under the present one, whose certificate is "between.pem", issues from now on. */
void tls_files_delegate(struct tls_files *f);

/** Append file @p what to file @p name. */
void tls_files_append(struct tls_files *f, const char *name, const char *what);

/** The same with a file of another directory. */
void tls_files_append_of(
	struct tls_files *f, const char *name, const struct tls_files *of, const char *what);

/** Write a file, for its owner alone. */
void tls_files_write(struct tls_files *f, const char *name, const char *text);

/** Now, as struct tls_stack_config has it. */
int64_t tls_files_time(void);

/** The configuration of who has NAME.pem: required, mutual. */
void tls_files_config(const struct tls_files *f, const char *name, struct tls_config *c);

/** As tls_files_open(), with "one" for 10.0.0.1 and "two" for 10.0.0.2, and what each is set to. */
void tls_files_open_two(struct tls_files *f, struct tls_config *one, struct tls_config *two);

#endif
