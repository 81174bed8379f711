/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/cipher.h"

#include "base/secret_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if ESP_OPENSSL

#include <openssl/crypto.h>
#include <openssl/evp.h>

_Static_assert(ESP_SALT_LEN + ESP_IV_LEN == GCM_NONCE_LEN, "RFC 4106 section 4");

struct esp_cipher {
	bool has_gcm;
	struct gcm_key key;           /**< if there is gcm */
	EVP_CIPHER_CTX *ctx;          /**< else */
	uint8_t nonce[GCM_NONCE_LEN]; /**< salt and IV */
};

static int esp_cipher_prepare_openssl(
	struct esp_cipher *c, const uint8_t *key, size_t key_len, bool seal)
{
	const EVP_CIPHER *kind = key_len == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();

	c->ctx = EVP_CIPHER_CTX_new();
	return c->ctx && EVP_CipherInit_ex(c->ctx, kind, NULL, key, NULL, seal) == 1 ? 0 : -ENOMEM;
}

int esp_cipher_create(const struct gcm *gcm, const uint8_t *key, size_t key_len,
	const uint8_t salt[ESP_SALT_LEN], bool seal, struct esp_cipher **out)
{
	struct esp_cipher *c;
	int rc = 0;

	if (key_len != 16 && key_len != 32)
		return -EINVAL;
	c = secret_memory_map(sizeof *c);
	if (!c)
		return -ENOMEM;
	c->has_gcm = gcm != NULL;
	if (gcm)
		gcm_expand(gcm, &c->key, key, key_len);
	else
		rc = esp_cipher_prepare_openssl(c, key, key_len, seal);
	if (rc) {
		esp_cipher_destroy(c);
		return rc;
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
	secret_memory_unmap(c, sizeof *c);
}

static struct gcm_terms esp_cipher_terms(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	memcpy(c->nonce + ESP_SALT_LEN, p->iv, ESP_IV_LEN);
	return (struct gcm_terms){.nonce = c->nonce, .aad = p->aad, .aad_len = p->aad_len};
}

/** All but the ICV. */
static bool esp_cipher_run(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	struct gcm_terms t = esp_cipher_terms(c, p);
	int n;

	return p->text_len <= INT_MAX && p->aad_len <= ESP_AAD_MAX &&
	       EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, t.nonce, -1) == 1 &&
	       EVP_CipherUpdate(c->ctx, NULL, &n, t.aad, (int)t.aad_len) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->text, &n, p->from, (int)p->text_len) == 1;
}

bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	if (c->has_gcm) {
		struct gcm_terms t = esp_cipher_terms(c, p);

		gcm_seal(&c->key, &t, p->text, p->from, p->text_len, p->icv);
		return true;
	}
	return esp_cipher_run(c, p) && EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_GET_TAG, ESP_ICV_LEN, p->icv) == 1;
}

bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	uint8_t want[ESP_ICV_LEN];
	int n;

	if (c->has_gcm) {
		struct gcm_terms t = esp_cipher_terms(c, p);

		gcm_open(&c->key, &t, p->text, p->from, p->text_len, want);
		return CRYPTO_memcmp(p->icv, want, sizeof want) == 0;
	}
	return esp_cipher_run(c, p) &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_SET_TAG, ESP_ICV_LEN, p->icv) == 1 &&
	       EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1;
}

#else

int esp_cipher_create(const struct gcm *gcm, const uint8_t *key, size_t key_len,
	const uint8_t salt[ESP_SALT_LEN], bool seal, struct esp_cipher **out)
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
