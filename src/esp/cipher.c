/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/cipher.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if ESP_OPENSSL

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define NONCE_LEN (ESP_SALT_LEN + ESP_IV_LEN) /* RFC 4106 section 4 */

struct esp_cipher {
	EVP_CIPHER_CTX *ctx;
	uint8_t nonce[NONCE_LEN]; /**< salt and IV */
};

int esp_cipher_create(const uint8_t *key, size_t key_len, const uint8_t salt[ESP_SALT_LEN],
	bool seal, struct esp_cipher **out)
{
	const EVP_CIPHER *kind = key_len == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
	struct esp_cipher *c;

	if (key_len != 16 && key_len != 32)
		return -EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return -ENOMEM;
	c->ctx = EVP_CIPHER_CTX_new();
	if (!c->ctx || EVP_CipherInit_ex(c->ctx, kind, NULL, key, NULL, seal) != 1) {
		esp_cipher_destroy(c);
		return -ENOMEM;
	}
	memcpy(c->nonce, salt, ESP_SALT_LEN);
	*out = c;
	return 0;
}

void esp_cipher_destroy(struct esp_cipher *c)
{
	if (!c)
		return;
	EVP_CIPHER_CTX_free(c->ctx);
	OPENSSL_cleanse(c, sizeof *c);
	free(c);
}

/** All but the ICV. */
static bool esp_cipher_run(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	memcpy(c->nonce + ESP_SALT_LEN, p->iv, ESP_IV_LEN);
	return p->text_len <= INT_MAX && p->aad_len <= ESP_AAD_MAX &&
	       EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, c->nonce, -1) == 1 &&
	       EVP_CipherUpdate(c->ctx, NULL, &n, p->aad, (int)p->aad_len) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->text, &n, p->text, (int)p->text_len) == 1;
}

bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	return esp_cipher_run(c, p) && EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_GET_TAG, ESP_ICV_LEN, p->icv) == 1;
}

bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	return esp_cipher_run(c, p) &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_SET_TAG, ESP_ICV_LEN, p->icv) == 1 &&
	       EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1;
}

#else

int esp_cipher_create(const uint8_t *key, size_t key_len, const uint8_t salt[ESP_SALT_LEN],
	bool seal, struct esp_cipher **out)
{
	return -ENOTSUP;
}

void esp_cipher_destroy(struct esp_cipher *c)
{
}

bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	return false;
}

bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	return false;
}

#endif
