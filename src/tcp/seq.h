/* SPDX-License-Identifier: BSD-2-Clause */
/** @file seq.h Sequence numbers: comparisons modulo 2^32 (RFC 9293 section 3.4). */
#ifndef TCP_SEQ_H
#define TCP_SEQ_H

#include <stdbool.h>
#include <stdint.h>

static inline bool seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool seq_leq(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

static inline bool seq_gt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static inline bool seq_geq(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) >= 0;
}

static inline uint32_t seq_max(uint32_t a, uint32_t b)
{
	return seq_gt(a, b) ? a : b;
}

static inline uint32_t seq_min(uint32_t a, uint32_t b)
{
	return seq_lt(a, b) ? a : b;
}

/** For sizes; as functions, so that they nest without shadowing. */
static inline uint32_t u32_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t u32_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** A piece of sequence space, [left, right). */
struct tcp_range {
	uint32_t left, right;
};

#endif
