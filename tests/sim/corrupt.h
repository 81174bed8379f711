/* SPDX-License-Identifier: BSD-2-Clause */
/** @file corrupt.h One bit of some packets is flipped, somewhere behind the Ethernet header. */
#ifndef TESTS_SIM_CORRUPT_H
#define TESTS_SIM_CORRUPT_H

#include "sim/element.h"

struct sim_corrupt;

/** @param p per packet. */
struct sim_corrupt *sim_corrupt_create(struct sim *s, double p);
struct sim_element *sim_corrupt_element(struct sim_corrupt *x);
void sim_corrupt_set(struct sim_corrupt *x, double p);
uint64_t sim_corrupt_count(const struct sim_corrupt *x); /**< packets it happened to */

#endif
