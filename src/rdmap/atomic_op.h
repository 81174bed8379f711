/* SPDX-License-Identifier: BSD-2-Clause */
/** @file atomic_op.h The results of Atomic Operations (RFC 7306 section 5.1). */
#ifndef RDMAP_ATOMIC_OP_H
#define RDMAP_ATOMIC_OP_H

#include "rdmap/rdmap.h"

/**
 * Masked FetchAdd (section 5.1.1): a value consists of fields, and a bit of the mask marks the
 * highest bit of a field. No carry leaves a field. So the highest bits are left out of the sum, and
 * are added without carry afterwards.
 */
static inline uint64_t rdmap_masked_add(uint64_t value, uint64_t data, uint64_t mask)
{
	return ((value & ~mask) + (data & ~mask)) ^ ((value ^ data) & mask);
}

/** Masked CmpSwap (section 5.1.2). */
static inline uint64_t rdmap_masked_swap(uint64_t value, const struct rdmap_atomic *a)
{
	if (((a->compare ^ value) & a->compare_mask) != 0)
		return value;
	return (value & ~a->mask) | (a->data & a->mask);
}

/** The value after the operation. @p opcode is RDMAP_ATOMIC_FETCH_ADD or RDMAP_ATOMIC_CMP_SWAP. */
static inline uint64_t rdmap_atomic_result(
	uint8_t opcode, const struct rdmap_atomic *a, uint64_t value)
{
	return opcode == RDMAP_ATOMIC_FETCH_ADD ? rdmap_masked_add(value, a->data, a->mask)
						: rdmap_masked_swap(value, a);
}

#endif
