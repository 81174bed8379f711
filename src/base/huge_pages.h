/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file huge_pages.h
 * Memory that the kernel may put into huge pages (transparent ones: madvise(2), MADV_HUGEPAGE).
 * What is looked at all over the place is looked up in the page tables more often than in the
 * caches otherwise. Where the kernel has none, the memory is as good as any.
 */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/** Bytes of one. */
#define HUGE_PAGE ((size_t)2 << 20)

/**
 * Map @p len bytes, a multiple of HUGE_PAGE: zero, private to this process, and beginning with a
 * huge page. For munmap().
 * @return NULL: no memory.
 */
void *huge_pages_map(size_t len);

#endif
