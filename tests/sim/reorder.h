/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reorder.h Some packets take a longer way than those behind them. */
#ifndef TESTS_SIM_REORDER_H
#define TESTS_SIM_REORDER_H

#include "sim/element.h"

struct sim_reorder_config {
	double p;     /**< how many packets are held up */
	uint64_t max; /**< ns, at most; evenly distributed */
};

struct sim_reorder;

struct sim_reorder *sim_reorder_create(struct sim *s, const struct sim_reorder_config *cfg);
struct sim_element *sim_reorder_element(struct sim_reorder *r);
struct sim_reorder_config *sim_reorder_config(struct sim_reorder *r); /**< to change at any time */
uint64_t sim_reorder_count(const struct sim_reorder *r); /**< packets that were held up */

#endif
