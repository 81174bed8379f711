/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file verified.h
 * Certificates of peers that were verified lately with the same CA: verifying one again would tell
 * the same, as long as no certificate on the way to the CA expires. Who shows one proves all the
 * same, in each handshake, that the key is theirs.
 */
#ifndef TLS_VERIFIED_H
#define TLS_VERIFIED_H

#include <openssl/x509.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define TLS_VERIFIED_COUNT      256
#define TLS_VERIFIED_DIGEST_LEN 32

/** By the SHA-256 of a certificate, which is in a place of its own or in none. */
struct tls_verified {
	uint8_t digest[TLS_VERIFIED_DIGEST_LEN];
	/** When all up to the CA are valid, as seconds of time(). Both 0: there is none. */
	int64_t from, until;
	bool server; /**< it was verified as that of a server */
};

/** Zero-initialised is empty. It belongs to one set of CAs. */
struct tls_verified_list {
	struct tls_verified of[TLS_VERIFIED_COUNT];
};

/** Is @p certificate verified for that role, and valid at @p now? */
bool tls_verified_has(
	const struct tls_verified_list *l, X509 *certificate, bool server, time_t now);

/**
 * It was verified, for that role.
 * @param chain it and all up to the CA.
 */
void tls_verified_add(
	struct tls_verified_list *l, X509 *certificate, bool server, const STACK_OF(X509) * chain);

#endif
