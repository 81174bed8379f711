/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file forger.h
 * A station on a host's link that says by ARP or ND that a peer's address is its own: a liar, or,
 * if it forwards what it gets, a router that takes the address over.
 */
#ifndef TESTS_SIM_FORGER_H
#define TESTS_SIM_FORGER_H

#include "sim/element.h"
#include "sim/host.h"

struct sim_forger_config {
	struct sim_host *victim, *owner;
	uint8_t mac[6];
};

/** What it does; all false: nothing. */
struct sim_forger_acts {
	bool claims; /**< says ten times a second, to all and to the victim, that it is the owner */
	bool answers;  /**< at once whatever the victim asks, sooner than the owner can */
	bool forwards; /**< hands on what it gets */
	bool silences; /**< neither the owner's answers arrive at the victim, nor ours at the owner
			*/
};

struct sim_forger_stats {
	uint64_t said, got; /**< messages of its own; packets for it */
};

struct sim_forger *sim_forger_create(struct sim *s, const struct sim_forger_config *cfg);

/** Before all of the path from the victim. */
struct sim_element *sim_forger_out(struct sim_forger *f);

/** Behind all of the path to the victim. */
struct sim_element *sim_forger_in(struct sim_forger *f);

/** From now on; what it claims it claims at once. */
void sim_forger_set(struct sim_forger *f, const struct sim_forger_acts *acts);

const struct sim_forger_stats *sim_forger_stats(const struct sim_forger *f);

#endif
