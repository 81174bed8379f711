/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_record.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

static void need(bool good)
{
	if (!good)
		abort();
}

/** HKDF-Expand-Label (section 7.1), without a context. */
static void expand(const struct foreign_direction *d, const char *label, uint8_t *out, size_t len)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
	EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(
			OSSL_KDF_PARAM_DIGEST, (char *)(uintptr_t)d->hash, 0),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)d->secret, d->secret_len),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_PREFIX, (void *)(uintptr_t) "tls13 ", 6),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_LABEL, (void *)(uintptr_t)label, strlen(label)),
		OSSL_PARAM_construct_end(),
	};

	need(ctx && EVP_KDF_derive(ctx, out, len, params) == 1);
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
}

static void take_keys(struct foreign_direction *d)
{
	uint8_t key[32];

	expand(d, "key", key, d->key_len);
	expand(d, "iv", d->iv, sizeof d->iv);
	need(EVP_CipherInit_ex(d->ctx, d->cipher, NULL, key, NULL, d->seals) == 1);
	d->seq = 0;
}

void foreign_direction_begin(
	struct foreign_direction *d, uint16_t suite, const uint8_t *secret, bool seals)
{
	bool sha384 = suite == 0x1302;

	*d = (struct foreign_direction){
		.ctx = EVP_CIPHER_CTX_new(),
		.cipher = suite == 0x1301   ? EVP_aes_128_gcm()
			  : suite == 0x1302 ? EVP_aes_256_gcm()
					    : EVP_chacha20_poly1305(),
		.hash = sha384 ? "SHA384" : "SHA256",
		.seals = seals,
		.secret_len = sha384 ? 48 : 32,
		.key_len = suite == 0x1301 ? 16 : 32,
	};
	need(d->ctx != NULL);
	memcpy(d->secret, secret, d->secret_len);
	take_keys(d);
}

void foreign_direction_end(struct foreign_direction *d)
{
	EVP_CIPHER_CTX_free(d->ctx);
	d->ctx = NULL;
}

void foreign_direction_renew(struct foreign_direction *d)
{
	uint8_t next[sizeof d->secret];

	expand(d, "traffic upd", next, d->secret_len);
	memcpy(d->secret, next, d->secret_len);
	take_keys(d);
}

static void next_nonce(struct foreign_direction *d, uint8_t nonce[12])
{
	memcpy(nonce, d->iv, 12);
	for (unsigned i = 0; i < 8; i++)
		nonce[11 - i] ^= (uint8_t)(d->seq >> (8 * i));
	d->seq++;
}

size_t foreign_record_seal(struct foreign_direction *d, uint8_t type, const void *content,
	size_t len, size_t padding, uint8_t *out)
{
	size_t inner = len + 1 + padding, body = inner + FOREIGN_TAG;
	uint8_t nonce[12], *text = out + FOREIGN_HEADER;
	int n;

	memcpy(out, (const uint8_t[]){23, 3, 3, (uint8_t)(body >> 8), (uint8_t)body},
		FOREIGN_HEADER);
	if (len != 0)
		memcpy(text, content, len);
	text[len] = type;
	memset(text + len + 1, 0, padding);
	next_nonce(d, nonce);
	need(EVP_EncryptInit_ex(d->ctx, NULL, NULL, NULL, nonce) == 1 &&
		EVP_EncryptUpdate(d->ctx, NULL, &n, out, FOREIGN_HEADER) == 1 &&
		EVP_EncryptUpdate(d->ctx, text, &n, text, (int)inner) == 1 &&
		EVP_EncryptFinal_ex(d->ctx, text + inner, &n) == 1 &&
		EVP_CIPHER_CTX_ctrl(d->ctx, EVP_CTRL_AEAD_GET_TAG, FOREIGN_TAG, text + inner) == 1);
	return FOREIGN_HEADER + body;
}

bool foreign_record_open(struct foreign_direction *d, const uint8_t *record, size_t len,
	uint8_t *out, uint8_t *type, size_t *content_len)
{
	size_t inner = len - FOREIGN_HEADER - FOREIGN_TAG;
	const uint8_t *text = record + FOREIGN_HEADER;
	uint8_t nonce[12], tag[FOREIGN_TAG];
	int n;

	memcpy(tag, text + inner, sizeof tag);
	next_nonce(d, nonce);
	if (EVP_DecryptInit_ex(d->ctx, NULL, NULL, NULL, nonce) != 1 ||
		EVP_DecryptUpdate(d->ctx, NULL, &n, record, FOREIGN_HEADER) != 1 ||
		EVP_DecryptUpdate(d->ctx, out, &n, text, (int)inner) != 1 ||
		EVP_CIPHER_CTX_ctrl(d->ctx, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) != 1 ||
		EVP_DecryptFinal_ex(d->ctx, out + inner, &n) != 1)
		return false;
	while (inner != 0 && out[inner - 1] == 0)
		inner--;
	*type = inner != 0 ? out[--inner] : 0;
	*content_len = inner;
	return true;
}
