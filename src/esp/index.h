/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file index.h
 * Where in an array those with a hash are. Two of one hash are both found, and others may be:
 * who asks looks which of them it wants. Hashes are of files, whose owner gains nothing by many
 * that are equal. Nothing in them is of a key: an index is in core dumps.
 */
#ifndef ESP_INDEX_H
#define ESP_INDEX_H

#include "base/bytes.h"
#include "base/ip_addr.h"

struct esp_index {
	uint32_t
		*place; /**< for a hash, or the next free one: an index + 1; 0: free. NULL: empty */
	uint32_t mask;  /**< how many places there are, less one: a power of two less one */
};

/** Make @p x empty, with places for @p n. @return false: no memory, and it is as it was. */
bool esp_index_make(struct esp_index *x, uint32_t n);

void esp_index_free(struct esp_index *x);

/** @p x has a place for it. */
void esp_index_add(struct esp_index *x, uint32_t hash, uint32_t i);

/**
 * The next one that may have a hash.
 * @param[in,out] at the hash itself at first.
 * @param[out] i which it is.
 */
static inline bool esp_index_next(const struct esp_index *x, uint32_t *at, uint32_t *i)
{
	uint32_t found = x->place ? x->place[*at & x->mask] : 0;

	++*at;
	*i = found - 1;
	return found != 0;
}

/* ---- hashes -------------------------------------------------------------------------------- */

static inline uint64_t esp_hash_addr(const struct ip_addr *a)
{
	return load_be64(a->b) * UINT64_C(0x9e3779b97f4a7c15) + load_be64(a->b + 8);
}

/** Low bits of a product know of low bits alone. */
static inline uint32_t esp_hash_mix(uint64_t x)
{
	x *= UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(x ^ x >> 32);
}

/** By what an SA is known (RFC 4301 section 4.1). */
static inline uint32_t esp_hash_sa(uint32_t spi, const struct ip_addr *dst)
{
	return esp_hash_mix(esp_hash_addr(dst) + spi * UINT64_C(0xa0761d6478bd642f));
}

/** Of two hosts, in one direction. */
static inline uint32_t esp_hash_hosts(const struct ip_addr *src, const struct ip_addr *dst)
{
	return esp_hash_mix(esp_hash_addr(src) * UINT64_C(0xa0761d6478bd642f) + esp_hash_addr(dst));
}

#endif
