/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file greedy.h
 * A receiver that wants more than its share, as an element before an honest one, on its way in and
 * its way out. One connection.
 */
#ifndef TESTS_SIM_GREEDY_H
#define TESTS_SIM_GREEDY_H

#include "sim/element.h"

struct sim_greedy_config {
	bool hide;       /**< acknowledge all up to the last byte that came, and never SACK */
	unsigned pieces; /**< ACKs that one becomes, each of its part of the bytes; 0: one */
};

struct sim_greedy;

struct sim_greedy *sim_greedy_create(struct sim *s, const struct sim_greedy_config *cfg);

/** Behind the path that leads to it; anywhere on the way back. */
struct sim_element *sim_greedy_in(struct sim_greedy *g);
struct sim_element *sim_greedy_out(struct sim_greedy *g);

/** Acknowledgments that it changed, and that it made. */
uint64_t sim_greedy_count(const struct sim_greedy *g);

#endif
