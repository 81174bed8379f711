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

/**
 * Four words of 32 bits, as they are, by one store. For what is soon read whole: a load of what
 * several stores wrote waits until all have left the processor, behind whatever misses the cache.
 */
static inline void store_words(void *p, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	typedef uint32_t words __attribute__((vector_size(16)));

	memcpy(p, &(words){a, b, c, d}, 16);
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
