/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file nic.h
 * The sending side of a NIC that computes checksums and cuts segments, behind what a port of ours
 * does for it: frames of a round that follow each other are gathered by dpdk-port/tso.h, and cut
 * here where the chain says. It gives its buffers back late, as rings of descriptors do.
 */
#ifndef TESTS_SIM_NIC_H
#define TESTS_SIM_NIC_H

#include "sim/element.h"

struct sim_nic;

struct sim_nic_stats {
	uint64_t chains, segments; /**< cut; and what came of it */
	uint64_t gathered;         /**< frames that came in parts */
};

/** Frames leave as from @p port. Never NULL. */
struct sim_nic *sim_nic_create(struct sim_element *port);

/** Owns @p m, with the offloads that it asks for. */
void sim_nic_send(struct sim_nic *n, struct rte_mbuf *m);

/** The round ends: what was gathered leaves. */
void sim_nic_flush(struct sim_nic *n);

/** What has left is given back. */
void sim_nic_settle(struct sim_nic *n);

/** Is there something that waits for that? */
bool sim_nic_has_queued(const struct sim_nic *n);

const struct sim_nic_stats *sim_nic_get_stats(const struct sim_nic *n);

/** With all that it holds. */
void sim_nic_destroy(struct sim_nic *n);

#endif
