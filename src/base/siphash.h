/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file siphash.h
 * SipHash-2-4, for initial sequence numbers (RFC 6528), ephemeral ports (RFC 6056 algorithm 3) and
 * hash tables with keys that strangers choose.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

/** SipHash-2-4 of @p len bytes at @p data. */
uint64_t siphash(const struct siphash_key *key, const void *data, size_t len);

#endif
