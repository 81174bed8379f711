/* SPDX-License-Identifier: BSD-2-Clause */
/** @file duplicate.h Some packets arrive twice. */
#ifndef TESTS_SIM_DUPLICATE_H
#define TESTS_SIM_DUPLICATE_H

#include "sim/some.h"

/** @param p per packet. */
struct sim_some *sim_duplicate_create(struct sim *s, double p);

#endif
