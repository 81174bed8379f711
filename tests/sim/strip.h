/* SPDX-License-Identifier: BSD-2-Clause */
/** @file strip.h A middlebox that does not like some TCP options, and writes NOPs over them. */
#ifndef TESTS_SIM_STRIP_H
#define TESTS_SIM_STRIP_H

#include "sim/element.h"

/** @param kinds bit 1 << k for each kind k of option; on SYNs and all other segments. */
struct sim_element *sim_strip_create(struct sim *s, uint64_t kinds);

#endif
