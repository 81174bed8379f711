/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv8's instructions for CRC32c, and PMULL on vectors of 16 bytes. */
#include "base/digest_priv.h"

#if defined(__aarch64__)

#include <arm_acle.h>
#include <arm_neon.h>

#define DIGEST(name)  digest_armv8_##name
#define DIGEST_LABEL  "armv8"
#define DIGEST_TARGET __attribute__((target("+crc+crypto")))
#define DIGEST_WIDTH  16
#define DIGEST_VECTOR uint64x2_t
#define DIGEST_INSN   "ldr"
#define DIGEST_REGS   "w"

#define DIGEST_LOAD(from)    vreinterpretq_u64_u8(vld1q_u8(from))
#define DIGEST_STORE(to, v)  vst1q_u8(to, vreinterpretq_u8_u64(v))
#define DIGEST_SEED(crc)     vsetq_lane_u64(crc, vdupq_n_u64(0), 0)
#define DIGEST_XOR(a, b)     veorq_u64(a, b)
#define DIGEST_KEY(lo, hi)   vcombine_u64(vcreate_u64(lo), vcreate_u64(hi))
#define DIGEST_AHEAD_1       DIGEST_KEY(0xf20c0dfe, 0x493c7d27)
#define DIGEST_AHEAD_4       DIGEST_KEY(0x740eef02, 0x9e4addf8)
#define DIGEST_FOLD(x, k, y) digest_armv8_fold(x, k, y)

DIGEST_TARGET static inline uint64x2_t digest_armv8_fold(uint64x2_t x, uint64x2_t k, uint64x2_t y)
{
	poly128_t lower = vmull_p64(vgetq_lane_u64(x, 0), vgetq_lane_u64(k, 0));
	poly128_t upper = vmull_high_p64(vreinterpretq_p64_u64(x), vreinterpretq_p64_u64(k));

	return veorq_u64(
		veorq_u64(vreinterpretq_u64_p128(lower), vreinterpretq_u64_p128(upper)), y);
}

DIGEST_TARGET static inline uint32_t digest_armv8_word(uint32_t crc, uint64_t v)
{
	return __crc32cd(crc, v);
}

DIGEST_TARGET static inline uint32_t digest_armv8_part(uint32_t crc, uint64_t v, size_t n)
{
	if (n & 4) {
		crc = __crc32cw(crc, (uint32_t)v);
		v >>= 32;
	}
	if (n & 2) {
		crc = __crc32ch(crc, (uint16_t)v);
		v >>= 16;
	}
	return n & 1 ? __crc32cb(crc, (uint8_t)v) : crc;
}

/** Of words of 32 bits, in lanes of 64. */
struct digest_armv8_sums {
	uint64x2_t all;
};
#define DIGEST_SUMS struct digest_armv8_sums

DIGEST_TARGET static inline void digest_armv8_sum_vector(struct digest_armv8_sums *s, uint64x2_t v)
{
	s->all = vpadalq_u32(s->all, vreinterpretq_u32_u64(v));
}

DIGEST_TARGET static inline uint64_t digest_armv8_sum_end(const struct digest_armv8_sums s[2])
{
	return vaddvq_u64(vaddq_u64(s[0].all, s[1].all));
}

DIGEST_TARGET static inline uint32_t digest_armv8_reduce(uint64x2_t x)
{
	return __crc32cd(__crc32cd(0, vgetq_lane_u64(x, 0)), vgetq_lane_u64(x, 1));
}

#include "base/digest_kernel.h"

#endif
