/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file scenario.h
 * A dumbbell: flows between pairs of hosts that share one bottleneck, for a time; and what came of
 * it.
 */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include "sim/flow.h"
#include "sim/path.h"
#include "sim/sampler.h"
#include "sim/switch.h"

#define SIM_SCENARIO_FLOWS 128
/** Of the first flow's receiver; those of the others follow. */
#define SIM_SCENARIO_PORT 5001

struct sim_scenario_flow {
	enum sim_flow_kind kind;
	const char *cc;    /**< NULL: the stack's default */
	uint64_t start;    /**< ns from the beginning */
	uint64_t rtt_more; /**< ns: its own way adds this to the round trip */
};

struct sim_scenario_config {
	uint64_t seed;
	uint64_t rate;  /**< of the bottleneck, bits per second, Ethernet headers counted */
	uint64_t rtt;   /**< ns, without queueing and without the time on the line */
	uint64_t queue; /**< bytes; 0: one BDP */
	/** All else of the bottleneck's direction; rate, delay and limit of its queue are filled
	 * in. */
	struct sim_path_config forward;
	/** Of the way of the ACKs; without a rate of its own: infinite. */
	struct sim_path_config backward;
	uint16_t mtu; /**< 0: 1500 */
	bool v6;
	uint64_t poll;     /**< see struct sim_host_config */
	uint64_t duration; /**< ns */
	uint64_t settle;   /**< ns at the beginning that do not count; 0: 5 s */
	uint64_t sample;   /**< ns between two samples; 0: duration / 600 */
	uint64_t window;   /**< receive and send buffers at most, bytes; 0: as the stack chooses */
	struct tcp_stack_config tcp; /**< other options of all stacks */
	unsigned n_flows;
	struct sim_scenario_flow flow[SIM_SCENARIO_FLOWS];
};

struct sim_scenario {
	struct sim_scenario_config cfg;
	struct sim *sim;
	uint64_t began; /**< virtual time */
	struct sim_host *from[SIM_SCENARIO_FLOWS], *to[SIM_SCENARIO_FLOWS];
	struct sim_flow *flow[SIM_SCENARIO_FLOWS];
	struct sim_sampler *sampler[SIM_SCENARIO_FLOWS];
	struct sim_switch *left, *right;
	struct sim_path forward, backward;
};

/** Build it; nothing has run yet: taps and middleboxes may be added. */
struct sim_scenario *sim_scenario_create(const struct sim_scenario_config *cfg);

/** Run until the duration is over. */
void sim_scenario_run(struct sim_scenario *x);

void sim_scenario_destroy(struct sim_scenario *x);

/** Bits per second of flow @p i between two times from the beginning: TCP's text, or RDMA's. */
double sim_scenario_goodput(const struct sim_scenario *x, unsigned i, uint64_t from, uint64_t to);

/**
 * Bits per second that the bottleneck could carry of flow @p i's text if it were alone: its rate
 * less Ethernet, IP and TCP headers.
 */
double sim_scenario_capacity(const struct sim_scenario *x, unsigned i);

/** Jain's index of the flows' goodput between two times: 1 if all are equal, 1/n if one has all. */
double sim_scenario_fairness(const struct sim_scenario *x, uint64_t from, uint64_t to);

/** Bytes of the bandwidth-delay product. */
uint64_t sim_scenario_bdp(const struct sim_scenario_config *cfg);

#endif
