/* SPDX-License-Identifier: BSD-2-Clause */
/** @file guarded_priv.h The two widths of guarded.c's copy, for itself and for its test. */
#ifndef BASE_GUARDED_PRIV_H
#define BASE_GUARDED_PRIV_H

#include <stddef.h>

/** The wide one wants so many bytes at least. */
#define GUARDED_WIDE_MIN 128
/** What their vectors are aligned to. */
#define GUARDED_NARROW_ALIGN 16
#define GUARDED_WIDE_ALIGN   32

/**
 * Copy by vectors of 16 bytes, or, with AVX, of 32.
 * @param lead bytes to where the side that belongs to the program is aligned to a vector.
 * @return 0: copied; -1: it faulted.
 */
int guarded_narrow(void *to, const void *from, size_t len, size_t lead);
int guarded_wide(void *to, const void *from, size_t len, size_t lead);

#endif
