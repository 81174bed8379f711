/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/record.h"

#include "base/bytes.h"

#include <openssl/crypto.h>
#include <string.h>

/** So that one store can write it. */
#define NONCE_ROOM 16

/* ---- keys -------------------------------------------------------------------------------- */

bool tls_direction_key(
	struct tls_direction *d, const struct tls_suite *suite, const uint8_t *secret, bool sealing)
{
	uint8_t key[TLS_KEY_MAX];
	bool good;

	if (!d->ctx && !d->gcm)
		d->ctx = EVP_CIPHER_CTX_new();
	good = (d->ctx || d->gcm) && tls_suite_expand(suite, secret, "key", key, suite->key_len) &&
	       tls_suite_expand(suite, secret, "iv", d->iv, sizeof d->iv);
	if (good && d->gcm)
		gcm_expand(d->gcm, d->gcm_key, key, suite->key_len);
	else if (good)
		good = EVP_CipherInit_ex(d->ctx, suite->cipher(), NULL, key, NULL, sealing) == 1;
	OPENSSL_cleanse(key, sizeof key);
	d->suite = suite;
	d->seq = 0;
	return good;
}

void tls_direction_clear(struct tls_direction *d)
{
	EVP_CIPHER_CTX_free(d->ctx); /* it wipes what it held */
	OPENSSL_cleanse(d, sizeof *d);
}

/** Section 5.3: the sequence number, padded to the left, exclusive-or'ed with the IV. */
static void tls_record_nonce(const struct tls_direction *d, uint8_t nonce[NONCE_ROOM])
{
	uint32_t iv[TLS_NONCE_LEN / sizeof(uint32_t)];

	memcpy(iv, d->iv, sizeof iv);
	store_words(nonce, iv[0], iv[1] ^ __builtin_bswap32((uint32_t)(d->seq >> 32)),
		iv[2] ^ __builtin_bswap32((uint32_t)d->seq), 0);
}

/* ---- seal -------------------------------------------------------------------------------- */

bool tls_record_seal(struct tls_direction *d, uint8_t *record, uint8_t type, uint32_t len)
{
	uint8_t nonce[NONCE_ROOM], *text = record + TLS_HEADER_LEN;
	int inner = (int)len + TLS_TYPE_LEN, n;

	record[0] = TLS_APPLICATION_DATA;
	store_be16(record + TLS_AT_VERSION, TLS_LEGACY_VERSION);
	store_be16(record + TLS_AT_LENGTH, (uint16_t)(inner + TLS_TAG_LEN));
	text[len] = type;
	tls_record_nonce(d, nonce);
	d->seq++;
	if (d->gcm) {
		gcm_seal(d->gcm_key, &(struct gcm_terms){nonce, record, TLS_HEADER_LEN}, text, text,
			(size_t)inner, text + inner);
		return true;
	}
	return EVP_EncryptInit_ex(d->ctx, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_EncryptUpdate(d->ctx, NULL, &n, record, TLS_HEADER_LEN) == 1 &&
	       EVP_EncryptUpdate(d->ctx, text, &n, text, inner) == 1 &&
	       EVP_EncryptFinal_ex(d->ctx, text + inner, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(d->ctx, EVP_CTRL_AEAD_GET_TAG, TLS_TAG_LEN, text + inner) == 1;
}

/* ---- open -------------------------------------------------------------------------------- */

/** The next bytes that lie together, at most @p len of them; pass them. */
static const uint8_t *tls_cursor_run(struct tls_cursor *c, size_t len, size_t *run)
{
	const uint8_t *at = c->v->base + c->off;

	*run = c->v->len - c->off;
	if (*run > len) {
		*run = len;
		c->off += len;
	} else {
		c->v++;
		c->off = 0;
	}
	return at;
}

void tls_cursor_copy(struct tls_cursor *c, uint8_t *out, size_t len)
{
	size_t run;

	for (; len != 0; len -= run, out += run) {
		const uint8_t *at = tls_cursor_run(c, len, &run);

		memcpy(out, at, run);
	}
}

/** @p left bytes of text. @param[out] tag what it must be. */
static void tls_record_open_gcm(const struct tls_direction *d, const uint8_t *nonce,
	const uint8_t *header, struct tls_cursor *c, size_t left, uint8_t *out, uint8_t *tag)
{
	const uint8_t *text = out;
	size_t run;

	/* What lies in pieces is put together first: it is rare between two of us. */
	if (c->v->len - c->off >= left)
		text = tls_cursor_run(c, left, &run);
	else
		tls_cursor_copy(c, out, left);
	gcm_open(d->gcm_key, &(struct gcm_terms){nonce, header, TLS_HEADER_LEN}, out, text, left,
		tag);
}

bool tls_record_open(struct tls_direction *d, const uint8_t *header, struct tls_cursor *c,
	uint32_t body, uint8_t *out, uint32_t *len)
{
	uint8_t nonce[NONCE_ROOM], tag[TLS_TAG_LEN], want[TLS_TAG_LEN];
	size_t left = body - TLS_TAG_LEN, run;
	bool good;
	int n;

	*len = (uint32_t)left;
	tls_record_nonce(d, nonce);
	d->seq++;
	if (d->gcm) {
		tls_record_open_gcm(d, nonce, header, c, left, out, want);
		tls_cursor_copy(c, tag, sizeof tag);
		return CRYPTO_memcmp(tag, want, sizeof tag) == 0;
	}
	good = EVP_DecryptInit_ex(d->ctx, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_DecryptUpdate(d->ctx, NULL, &n, header, TLS_HEADER_LEN) == 1;
	for (; left != 0; left -= run, out += run) {
		const uint8_t *at = tls_cursor_run(c, left, &run);

		good = good && EVP_DecryptUpdate(d->ctx, out, &n, at, (int)run) == 1;
	}
	tls_cursor_copy(c, tag, sizeof tag);
	return good && EVP_CIPHER_CTX_ctrl(d->ctx, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1 &&
	       EVP_DecryptFinal_ex(d->ctx, out, &n) == 1;
}
