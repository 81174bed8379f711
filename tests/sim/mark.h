/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mark.h Some ECN-capable packets get congestion marks. */
#ifndef TESTS_SIM_MARK_H
#define TESTS_SIM_MARK_H

#include "sim/some.h"

/** @param p per packet. */
struct sim_some *sim_mark_create(struct sim *s, double p);

#endif
