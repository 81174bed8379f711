/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tap.h A point at which every packet that passes is looked at. */
#ifndef TESTS_SIM_TAP_H
#define TESTS_SIM_TAP_H

#include "sim/element.h"

/** @p m may be read, not changed or kept. */
typedef void sim_tap_fn(void *ctx, struct rte_mbuf *m, uint64_t now);

struct sim_element *sim_tap_create(struct sim *s, sim_tap_fn *fn, void *ctx);

#endif
