/* SPDX-License-Identifier: BSD-2-Clause */
/** @file wrapped.h Functions that the linker's --wrap has programs call in place of others. */
#ifndef TESTS_SUPPORT_WRAPPED_H
#define TESTS_SUPPORT_WRAPPED_H

/**
 * Before the declaration of __wrap_NAME(): optimisation at the link sees nobody who calls it, and
 * would drop it.
 */
#define WRAPPED __attribute__((used))

#endif
