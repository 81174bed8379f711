/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cipher.h
 * AES-GCM for ESP (RFC 4106) by gcm.h or else OpenSSL's EVP, with one key for one direction. The
 * key is wiped when it ends. Not thread-safe; nothing is allocated per packet.
 */
#ifndef ESP_CIPHER_H
#define ESP_CIPHER_H

#include "base/gcm.h"
#include "esp/esp_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esp_cipher;

/**
 * @param gcm must live as long as the cipher. NULL: OpenSSL's is used.
 * @param key_len 16 or 32 octets.
 * @param seal for packets that we send; else for those that come.
 * @return 0, -EINVAL (another length), -ENOMEM, -ENOTSUP (built without OpenSSL).
 */
int esp_cipher_create(const struct gcm *gcm, const uint8_t *key, size_t key_len,
	const uint8_t salt[ESP_SALT_LEN], bool seal, struct esp_cipher **out);

/** NULL is allowed. */
void esp_cipher_destroy(struct esp_cipher *c);

/** What belongs to one packet. */
struct esp_cipher_packet {
	const uint8_t *iv;  /**< ESP_IV_LEN octets, never twice with one key */
	const uint8_t *aad; /**< authenticated, and not encrypted */
	size_t aad_len;
	const uint8_t *from; /**< what is encrypted or decrypted */
	uint8_t *text;       /**< where to; may be the same place */
	size_t text_len;
	uint8_t *icv; /**< ESP_ICV_LEN octets */
};

/** Encrypt, and write the ICV. @return false: OpenSSL has failed. */
bool esp_cipher_seal(struct esp_cipher *c, const struct esp_cipher_packet *p);

/** Decrypt. @return false: the ICV is wrong, and the text must not be looked at. */
bool esp_cipher_open(struct esp_cipher *c, const struct esp_cipher_packet *p);

#endif
