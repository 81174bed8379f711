/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file gcm.h
 * AES-GCM by libipsec-mb, if it was there when this was built and the processor has the
 * instructions. A record of TLS or a packet of ESP is one call. OpenSSL's five calls for it cost
 * more than the cipher of a short one does.
 *
 * Keys lie in memory of the caller, who wipes them. All else has no state: any thread may use it.
 */
#ifndef BASE_GCM_H
#define BASE_GCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GCM_NONCE_LEN 12
#define GCM_TAG_LEN   16

/* The library's own. */
struct gcm_key_data;
struct gcm_context_data;

/** Its functions for keys of one length, on this processor. */
struct gcm_cipher {
	void (*expand)(const void *key, struct gcm_key_data *k);
	void (*seal)(const struct gcm_key_data *k, struct gcm_context_data *c, uint8_t *out,
		const uint8_t *in, uint64_t len, const uint8_t *nonce, const uint8_t *aad,
		uint64_t aad_len, uint8_t *tag, uint64_t tag_len);
	void (*open)(const struct gcm_key_data *k, struct gcm_context_data *c, uint8_t *out,
		const uint8_t *in, uint64_t len, const uint8_t *nonce, const uint8_t *aad,
		uint64_t aad_len, uint8_t *tag, uint64_t tag_len);
};

struct gcm {
	struct gcm_cipher aes128, aes256;
};

/** An expanded key. It is secret. */
struct gcm_key {
	_Alignas(64) uint8_t expanded[1008];
	const struct gcm_cipher *cipher;
};

/** What the library writes while it works. */
struct gcm_state {
	_Alignas(64) uint8_t context[128];
};

/** What belongs to one call, beside the text. */
struct gcm_terms {
	const uint8_t *nonce; /**< GCM_NONCE_LEN octets, never twice with one key */
	const uint8_t *aad;   /**< authenticated, and not encrypted */
	size_t aad_len;
};

/** @return false: it is not there. OpenSSL does it then. */
bool gcm_init(struct gcm *g);

/** @return the version of libipsec-mb, as it calls itself; NULL: this was built without it. */
const char *gcm_library_version(void);

/** @param len of @p key: 16 or 32 octets. @p g must live as long as @p k is used. */
static inline void gcm_expand(
	const struct gcm *g, struct gcm_key *k, const uint8_t *key, size_t len)
{
	k->cipher = len == 32 ? &g->aes256 : &g->aes128;
	k->cipher->expand(key, (struct gcm_key_data *)(void *)k->expanded);
}

static inline const struct gcm_key_data *gcm_data(const struct gcm_key *k)
{
	return (const struct gcm_key_data *)(const void *)k->expanded;
}

static inline struct gcm_context_data *gcm_context(struct gcm_state *s)
{
	return (struct gcm_context_data *)(void *)s->context;
}

/**
 * By its sum of GHASH and the text, both of which are elsewhere, the subkey can be worked out. A
 * few stores: explicit_bzero() would be a call.
 */
static inline void gcm_wipe(struct gcm_state *s)
{
	memset(s, 0, sizeof *s);
	__asm__ volatile("" : : "r"(s) : "memory");
}

/**
 * Encrypt @p len octets of @p text to @p out, which may be the same place.
 * @param[out] tag GCM_TAG_LEN octets.
 */
static inline void gcm_seal(const struct gcm_key *k, const struct gcm_terms *t, uint8_t *out,
	const uint8_t *text, size_t len, uint8_t *tag)
{
	struct gcm_state s;

	k->cipher->seal(gcm_data(k), gcm_context(&s), out, text, len, t->nonce, t->aad, t->aad_len,
		tag, GCM_TAG_LEN);
	gcm_wipe(&s);
}

/**
 * Decrypt @p len octets of @p text to @p out, which may be the same place.
 * @param[out] tag what the peer's must be, GCM_TAG_LEN octets.
 */
static inline void gcm_open(const struct gcm_key *k, const struct gcm_terms *t, uint8_t *out,
	const uint8_t *text, size_t len, uint8_t *tag)
{
	struct gcm_state s;

	k->cipher->open(gcm_data(k), gcm_context(&s), out, text, len, t->nonce, t->aad, t->aad_len,
		tag, GCM_TAG_LEN);
	gcm_wipe(&s);
}

#endif
