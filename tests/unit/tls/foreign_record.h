/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_record.h
 * The record protection of a TLS 1.3 that is not ours (RFC 8446 sections 5.2, 5.3 and 7): OpenSSL
 * derives its keys, and nothing of src/tls is used. What cannot be ends the test program.
 */
#ifndef TESTS_UNIT_TLS_FOREIGN_RECORD_H
#define TESTS_UNIT_TLS_FOREIGN_RECORD_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_HEADER   5
#define FOREIGN_TAG      16
#define FOREIGN_CONTENT  16384
#define FOREIGN_RECORD   (FOREIGN_HEADER + FOREIGN_CONTENT + 256) /**< the longest that may be */
#define FOREIGN_OVERHEAD (FOREIGN_HEADER + 1 + FOREIGN_TAG)

struct foreign_direction {
	EVP_CIPHER_CTX *ctx;
	const EVP_CIPHER *cipher;
	const char *hash;
	bool seals; /**< else it opens */
	size_t secret_len, key_len;
	uint8_t secret[48], iv[12];
	uint64_t seq; /**< of the next record */
};

void foreign_direction_begin(
	struct foreign_direction *d, uint16_t suite, const uint8_t *secret, bool seals);
void foreign_direction_end(struct foreign_direction *d);

/** The keys behind a KeyUpdate. */
void foreign_direction_renew(struct foreign_direction *d);

/**
 * @param out room for the record: its content, padding and FOREIGN_OVERHEAD.
 * @return its length.
 */
size_t foreign_record_seal(struct foreign_direction *d, uint8_t type, const void *content,
	size_t len, size_t padding, uint8_t *out);

/**
 * @param len of the record, with its header.
 * @param out room for as much.
 * @param[out] type, content_len without padding; of nothing but padding, 0.
 * @return false: it is not what these keys protect.
 */
bool foreign_record_open(struct foreign_direction *d, const uint8_t *record, size_t len,
	uint8_t *out, uint8_t *type, size_t *content_len);

#endif
