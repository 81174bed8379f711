/* SPDX-License-Identifier: BSD-2-Clause */
/* VPCLMULQDQ on AVX2's vectors of 32 bytes. */
#include "base/digest_priv.h"

#if defined(__x86_64__)

#include "base/digest_sse42.h"

#include <immintrin.h>

#define DIGEST(name)  digest_avx2_##name
#define DIGEST_LABEL  "avx2"
#define DIGEST_TARGET __attribute__((target("avx2,vpclmulqdq,pclmul,sse4.2")))
#define DIGEST_WIDTH  32
#define DIGEST_VECTOR __m256i

#define DIGEST_LOAD(from)   _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define DIGEST_STORE(to, v) _mm256_storeu_si256((__m256i *)(void *)(to), v)
#define DIGEST_INSN         "vmovdqu"
#define DIGEST_REGS         "x"
#define DIGEST_SEED(crc)    _mm256_zextsi128_si256(_mm_cvtsi32_si128((int)(crc)))
#define DIGEST_XOR(a, b)    _mm256_xor_si256(a, b)
#define DIGEST_KEY(lo, hi)  _mm256_set_epi64x(hi, lo, hi, lo)
#define DIGEST_AHEAD_1      DIGEST_KEY(0x3da6d0cb, 0xba4fc28e)
#define DIGEST_AHEAD_4      DIGEST_KEY(0x6992cea2, 0x0d3b6092)
#define DIGEST_FOLD(x, k, y)                                                    \
	_mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(x, k, 0x00), \
				 _mm256_clmulepi64_epi128(x, k, 0x11)),         \
		y)
#define digest_avx2_word digest_sse42_word
#define digest_avx2_part digest_sse42_part

/** Of words of 32 bits, in lanes of 64. */
struct digest_avx2_sums {
	__m256i lower, upper;
};
#define DIGEST_SUMS struct digest_avx2_sums

DIGEST_TARGET static inline void digest_avx2_sum_vector(struct digest_avx2_sums *s, __m256i v)
{
	s->lower = _mm256_add_epi64(s->lower, _mm256_and_si256(v, _mm256_set1_epi64x(UINT32_MAX)));
	s->upper = _mm256_add_epi64(s->upper, _mm256_srli_epi64(v, 32));
}

DIGEST_TARGET static inline uint64_t digest_avx2_sum_end(const struct digest_avx2_sums s[2])
{
	__m256i all = _mm256_add_epi64(
		_mm256_add_epi64(s[0].lower, s[0].upper), _mm256_add_epi64(s[1].lower, s[1].upper));
	__m128i half = _mm_add_epi64(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));

	return (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
}

DIGEST_TARGET static inline uint32_t digest_avx2_reduce(__m256i x)
{
	const __m128i key = _mm_set_epi64x(0x493c7d27, 0xf20c0dfe); /* by 128 bits */
	__m128i front = _mm256_castsi256_si128(x), r = _mm256_extracti128_si256(x, 1);
	uint32_t crc;

	r = _mm_xor_si128(r, _mm_clmulepi64_si128(front, key, 0x00));
	r = _mm_xor_si128(r, _mm_clmulepi64_si128(front, key, 0x11));
	crc = digest_sse42_word(0, (uint64_t)_mm_cvtsi128_si64(r));
	return digest_sse42_word(crc, (uint64_t)_mm_extract_epi64(r, 1));
}

#include "base/digest_kernel.h"

#endif
