/* SPDX-License-Identifier: BSD-2-Clause */
/** @file secret_memory.h Memory for secrets, which is left out of core dumps (MADV_DONTDUMP). */
#ifndef BASE_SECRET_MEMORY_H
#define BASE_SECRET_MEMORY_H

#include <stddef.h>

/** @return @p len octets of zeros, from the start of a page on. NULL: no memory. */
void *secret_memory_map(size_t len);

/** Wipe and free @p len octets that secret_memory_map() gave. NULL is allowed. */
void secret_memory_unmap(void *p, size_t len);

#endif
