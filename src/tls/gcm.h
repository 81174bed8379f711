/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file gcm.h
 * AES-GCM by libipsec-mb, if it was there when this was built and the processor has the
 * instructions. A record is one call. OpenSSL's five calls for it cost more than the cipher of a
 * short record does.
 *
 * Keys lie in memory of the caller, who wipes them. All else has no state: any thread may use it.
 */
#ifndef TLS_GCM_H
#define TLS_GCM_H

#include "tls/tls_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library's own. */
struct gcm_key_data;
struct gcm_context_data;

/** Its functions for keys of one length, on this processor. */
struct tls_gcm_cipher {
	void (*expand)(const void *key, struct gcm_key_data *k);
	void (*seal)(const struct gcm_key_data *k, struct gcm_context_data *c, uint8_t *out,
		const uint8_t *in, uint64_t len, const uint8_t *nonce, const uint8_t *aad,
		uint64_t aad_len, uint8_t *tag, uint64_t tag_len);
	void (*open)(const struct gcm_key_data *k, struct gcm_context_data *c, uint8_t *out,
		const uint8_t *in, uint64_t len, const uint8_t *nonce, const uint8_t *aad,
		uint64_t aad_len, uint8_t *tag, uint64_t tag_len);
};

struct tls_gcm {
	struct tls_gcm_cipher aes128, aes256;
};

/** An expanded key. It is secret. */
struct tls_gcm_key {
	_Alignas(64) uint8_t expanded[1008];
	const struct tls_gcm_cipher *cipher;
};

/** A record in the making. */
struct tls_gcm_record {
	_Alignas(64) uint8_t context[128];
};

/** @return false: it is not there. OpenSSL does it then. */
bool tls_gcm_init(struct tls_gcm *g);

/** @param len of @p key: 16 or 32 bytes. */
static inline void tls_gcm_expand(
	const struct tls_gcm *g, struct tls_gcm_key *k, const uint8_t *key, uint8_t len)
{
	k->cipher = len == 32 ? &g->aes256 : &g->aes128;
	k->cipher->expand(key, (struct gcm_key_data *)(void *)k->expanded);
}

static inline const struct gcm_key_data *tls_gcm_data(const struct tls_gcm_key *k)
{
	return (const struct gcm_key_data *)(const void *)k->expanded;
}

static inline struct gcm_context_data *tls_gcm_context(struct tls_gcm_record *r)
{
	return (struct gcm_context_data *)(void *)r->context;
}

/** Encrypt @p len bytes of @p text in place. @param[out] tag TLS_TAG_LEN bytes. */
static inline void tls_gcm_seal(const struct tls_gcm_key *k, const uint8_t nonce[TLS_NONCE_LEN],
	const uint8_t *header, uint8_t *text, uint32_t len, uint8_t *tag)
{
	struct tls_gcm_record r;

	k->cipher->seal(tls_gcm_data(k), tls_gcm_context(&r), text, text, len, nonce, header,
		TLS_HEADER_LEN, tag, TLS_TAG_LEN);
}

/** Decrypt @p len bytes of @p text to @p out, which may be the same place. @param[out] tag what the
 * peer's must be. */
static inline void tls_gcm_open(const struct tls_gcm_key *k, const uint8_t nonce[TLS_NONCE_LEN],
	const uint8_t *header, uint8_t *out, const uint8_t *text, size_t len, uint8_t *tag)
{
	struct tls_gcm_record r;

	k->cipher->open(tls_gcm_data(k), tls_gcm_context(&r), out, text, len, nonce, header,
		TLS_HEADER_LEN, tag, TLS_TAG_LEN);
}

#endif
