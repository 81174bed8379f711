/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file flow.h
 * Bulk traffic from one host to another: a plain TCP stream, or RDMA Writes kept several deep.
 */
#ifndef TESTS_SIM_FLOW_H
#define TESTS_SIM_FLOW_H

#include "sim/host.h"

enum sim_flow_kind { SIM_FLOW_STREAM, SIM_FLOW_RDMA };

struct sim_flow_config {
	enum sim_flow_kind kind;
	struct sim_host *from, *to;
	uint16_t port;    /**< of the receiver; one for each flow */
	uint64_t start;   /**< ns of virtual time */
	uint32_t message; /**< RDMA: bytes of a Write; 0: 1 MiB */
	uint32_t depth;   /**< RDMA: Writes that are posted and not completed; 0: 4 */
};

/** What a flow has done. Bytes are of TCP's stream, without retransmissions. */
struct sim_flow_state {
	bool connected, failed;
	uint64_t delivered;     /**< arrived in order */
	uint64_t writes;        /**< RDMA: completed */
	struct tcp_info sender; /**< zero while there is no connection */
};

struct sim_flow;

/** It begins by itself; sends until it is destroyed. */
struct sim_flow *sim_flow_create(struct sim *s, const struct sim_flow_config *cfg);

void sim_flow_get(const struct sim_flow *f, struct sim_flow_state *out);

/** Reset what is connected. Before sim_destroy(). */
void sim_flow_destroy(struct sim_flow *f);

#endif
