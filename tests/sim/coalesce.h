/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file coalesce.h
 * A middlebox that joins TCP segments which follow each other: receive offload done elsewhere.
 * After sim_split_create() with another size, no segment boundary is where its sender put it.
 */
#ifndef TESTS_SIM_COALESCE_H
#define TESTS_SIM_COALESCE_H

#include "sim/element.h"

/**
 * @param most bytes of text in one segment.
 * @param wait ns at most that a segment waits for the one behind it.
 */
struct sim_element *sim_coalesce_create(struct sim *s, uint32_t most, uint64_t wait);

/** From now on. @p most 0: none. */
void sim_coalesce_set(struct sim_element *e, uint32_t most, uint64_t wait);

#endif
