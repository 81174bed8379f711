/* SPDX-License-Identifier: BSD-2-Clause */
/* PCLMULQDQ on vectors of 16 bytes. */
#include "base/digest_priv.h"

#if defined(__x86_64__)

#include "base/digest_sse42.h"

#include <immintrin.h>

#define DIGEST(name)  digest_pclmul_##name
#define DIGEST_LABEL  "pclmul"
#define DIGEST_TARGET __attribute__((target("sse4.2,pclmul")))
#define DIGEST_WIDTH  16
#define DIGEST_VECTOR __m128i

#define DIGEST_LOAD(from)   _mm_loadu_si128((const __m128i *)(const void *)(from))
#define DIGEST_STORE(to, v) _mm_storeu_si128((__m128i *)(void *)(to), v)
#define DIGEST_INSN         "movdqu"
#define DIGEST_REGS         "x"
#define DIGEST_SEED(crc)    _mm_cvtsi32_si128((int)(crc))
#define DIGEST_XOR(a, b)    _mm_xor_si128(a, b)
#define DIGEST_KEY(lo, hi)  _mm_set_epi64x(hi, lo)
#define DIGEST_AHEAD_1      DIGEST_KEY(0xf20c0dfe, 0x493c7d27)
#define DIGEST_AHEAD_4      DIGEST_KEY(0x740eef02, 0x9e4addf8)
#define DIGEST_FOLD(x, k, y)                                                                       \
	_mm_xor_si128(                                                                             \
		_mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11)), \
		y)
#define digest_pclmul_word digest_sse42_word
#define digest_pclmul_part digest_sse42_part

/** Of words of 32 bits, in lanes of 64. */
struct digest_pclmul_sums {
	__m128i lower, upper;
};
#define DIGEST_SUMS struct digest_pclmul_sums

DIGEST_TARGET static inline void digest_pclmul_sum_vector(struct digest_pclmul_sums *s, __m128i v)
{
	s->lower = _mm_add_epi64(s->lower, _mm_and_si128(v, _mm_set1_epi64x(UINT32_MAX)));
	s->upper = _mm_add_epi64(s->upper, _mm_srli_epi64(v, 32));
}

DIGEST_TARGET static inline uint64_t digest_pclmul_sum_end(const struct digest_pclmul_sums s[2])
{
	__m128i all = _mm_add_epi64(
		_mm_add_epi64(s[0].lower, s[0].upper), _mm_add_epi64(s[1].lower, s[1].upper));

	return (uint64_t)_mm_cvtsi128_si64(all) + (uint64_t)_mm_extract_epi64(all, 1);
}

DIGEST_TARGET static inline uint32_t digest_pclmul_reduce(__m128i x)
{
	uint32_t crc = digest_sse42_word(0, (uint64_t)_mm_cvtsi128_si64(x));

	return digest_sse42_word(crc, (uint64_t)_mm_extract_epi64(x, 1));
}

#include "base/digest_kernel.h"

#endif
