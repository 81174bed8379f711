/* SPDX-License-Identifier: BSD-2-Clause */
/** @file prefetch.h Memory that will be needed soon, brought into the cache. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

#include <stddef.h>

#define PREFETCH_LINE 64

/**
 * Fetch @p len bytes from @p p on, to be written to. @p p need not be there any more: only its
 * address is used. Into the first cache: a prefetch for the others may do nothing where the TLB
 * misses as well.
 */
static inline void prefetch_range(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += PREFETCH_LINE)
		__builtin_prefetch((const char *)p + i, 1, 3);
}

/**
 * Fetch @p len bytes from @p p on, to be read once and soon, into the second cache. The first has
 * too few misses on their way at a time for what another core has written.
 */
static inline void prefetch_to_read(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += PREFETCH_LINE)
		__builtin_prefetch((const char *)p + i, 0, 2);
}

#endif
