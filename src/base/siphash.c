/* SPDX-License-Identifier: BSD-2-Clause */
/* Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), section 2. */
#include "base/siphash.h"

#include <string.h>

static inline uint64_t siphash_rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void siphash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = siphash_rotl(v[1], 13) ^ v[0];
	v[3] = siphash_rotl(v[3], 16) ^ v[2];
	v[0] = siphash_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = siphash_rotl(v[1], 17) ^ v[2];
	v[3] = siphash_rotl(v[3], 21) ^ v[0];
	v[2] = siphash_rotl(v[2], 32);
}

static inline void siphash_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	siphash_round(v);
	siphash_round(v);
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
		siphash_word(v, m);
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)p[i] << (8 * i);
	siphash_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
