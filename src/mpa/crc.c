/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/crc.h"

#include <isa-l/crc.h>

#include <string.h>
#if defined(__aarch64__)
#include <arm_acle.h>
#define MPA_CRC_STATE     uint32_t
#define MPA_CRC_8(crc, v) __crc32cd(crc, v)
#define MPA_CRC_4(crc, v) __crc32cw(crc, v)
#define MPA_CRC_1(crc, v) __crc32cb(crc, v)
#else
#include <nmmintrin.h>
#define MPA_CRC_STATE     uint64_t
#define MPA_CRC_8(crc, v) _mm_crc32_u64(crc, v)
#define MPA_CRC_4(crc, v) _mm_crc32_u32((uint32_t)(crc), v)
#define MPA_CRC_1(crc, v) _mm_crc32_u8((uint32_t)(crc), v)
#endif

/*
 * Below this length the set-up of ISA-L's folding costs more than the crc32 instruction. An FPDU
 * with eight bytes of payload has 24.
 */
#define SHORT 64

static uint32_t mpa_crc_add_short(uint32_t crc, const uint8_t *p, size_t len)
{
	MPA_CRC_STATE c = crc;

	for (; len >= 8; p += 8, len -= 8) {
		uint64_t v;

		memcpy(&v, p, sizeof v);
		c = MPA_CRC_8(c, v);
	}
	if (len >= 4) {
		uint32_t v;

		memcpy(&v, p, sizeof v);
		c = MPA_CRC_4(c, v);
		p += 4;
		len -= 4;
	}
	for (; len != 0; p++, len--)
		c = MPA_CRC_1(c, *p);
	return (uint32_t)c;
}

uint32_t mpa_crc_add(uint32_t crc, const void *bytes, size_t len)
{
	if (len < SHORT)
		return mpa_crc_add_short(crc, bytes, len);
	/* ISA-L neither writes to the buffer nor keeps the pointer; its prototype forgot const. */
	return crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)len, crc);
}
