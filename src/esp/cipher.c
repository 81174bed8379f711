/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/cipher.h"

#include "base/bytes.h"
#include "base/secret_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct esp_shape esp_shape_of(enum esp_encryption e, enum esp_integrity i)
{
	uint8_t icv_len = i == ESP_HMAC_SHA1_96 ? 12 : 16;

	switch (e) {
	case ESP_AES_GCM:
		return (struct esp_shape){ESP_GCM_IV_LEN, ESP_ALIGN, ESP_GCM_ICV_LEN};
	case ESP_AES_CBC:
		return (struct esp_shape){ESP_CBC_BLOCK_LEN, ESP_CBC_BLOCK_LEN, icv_len};
	default:
		return (struct esp_shape){0, ESP_ALIGN, icv_len};
	}
}

size_t esp_auth_key_len(enum esp_integrity i)
{
	return i == ESP_HMAC_SHA1_96 ? 20 : 32;
}

#if ESP_OPENSSL

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#define HASH_MAX 32
/** So that one store can write it. */
#define NONCE_ROOM 16

_Static_assert(ESP_SALT_LEN + ESP_GCM_IV_LEN == GCM_NONCE_LEN, "RFC 4106 section 4");

struct esp_cipher {
	enum esp_encryption encryption;
	struct esp_shape shape;
	bool has_gcm;
	struct gcm_key key;        /**< if there is gcm */
	EVP_CIPHER_CTX *ctx;       /**< else; not of ESP_NULL */
	EVP_MAC_CTX *mac;          /**< of what is not ESP_AES_GCM */
	uint32_t salt;             /**< of ESP_AES_GCM, as it lies in memory */
	uint8_t nonce[NONCE_ROOM]; /**< and with the IV */
};

/* ---- life ---------------------------------------------------------------------------------- */

static int esp_cipher_prepare_mac(struct esp_cipher *c, const struct esp_cipher_config *cfg)
{
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	char hash[] = "SHA256";
	OSSL_PARAM params[2];

	if (cfg->integrity == ESP_HMAC_SHA1_96)
		memcpy(hash, "SHA1", sizeof "SHA1");
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash, 0);
	params[1] = OSSL_PARAM_construct_end();
	c->mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
	EVP_MAC_free(hmac);
	return c->mac && EVP_MAC_init(c->mac, cfg->auth_key, esp_auth_key_len(cfg->integrity),
				 params) == 1
		       ? 0
		       : -ENOMEM;
}

static const EVP_CIPHER *esp_cipher_kind(const struct esp_cipher_config *cfg)
{
	if (cfg->encryption == ESP_AES_GCM)
		return cfg->key_len == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
	return cfg->key_len == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc();
}

static int esp_cipher_prepare(struct esp_cipher *c, const struct esp_cipher_config *cfg, bool seal)
{
	if (cfg->encryption != ESP_NULL) {
		c->ctx = EVP_CIPHER_CTX_new();
		if (!c->ctx || EVP_CipherInit_ex(c->ctx, esp_cipher_kind(cfg), NULL, cfg->key, NULL,
				       seal) != 1)
			return -ENOMEM;
		/* ESP's own is in the text. */
		EVP_CIPHER_CTX_set_padding(c->ctx, 0);
	}
	return cfg->encryption == ESP_AES_GCM ? 0 : esp_cipher_prepare_mac(c, cfg);
}

int esp_cipher_create(const struct esp_cipher_config *cfg, bool seal, struct esp_cipher **out)
{
	bool lengths = cfg->encryption == ESP_NULL ? cfg->key_len == 0
						   : cfg->key_len == 16 || cfg->key_len == 32;
	struct esp_cipher *c;
	int rc = 0;

	if (!lengths)
		return -EINVAL;
	c = secret_memory_map(sizeof *c);
	if (!c)
		return -ENOMEM;
	c->encryption = cfg->encryption;
	c->shape = esp_shape_of(cfg->encryption, cfg->integrity);
	c->has_gcm = cfg->gcm != NULL && cfg->encryption == ESP_AES_GCM;
	if (c->has_gcm)
		gcm_expand(cfg->gcm, &c->key, cfg->key, cfg->key_len);
	else
		rc = esp_cipher_prepare(c, cfg, seal);
	if (rc) {
		esp_cipher_destroy(c);
		return rc;
	}
	if (cfg->encryption == ESP_AES_GCM)
		memcpy(&c->salt, cfg->salt, ESP_SALT_LEN);
	*out = c;
	return 0;
}

void esp_cipher_destroy(struct esp_cipher *c)
{
	if (!c)
		return;
	EVP_CIPHER_CTX_free(c->ctx);
	EVP_MAC_CTX_free(c->mac);
	secret_memory_unmap(c, sizeof *c);
}

/* ---- AES-GCM ------------------------------------------------------------------------------- */

