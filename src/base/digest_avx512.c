/* SPDX-License-Identifier: BSD-2-Clause */
/* VPCLMULQDQ and VNNI on AVX-512's vectors of 64 bytes. */
#include "base/digest_priv.h"

#if defined(__x86_64__)

#include "base/digest_sse42.h"

#include <immintrin.h>

#define DIGEST(name) digest_avx512_##name
#define DIGEST_LABEL "avx512"
#define DIGEST_TARGET \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,vpclmulqdq,pclmul,sse4.2")))
#define DIGEST_WIDTH  64
#define DIGEST_VECTOR __m512i

#define DIGEST_LOAD(from)   _mm512_loadu_si512(from)
#define DIGEST_STORE(to, v) _mm512_storeu_si512(to, v)
#define DIGEST_INSN         "vmovdqu64"
#define DIGEST_REGS         "v"
#define DIGEST_SEED(crc)    _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)(crc)))
#define DIGEST_XOR(a, b)    _mm512_xor_si512(a, b)
#define DIGEST_KEY(lo, hi)  _mm512_set_epi64(hi, lo, hi, lo, hi, lo, hi, lo)
#define DIGEST_AHEAD_1      DIGEST_KEY(0x740eef02, 0x9e4addf8)
#define DIGEST_AHEAD_4      DIGEST_KEY(0xdcb17aa4, 0xb9e02b86)
#define DIGEST_FOLD(x, k, y)                                            \
	_mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, k, 0x00), \
		_mm512_clmulepi64_epi128(x, k, 0x11), y, 0x96)
#define digest_avx512_word digest_sse42_word
#define digest_avx512_part digest_sse42_part

/** Of bytes at even places and at odd ones, in lanes of 32 bits: DIGEST_RUN_MAX. */
struct digest_avx512_sums {
	__m512i even, odd;
};
#define DIGEST_SUMS struct digest_avx512_sums

DIGEST_TARGET static inline void digest_avx512_sum_vector(struct digest_avx512_sums *s, __m512i v)
{
	s->even = _mm512_dpbusd_epi32(s->even, v, _mm512_set1_epi16(0x0001));
	s->odd = _mm512_dpbusd_epi32(s->odd, v, _mm512_set1_epi16(0x0100));
}

DIGEST_TARGET static inline uint64_t digest_avx512_sum_end(const struct digest_avx512_sums s[2])
{
	__m512i even = _mm512_add_epi32(s[0].even, s[1].even);
	__m512i odd = _mm512_add_epi32(s[0].odd, s[1].odd);

	return (uint64_t)(uint32_t)_mm512_reduce_add_epi32(even) +
	       ((uint64_t)(uint32_t)_mm512_reduce_add_epi32(odd) << 8);
}

DIGEST_TARGET static inline uint32_t digest_avx512_reduce(__m512i x)
{
	/* The first three quarters by 384, 256 and 128 bits. */
	const __m512i keys = _mm512_set_epi64(
		0, 0, 0x493c7d27, 0xf20c0dfe, 0xba4fc28e, 0x3da6d0cb, 0xddc0152b, 0x1c291d04);
	__m512i moved = _mm512_xor_si512(
		_mm512_clmulepi64_epi128(x, keys, 0x00), _mm512_clmulepi64_epi128(x, keys, 0x11));
	__m128i r = _mm512_extracti32x4_epi32(x, 3);
	uint32_t crc;

	r = _mm_xor_si128(r, _mm512_castsi512_si128(moved));
	r = _mm_xor_si128(r, _mm512_extracti32x4_epi32(moved, 1));
	r = _mm_xor_si128(r, _mm512_extracti32x4_epi32(moved, 2));
	crc = digest_sse42_word(0, (uint64_t)_mm_cvtsi128_si64(r));
	return digest_sse42_word(crc, (uint64_t)_mm_extract_epi64(r, 1));
}

#include "base/digest_kernel.h"

#endif
