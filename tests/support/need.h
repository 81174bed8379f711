/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file need.h
 * Memory of the tests themselves: it does not fail, and is not counted with the product's
 * (alloc_fault.h). Sources that are compiled with this file before them (`-include`) get it by the
 * usual names.
 */
#ifndef TESTS_SUPPORT_NEED_H
#define TESTS_SUPPORT_NEED_H

#include <stdlib.h>

/** Above 0 while a test allocates or frees. Volatile: compilers know that malloc() reads no such
 * thing. */
extern volatile unsigned need_depth;

/** As their namesakes; they end the process rather than return NULL. */
void *need_malloc(size_t size);
void *need_calloc(size_t n, size_t size);
void *need_realloc(void *p, size_t size);
void need_free(void *p);

#define malloc(size)     need_malloc(size)
#define calloc(n, size)  need_calloc(n, size)
#define realloc(p, size) need_realloc(p, size)
#define free(p)          need_free(p)

#endif
