/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file bytes.h
 * Explicit big-endian loads and stores for wire formats.
 *
 * Every wire header is read and written through these. No packet is cast to a struct, and no
 * bit-field is used. So alignment, padding and the host's byte order cannot matter.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t load_be16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return __builtin_bswap16(v);
}

static inline uint32_t load_be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return __builtin_bswap32(v);
}

static inline uint64_t load_be64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return __builtin_bswap64(v);
}

static inline void store_be16(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof v);
}

static inline void store_be32(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof v);
}

static inline void store_be64(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof v);
}

/** For the CRC field of RFC 5044: it has the byte order of iSCSI, least significant byte first. */
static inline void store_le32(void *p, uint32_t v)
{
	memcpy(p, &v, sizeof v);
}

static inline uint32_t load_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian hosts only");

#endif
