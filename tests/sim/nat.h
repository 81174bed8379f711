/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file nat.h
 * A translator of IPv4 addresses and TCP ports (RFC 3022 section 2.2) in front of one inside host,
 * which knows connections only as long as it sees packets of them: shorter than RFC 5382 asks, as
 * many do. ARP is translated along, so that both sides may be on one subnet. ICMP errors are not.
 */
#ifndef TESTS_SIM_NAT_H
#define TESTS_SIM_NAT_H

#include "sim/element.h"

struct sim_nat_config {
	struct sim_host *inside;
	const char *outside; /**< the address that it has for others: "10.0.0.77" */
	uint64_t idle;       /**< ns after which a connection is forgotten; 0: never */
	/** A segment that is no SYN of an unknown connection from inside: gets a new mapping,
	 * instead of being dropped. Its peer then sees it come from another port. */
	bool remap;
};

struct sim_nat_stats {
	uint64_t mapped, expired;
	uint64_t drops; /**< of unknown connections */
};

struct sim_nat;

struct sim_nat *sim_nat_create(struct sim *s, const struct sim_nat_config *cfg);

/** On the way out, and on the way in. */
struct sim_element *sim_nat_out(struct sim_nat *n);
struct sim_element *sim_nat_in(struct sim_nat *n);

/** It was restarted: knows nothing any more. */
void sim_nat_forget(struct sim_nat *n);

const struct sim_nat_stats *sim_nat_stats(const struct sim_nat *n);

#endif
