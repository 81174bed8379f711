/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mark.h Some ECN-capable packets get congestion marks. */
#ifndef TESTS_SIM_MARK_H
#define TESTS_SIM_MARK_H

#include "sim/element.h"

struct sim_mark;

/** @param p per packet. */
struct sim_mark *sim_mark_create(struct sim *s, double p);
struct sim_element *sim_mark_element(struct sim_mark *x);
void sim_mark_set(struct sim_mark *x, double p);
uint64_t sim_mark_count(const struct sim_mark *x); /**< packets it happened to */

#endif
