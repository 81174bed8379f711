/* SPDX-License-Identifier: BSD-2-Clause */
/** @file suite.h The cipher suites (RFC 8446 appendix B.4), and keys from traffic secrets. */
#ifndef TLS_SUITE_H
#define TLS_SUITE_H

#include "tls/tls_wire.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the longest traffic secret. */
#define TLS_SECRET_MAX 48
#define TLS_KEY_MAX    32

struct tls_suite {
	uint16_t id;
	uint8_t key_len;
	uint8_t secret_len; /**< of the hash */
	bool gcm;           /**< AES-GCM, which gcm.h has */
	const EVP_CIPHER *(*cipher)(void);
	const EVP_MD *(*hash)(void);
	/** New keys after so many records, well before the limits of RFC 8446 section 5.5. */
	uint64_t records_max;
};

/** @return the suite of this number, or NULL. */
const struct tls_suite *tls_suite_find(uint16_t id);

/**
 * HKDF-Expand-Label (RFC 8446 section 7.1) without a context, for at most the hash's length.
 * @return false: OpenSSL has failed.
 */
bool tls_suite_expand(const struct tls_suite *s, const uint8_t *secret, const char *label,
	uint8_t *out, size_t len);

/** The next traffic secret (section 7.2), in place. @return false: OpenSSL has failed. */
bool tls_suite_next_secret(const struct tls_suite *s, uint8_t *secret);

#endif
