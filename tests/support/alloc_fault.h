/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file alloc_fault.h
 * Every allocation of the product can fail, by its number or by chance. For programs that are
 * linked with dep_test_alloc_fault: what is in the program itself allocates here, but for tests
 * (need.h); shared libraries do not.
 */
#ifndef TESTS_SUPPORT_ALLOC_FAULT_H
#define TESTS_SUPPORT_ALLOC_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number @p n from now on fails, counted from 1; 0: none. */
void alloc_fault_at(uint64_t n);

/** From now on each fails with probability @p p. */
void alloc_fault_chance(double p, uint64_t seed);

/** Allocations since alloc_fault_at(); those that failed, ever. */
uint64_t alloc_fault_seen(void);
uint64_t alloc_fault_failed(void);

/** Where the last one failed that did: an offset in the program, for addr2line. */
size_t alloc_fault_where(void);

/** Blocks that the product has and has not freed. */
int64_t alloc_fault_live(void);

/** What counts as an allocation besides those of the C library asks here. @return true: fail. */
bool alloc_fault_now(void);

#endif
