/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file delay.h
 * Propagation: each packet takes the delay that the way has when it sets out. When a route becomes
 * shorter, later packets overtake earlier ones, as they do in the world.
 */
#ifndef TESTS_SIM_DELAY_H
#define TESTS_SIM_DELAY_H

#include "sim/element.h"

struct sim_delay;

/** @param ns from the first to the last, each packet. */
struct sim_delay *sim_delay_create(struct sim *s, uint64_t ns);
struct sim_element *sim_delay_element(struct sim_delay *d);

/** For packets that set out from now on. */
void sim_delay_set(struct sim_delay *d, uint64_t ns);

#endif
