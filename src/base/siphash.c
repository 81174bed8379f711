/* SPDX-License-Identifier: BSD-2-Clause */
/* Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), section 2. */
#include "base/siphash.h"

#include <string.h>

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_round(v);
	sip_round(v);
	v[0] ^= m;
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t last = (uint64_t)len << 56;
	uint64_t v[4] = {
		key->k[0] ^ UINT64_C(0x736f6d6570736575),
		key->k[1] ^ UINT64_C(0x646f72616e646f6d),
		key->k[0] ^ UINT64_C(0x6c7967656e657261),
		key->k[1] ^ UINT64_C(0x7465646279746573),
	};
	uint64_t m;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&m, p, 8); /* little-endian, as the host: see bytes.h */
		sip_word(v, m);
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)p[i] << (8 * i);
	sip_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
