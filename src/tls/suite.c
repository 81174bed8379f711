/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/suite.h"

#include "base/bytes.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>

/* RFC 8446 section 5.5: 2^24.5 full records with AES-GCM; any number with ChaCha20. */
static const struct tls_suite tls_suites[] = {
	{0x1301, 16, 32, true, EVP_aes_128_gcm, EVP_sha256, UINT64_C(1) << 23},
	{0x1302, 32, 48, true, EVP_aes_256_gcm, EVP_sha384, UINT64_C(1) << 23},
	{0x1303, 32, 32, false, EVP_chacha20_poly1305, EVP_sha256, UINT64_C(1) << 40},
};

const struct tls_suite *tls_suite_find(uint16_t id)
{
	for (size_t i = 0; i < sizeof tls_suites / sizeof tls_suites[0]; i++)
		if (tls_suites[i].id == id)
			return &tls_suites[i];
	return NULL;
}

bool tls_suite_expand(const struct tls_suite *s, const uint8_t *secret, const char *label,
	uint8_t *out, size_t len)
{
	static const char prefix[] = "tls13 ";
	uint8_t info[64], block[EVP_MAX_MD_SIZE];
	size_t label_len = strlen(label), prefix_len = sizeof prefix - 1, n = 0;
	bool good;

	if (prefix_len + label_len + 5 > sizeof info || len > s->secret_len)
		return false;
	store_be16(info, (uint16_t)len);
	n = 2;
	info[n++] = (uint8_t)(prefix_len + label_len);
	memcpy(info + n, prefix, prefix_len);
	n += prefix_len;
	memcpy(info + n, label, label_len);
	n += label_len;
	info[n++] = 0; /* no context */
	info[n++] = 1; /* HKDF's first block (RFC 5869 section 2.3), which is enough */
	good = HMAC(s->hash(), secret, s->secret_len, info, n, block, NULL) != NULL;
	if (good)
		memcpy(out, block, len);
	OPENSSL_cleanse(block, sizeof block);
	return good;
}

bool tls_suite_next_secret(const struct tls_suite *s, uint8_t *secret)
{
	return tls_suite_expand(s, secret, "traffic upd", secret, s->secret_len);
}
