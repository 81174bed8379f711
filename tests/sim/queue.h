/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file queue.h
 * A line of some rate and the queue before it: tail drop, RED (Floyd and Jacobson 1993, with the
 * gentle slope) or a threshold from which on ECN-capable packets are marked (RFC 8257 section 3.1).
 */
#ifndef TESTS_SIM_QUEUE_H
#define TESTS_SIM_QUEUE_H

#include "sim/element.h"

/** Sizes in bytes; max 0: no RED. */
struct sim_red_config {
	uint64_t min, max;
	double max_p;  /**< at max; from there it grows to 1 at twice max. 0: 0.1 */
	double weight; /**< of the newest sample in the average; 0: 0.002 */
};

struct sim_queue_config {
	uint64_t rate;          /**< bits per second, Ethernet headers counted; 0: infinite */
	uint64_t limit;         /**< bytes that may wait, the one being sent included; 0: 1 MiB */
	uint64_t ecn_threshold; /**< bytes from which on ECT packets are marked; 0: none */
	struct sim_red_config red;
};

struct sim_queue_stats {
	uint64_t packets, bytes; /**< that left */
	uint64_t drops, marks;
	uint64_t max_bytes;
	double byte_ns; /**< bytes waiting, integrated over time: sim_queue_mean() */
	uint64_t since; /**< ns, when counting began */
};

struct sim_queue;

struct sim_queue *sim_queue_create(struct sim *s, const struct sim_queue_config *cfg);
struct sim_element *sim_queue_element(struct sim_queue *q);

/** May be changed at any time; the packet being sent keeps its time. */
struct sim_queue_config *sim_queue_config(struct sim_queue *q);
const struct sim_queue_stats *sim_queue_stats(struct sim_queue *q);

/** Begin to count anew. */
void sim_queue_reset_stats(struct sim_queue *q);

/** Bytes waiting now. */
uint64_t sim_queue_bytes(const struct sim_queue *q);

/** Bytes waiting, the mean over time since the counts began. */
double sim_queue_mean(struct sim_queue *q);

#endif
