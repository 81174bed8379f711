/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capabilities.h
 * Capabilities of the calling thread, for tests of what a process may not (capabilities(7)).
 */
#ifndef TESTS_SUPPORT_CAPABILITIES_H
#define TESTS_SUPPORT_CAPABILITIES_H

#include <linux/capability.h>
#include <stdint.h>

/** The first 32 of them, as bits. */
struct capabilities {
	uint32_t effective, permitted;
};

struct capabilities capabilities_get(void);

/** @param effective of those that are permitted; all others are not effective any more. */
void capabilities_set_effective(uint32_t effective);

#endif
