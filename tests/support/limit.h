/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file limit.h
 * How long a test waits for what must come: what has not come by then never will. Far more than it
 * takes on a busy machine, as a machine may also stand still, for minutes (docs/testing.md).
 */
#ifndef SUPPORT_LIMIT_H
#define SUPPORT_LIMIT_H

#include <stdint.h>

#define LIMIT_S  600
#define LIMIT_MS (LIMIT_S * 1000)
#define LIMIT_NS (LIMIT_S * UINT64_C(1000000000))

#endif
