/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file prove.h
 * For the harnesses of tests/proofs, which CBMC reads: each proof_NAME() holds for all values that
 * nondet_*() can have, within what is assumed.
 */
#ifndef PROOFS_PROVE_H
#define PROOFS_PROVE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define assume(condition) __CPROVER_assume(condition)

/* Without a body: any value. */
bool nondet_bool(void);
uint8_t nondet_u8(void);
uint16_t nondet_u16(void);
uint32_t nondet_u32(void);
uint64_t nondet_u64(void);
size_t nondet_size(void);

/** Any bytes, exactly @p len of them: one more is out of bounds. */
static inline uint8_t *nondet_bytes(size_t len)
{
	uint8_t *p = malloc(len);

	assume(p != NULL);
	return p;
}

#endif
