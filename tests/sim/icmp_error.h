/* SPDX-License-Identifier: BSD-2-Clause */
/** @file icmp_error.h What somebody on the way says of a packet by ICMP or ICMPv6. */
#ifndef TESTS_SIM_ICMP_ERROR_H
#define TESTS_SIM_ICMP_ERROR_H

#include "sim/headers.h"
#include "sim/sim.h"

struct sim_icmp_error {
	uint8_t type, code;
	uint32_t body; /**< behind the checksum: an MTU, a pointer */
};

/**
 * About the packet with headers @p h, to its sender; from its destination's own address, which is
 * as good as any router's. @return NULL when the pool is empty.
 */
struct rte_mbuf *sim_icmp_error(
	struct sim *s, const struct sim_headers *h, const struct sim_icmp_error *error);

#endif
