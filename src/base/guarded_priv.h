/* SPDX-License-Identifier: BSD-2-Clause */
/** @file guarded_priv.h The parts of guarded.c's copy, shared with its test. */
#ifndef BASE_GUARDED_PRIV_H
#define BASE_GUARDED_PRIV_H

#include <stddef.h>

/** guarded_wide() needs at least this many bytes. */
#define GUARDED_WIDE_MIN 128
/** Alignment of the vectors, in bytes. */
#define GUARDED_NARROW_ALIGN 16
#define GUARDED_WIDE_ALIGN   32

/**
 * Copy by vectors of 16 bytes (narrow) or of 32 bytes with AVX (wide).
 * @param lead bytes before the first aligned vector on the program's side.
 * @return 0: copied; -1: it faulted.
 */
int guarded_narrow(void *to, const void *from, size_t len, size_t lead);
int guarded_wide(void *to, const void *from, size_t len, size_t lead);

#ifdef __aarch64__

/** Bytes of the last word of a copy, at most. */
#define GUARDED_LAST 8

/** The same for what lies in one such word, each store of it behind a barrier. */
int guarded_last(void *to, const void *from, size_t len, size_t lead);

#endif

/** Every instruction that touches memory of others lies between these, and every barrier. */
extern const char guarded_begin[], guarded_end[];

#endif
