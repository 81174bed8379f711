/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file populate.h
 * madvise()'s requests to have all pages there and mapped, for headers of C libraries from before
 * Linux 5.14. Kernels that do not know them say EINVAL.
 */
#ifndef BASE_POPULATE_H
#define BASE_POPULATE_H

#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#endif
