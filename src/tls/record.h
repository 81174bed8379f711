/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file record.h
 * Protects records and opens them (RFC 8446 section 5). One direction has one context of the
 * cipher, of gcm.h or of OpenSSL, which is set up when its keys change. A record costs no
 * allocation.
 */
#ifndef TLS_RECORD_H
#define TLS_RECORD_H

#include "base/gcm.h"
#include "llp/llp.h"
#include "tls/suite.h"

/** Zero-initialised has no keys. */
struct tls_direction {
	const struct gcm *gcm;   /**< the creator's. NULL: OpenSSL's cipher is used */
	struct gcm_key *gcm_key; /**< its memory for keys, if there is gcm */
	EVP_CIPHER_CTX *ctx;     /**< else */
	const struct tls_suite *suite;
	uint64_t seq; /**< of the next record (section 5.3) */
	uint8_t iv[TLS_NONCE_LEN];
};

/**
 * Take keys out of @p secret, at the begin or in place of earlier ones. Sequence numbers begin at
 * 0. @return false: no memory.
 */
bool tls_direction_key(struct tls_direction *d, const struct tls_suite *suite,
	const uint8_t *secret, bool sealing);

/** Wipe and free the keys; the memory of gcm_key is left to its owner. */
void tls_direction_clear(struct tls_direction *d);

/** After how many records it is time for new keys. @param records_max 0: as the cipher needs it. */
static inline uint64_t tls_direction_records_max(
	const struct tls_direction *d, uint64_t records_max)
{
	return records_max != 0 ? records_max : d->suite->records_max;
}

/**
 * Make a record in place.
 * @param record room for @p len + TLS_RECORD_OVERHEAD bytes, with the content behind the first
 *        TLS_HEADER_LEN.
 * @param len 1 - TLS_CONTENT_MAX.
 * @return false: OpenSSL has failed, and @p record must not be sent.
 */
bool tls_record_seal(struct tls_direction *d, uint8_t *record, uint8_t type, uint32_t len);

/** A position in received bytes that lie in several pieces, none of them empty. */
struct tls_cursor {
	const struct llp_iov *v;
	size_t off;
};

/** Copy the next @p len bytes, which are there, and pass them. */
void tls_cursor_copy(struct tls_cursor *c, uint8_t *out, size_t len);

/**
 * Open a record. The bytes are read where they lie, and written to @p out. They must not be used
 * unless this succeeds.
 * @param header the record's first TLS_HEADER_LEN bytes; @p c is behind them, and is moved behind
 *        the record.
 * @param body bytes of the record there, at least TLS_TAG_LEN.
 * @param out room for @p body bytes.
 * @param[out] len of the content with its type and padding.
 * @return false: it is forged or damaged.
 */
bool tls_record_open(struct tls_direction *d, const uint8_t *header, struct tls_cursor *c,
	uint32_t body, uint8_t *out, uint32_t *len);

#endif
