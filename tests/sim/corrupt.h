/* SPDX-License-Identifier: BSD-2-Clause */
/** @file corrupt.h One bit of some packets is flipped, somewhere behind the Ethernet header. */
#ifndef TESTS_SIM_CORRUPT_H
#define TESTS_SIM_CORRUPT_H

#include "sim/some.h"

/** @param p per packet. */
struct sim_some *sim_corrupt_create(struct sim *s, double p);

#endif