static struct gcm_terms esp_gcm_terms(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	uint32_t high, low;

	memcpy(&high, p->iv, sizeof high);
	memcpy(&low, p->iv + sizeof high, sizeof low);
	store_words(c->nonce, c->salt, high, low, 0);
	return (struct gcm_terms){.nonce = c->nonce, .aad = p->aad, .aad_len = p->aad_len};
}

/** All but the ICV. */
static bool esp_gcm_run(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	struct gcm_terms t = esp_gcm_terms(c, p);
	int n;

	return p->text_len <= INT_MAX && p->aad_len <= ESP_AAD_MAX &&
	       EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, t.nonce, -1) == 1 &&
	       EVP_CipherUpdate(c->ctx, NULL, &n, t.aad, (int)t.aad_len) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->text, &n, p->from, (int)p->text_len) == 1;
}

static bool esp_gcm_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	if (c->has_gcm) {
		struct gcm_terms t = esp_gcm_terms(c, p);

		gcm_seal(&c->key, &t, p->text, p->from, p->text_len, p->icv);
		return true;
	}
	return esp_gcm_run(c, p) && EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_GET_TAG, ESP_GCM_ICV_LEN, p->icv) == 1;
}

static bool esp_gcm_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	uint8_t want[ESP_GCM_ICV_LEN];
	int n;

	if (c->has_gcm) {
		struct gcm_terms t = esp_gcm_terms(c, p);

		gcm_open(&c->key, &t, p->text, p->from, p->text_len, want);
		return CRYPTO_memcmp(p->icv, want, sizeof want) == 0;
	}
	return esp_gcm_run(c, p) &&
	       EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_SET_TAG, ESP_GCM_ICV_LEN, p->icv) == 1 &&
	       EVP_CipherFinal_ex(c->ctx, p->icv, &n) == 1;
}

/* ---- encryption and an HMAC, each by itself ------------------------------------------------ */

/**
 * The ICV of what is encrypted already: of the SPI, the sequence number as it is in the packet, IV
 * and @p text, and behind all that the upper half of a sequence number of 64 bits (RFC 4303 section
 * 2.2.1).
 */
static bool esp_hmac(struct esp_cipher *c, const struct esp_cipher_packet *p, const uint8_t *text,
	uint8_t out[HASH_MAX])
{
	size_t n;

	return EVP_MAC_init(c->mac, NULL, 0, NULL) == 1 && EVP_MAC_update(c->mac, p->aad, 4) == 1 &&
	       EVP_MAC_update(c->mac, p->aad + p->aad_len - 4, 4) == 1 &&
	       EVP_MAC_update(c->mac, p->iv, c->shape.iv_len) == 1 &&
	       EVP_MAC_update(c->mac, text, p->text_len) == 1 &&
	       EVP_MAC_update(c->mac, p->aad + 4, p->aad_len - 8) == 1 &&
	       EVP_MAC_final(c->mac, out, &n, HASH_MAX) == 1;
}

/** Encrypted, what goes in front of the text is an IV that nobody foresees, and CBC goes on from
 * it. */
static bool esp_cbc_encrypt(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	static const uint8_t zeros[ESP_CBC_BLOCK_LEN];
	int n;

	return p->text_len <= INT_MAX &&
	       EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, zeros, -1) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->iv, &n, p->iv, ESP_CBC_BLOCK_LEN) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->text, &n, p->from, (int)p->text_len) == 1;
}

static bool esp_cbc_decrypt(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	int n;

	return p->text_len <= INT_MAX &&
	       EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, p->iv, -1) == 1 &&
	       EVP_CipherUpdate(c->ctx, p->text, &n, p->from, (int)p->text_len) == 1;
}

static bool esp_null(const struct esp_cipher_packet *p)
{
	if (p->text != p->from)
		memcpy(p->text, p->from, p->text_len);
	return true;
}

static bool esp_apart_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	uint8_t icv[HASH_MAX];

	if (!(c->encryption == ESP_NULL ? esp_null(p) : esp_cbc_encrypt(c, p)) ||
		!esp_hmac(c, p, p->text, icv))
		return false;
	memcpy(p->icv, icv, c->shape.icv_len);
	return true;
}

static bool esp_apart_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	uint8_t want[HASH_MAX];

	if (!esp_hmac(c, p, p->from, want) || CRYPTO_memcmp(p->icv, want, c->shape.icv_len) != 0)
		return false;
	return c->encryption == ESP_NULL ? esp_null(p) : esp_cbc_decrypt(c, p);
}

/* ---- packets ------------------------------------------------------------------------------- */

bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	return c->mac ? esp_apart_seal(c, p) : esp_gcm_seal(c, p);
}

bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p)
{
	return c->mac ? esp_apart_open(c, p) : esp_gcm_open(c, p);
}

#else

int esp_cipher_create(const struct esp_cipher_config *cfg, bool seal, struct esp_cipher **out)
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
