/* SPDX-License-Identifier: BSD-2-Clause */
/** @file duplicate.h Some packets arrive twice. */
#ifndef TESTS_SIM_DUPLICATE_H
#define TESTS_SIM_DUPLICATE_H

#include "sim/element.h"

struct sim_duplicate;

/** @param p per packet. */
struct sim_duplicate *sim_duplicate_create(struct sim *s, double p);
struct sim_element *sim_duplicate_element(struct sim_duplicate *x);
void sim_duplicate_set(struct sim_duplicate *x, double p);
uint64_t sim_duplicate_count(const struct sim_duplicate *x); /**< packets it happened to */

#endif
