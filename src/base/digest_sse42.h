/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file digest_sse42.h
 * The CRC by x86's instruction for it, for the ends of what the kernels with vectors take: theirs
 * are DIGEST(word) and DIGEST(part) of digest_kernel.h.
 */
#ifndef BASE_DIGEST_SSE42_H
#define BASE_DIGEST_SSE42_H

#include <nmmintrin.h>
#include <stdint.h>

#define DIGEST_SSE42_INLINE \
	__attribute__((target("sse4.2"))) static inline __attribute__((always_inline))

DIGEST_SSE42_INLINE uint32_t digest_sse42_word(uint32_t crc, uint64_t v)
{
	return (uint32_t)_mm_crc32_u64(crc, v);
}

DIGEST_SSE42_INLINE uint32_t digest_sse42_part(uint32_t crc, uint64_t v, size_t n)
{
	if (n & 4) {
		crc = _mm_crc32_u32(crc, (uint32_t)v);
		v >>= 32;
	}
	if (n & 2) {
		crc = _mm_crc32_u16(crc, (uint16_t)v);
		v >>= 16;
	}
	return n & 1 ? _mm_crc32_u8(crc, (uint8_t)v) : crc;
}

#endif
