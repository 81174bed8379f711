/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cipher.h
 * The algorithms of ESP, with the keys of one direction: AES-GCM (RFC 4106) by gcm.h or else
 * OpenSSL's EVP, which also has what RFC 7146 wants for peers that know nothing newer: AES-CBC (RFC
 * 3602) or NULL (RFC 2410), each with an HMAC. Keys are wiped when it ends. Not thread-safe;
 * nothing is allocated per packet.
 */
#ifndef ESP_CIPHER_H
#define ESP_CIPHER_H

#include "base/gcm.h"
#include "esp/esp_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESP_KEY_MAX      32
#define ESP_AUTH_KEY_MAX 32

enum esp_encryption {
	ESP_AES_GCM, /**< which makes the ICV, too */
	ESP_AES_CBC,
	ESP_NULL, /**< nothing is encrypted */
};

/** What makes the ICV where AES-GCM does not. */
enum esp_integrity {
	ESP_HMAC_SHA1_96,    /**< RFC 2404 */
	ESP_HMAC_SHA256_128, /**< RFC 4868 */
};

/** What a packet looks like by them. */
struct esp_shape {
	uint8_t iv_len;
	uint8_t align; /**< of the trailer's end, from that of the IV on; a power of two */
	uint8_t icv_len;
};

struct esp_shape esp_shape_of(enum esp_encryption e, enum esp_integrity i);

/** @return the octets of its key. */
size_t esp_auth_key_len(enum esp_integrity i);

struct esp_cipher;

/** Keys and salt are read by esp_cipher_create() only. */
struct esp_cipher_config {
	enum esp_encryption encryption;
	const uint8_t *key; /**< 16 or 32 octets; ESP_NULL: none */
	size_t key_len;
	const struct gcm *gcm; /**< must live as long as the cipher; NULL: OpenSSL's is used */
	const uint8_t *salt;   /**< of AES-GCM, ESP_SALT_LEN octets */
	enum esp_integrity integrity;
	const uint8_t *auth_key; /**< esp_auth_key_len() octets */
};

/**
 * @param seal for packets that we send; else for those that come.
 * @return 0, -EINVAL (another length), -ENOMEM, -ENOTSUP (built without OpenSSL).
 */
int esp_cipher_create(const struct esp_cipher_config *cfg, bool seal, struct esp_cipher **out);

/** NULL is allowed. */
void esp_cipher_destroy(struct esp_cipher *c);

/** What belongs to one packet. */
struct esp_cipher_packet {
	/**
	 * What never comes twice with one key: the IV of AES-GCM; what AES-CBC makes its IV of, in
	 * the same place, as that must not be foreseen.
	 */
	uint8_t *iv;
	const uint8_t *aad; /**< the SPI and the sequence number, of 32 or 64 bits */
	size_t aad_len;
	const uint8_t *from; /**< what is encrypted or decrypted */
	uint8_t *text;       /**< where to; may be the same place */
	size_t text_len;
	uint8_t *icv;
};

/** Encrypt, and write the ICV. @return false: OpenSSL has failed. */
bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p);

/** Decrypt. @return false: the ICV is wrong, and the text must not be looked at. */
bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p);

#endif
