/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file split.h
 * A middlebox that cuts TCP segments into smaller ones: segmentation offload done elsewhere.
 */
#ifndef TESTS_SIM_SPLIT_H
#define TESTS_SIM_SPLIT_H

#include "sim/element.h"

/** @param most bytes of text in one segment, at least 1. */
struct sim_element *sim_split_create(struct sim *s, uint32_t most);

/** From now on. UINT32_MAX: none. */
void sim_split_set(struct sim_element *e, uint32_t most);

#endif
