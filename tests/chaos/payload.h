/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file payload.h
 * What the messages of tests/chaos hold: words that follow from a seed, so that whoever knows the
 * seed knows each byte. Lengths are multiples of eight.
 */
#ifndef CHAOS_PAYLOAD_H
#define CHAOS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The finalizer of SplitMix64: each word of its input gives another. */
static inline uint64_t payload_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/** @p first: the number of the first word, for what is a part of something longer. */
static inline void payload_fill(void *to, size_t len, uint64_t seed, uint64_t first)
{
	for (size_t i = 0; i < len / 8; i++) {
		uint64_t word = payload_mix(seed + (first + i) * 0x9e3779b97f4a7c15u);

		memcpy((uint8_t *)to + 8 * i, &word, 8);
	}
}

/** @return the offset of the first wrong word, or @p len. */
static inline size_t payload_wrong(const void *at, size_t len, uint64_t seed, uint64_t first)
{
	for (size_t i = 0; i < len / 8; i++) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)at + 8 * i, 8);
		if (word != payload_mix(seed + (first + i) * 0x9e3779b97f4a7c15u))
			return 8 * i;
	}
	return len;
}

#endif
