/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file library.h
 * OpenSSL's library context for handshakes, with those of its algorithms that TLS 1.3 has a use
 * for. OpenSSL 3 goes through all of its kinds of keys and all of its decoders for each public key
 * of each certificate that comes, which takes longer than to verify a signature.
 *
 * A host whose openssl.cnf has set other providers than the default one, as for FIPS, gets what it
 * has set: then there is no context of our own.
 *
 * Threads: any.
 */
#ifndef TLS_LIBRARY_H
#define TLS_LIBRARY_H

#include <openssl/provider.h>

struct tls_library {
	OSSL_LIB_CTX *context; /**< NULL: the host's, which OpenSSL takes for NULL */
	OSSL_PROVIDER *provider;
};

/** Always succeeds: if a context of our own cannot be, there is none. */
void tls_library_open(struct tls_library *l);

/** Nothing that was made with it may be left. */
void tls_library_close(struct tls_library *l);

#endif
