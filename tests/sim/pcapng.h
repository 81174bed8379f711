/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pcapng.h What passes a point of the network, as a pcapng file; stamps are virtual time. */
#ifndef TESTS_SIM_PCAPNG_H
#define TESTS_SIM_PCAPNG_H

#include "sim/tap.h"

struct sim_pcapng;

/**
 * @param point names the interface in the file. @return NULL: cannot be written, errno says why.
 */
struct sim_pcapng *sim_pcapng_open(const char *path, const char *point);

/** For sim_tap_create(); the context is the struct sim_pcapng. */
sim_tap_fn sim_pcapng_packet;

/** @return 0 or a negative errno: something of it could not be written. */
int sim_pcapng_close(struct sim_pcapng *p);

#endif
