/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pem.h
 * Files of certificates. They are read here, not by OpenSSL, which waits for a FIFO's writer, reads
 * what has no end, and asks at the terminal for the password of a certificate that has one.
 */
#ifndef TLS_PEM_H
#define TLS_PEM_H

#include <openssl/ssl.h>
#include <stdbool.h>

/** A file at most: those that come with systems have some 200 KiB. */
#define TLS_PEM_MAX (4 << 20)

/** Nobody is there to be asked for a password. */
int tls_pem_no_password(char *buf, int size, int rwflag, void *u);

/**
 * Read a file as it is.
 * @param[out] rc a negative errno, of NULL.
 * @param[out] why what is wrong, of NULL.
 */
BIO *tls_pem_read(const char *path, int *rc, const char **why);

/**
 * Have @p ctx show the first certificate, and those behind it as its chain.
 * @param library of @p ctx.
 * @return false: OpenSSL's queue of errors has why.
 */
bool tls_pem_use_chain(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in);

/** Have @p ctx believe all certificates. @return false: likewise; also if there is none. */
bool tls_pem_believe(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in);

/** Of OpenSSL's last error: is it about what the file has? It says "PEM lib" then. */
bool tls_pem_is_blamed(void);

#endif
