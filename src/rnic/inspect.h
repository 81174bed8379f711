/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file inspect.h
 * What is known of an RNIC's objects, for people. It is made of what the RNIC keeps anyway: nothing
 * is counted for it while data flows. All under the engine's lock.
 */
#ifndef RNIC_INSPECT_H
#define RNIC_INSPECT_H

#include "base/walk.h"
#include "rnic/rnic.h"

/** Terminates with more different codes than this are counted together. */
#define RNIC_TERM_COUNTS 32

/** How many Terminates of each code were sent and received. */
struct rnic_term_counts {
	struct rnic_term_count {
		uint8_t layer, etype, code;
		uint64_t sent, received;
	} code[RNIC_TERM_COUNTS];
	unsigned n;
	uint64_t others_sent, others_received;
	uint64_t closed, lost; /**< streams that ended without one */
};

/** A stream has ended. */
void rnic_count_end(struct rnic_term_counts *t, const struct rdmap_end *e);

/** Counts and limits of the whole device. */
struct rnic_inspection {
	uint32_t qps, cqs, mrs, mws, srqs, pds;
	/** Connections that waited for their MPA request, and were ended to make room */
	uint64_t startups_replaced;
	bool port_up, lost;
	struct rnic_term_counts terminates;
};

void rnic_inspect(const struct rnic *r, struct rnic_inspection *out);

/**
 * A QP. Counts of elements run modulo 2^32, and begin anew at RESET; those of messages begin anew
 * with each connection.
 */
struct rnic_qp_item {
	uint32_t num;
	enum rnic_qp_state state;
	bool connected, responder;        /**< responder: the peer began the connection */
	struct ip_endpoint local, remote; /**< if connected */
	bool paired;                      /**< it connects without rdma_cm */
	bool shared_recv;                 /**< it has an SRQ */
	bool recv_waits;                  /**< a message waits for a receive element */
	uint32_t send_cq, recv_cq;        /**< their numbers */
	uint32_t send_size, recv_size;    /**< elements; recv_size 0 with an SRQ */
	uint32_t send_posted, send_started, send_completed;
	uint32_t recv_posted, recv_completed;
	uint16_t ord, ird, reads_out, reads_in; /**< Reads and Atomics: limits, and under way */
	/** Messages of DDP's queues: Sends; Read and Atomic Requests */
	uint32_t sends_sent, requests_sent, sends_received, requests_received;
	bool ended; /**< its last stream is over; end tells how */
	struct rdmap_end end;
};

/** Where a walk over QPs is; zero-initialised at its beginning. */
struct rnic_qp_walk {
	uint32_t next; /**< private */
};

/** The next step. A QP is found if it is there all the time, once, in the order of numbers. */
enum walk rnic_qp_walk(const struct rnic *r, struct rnic_qp_walk *w, struct rnic_qp_item *item);

struct rnic_cq_item {
	uint32_t num;         /**< from 1, of this RNIC; not used again */
	uint32_t size, depth; /**< depth: completions that were not polled yet */
	bool armed, overflowed;
	uint32_t withheld; /**< completions since the last notification, with moderation */
};

/** Begin a walk over CQs, or MRs. There is one of each at a time. */
void rnic_cq_walk_begin(struct rnic *r);
void rnic_mr_walk_begin(struct rnic *r);

/** The next step. What is made after the beginning is not found. */
enum walk rnic_cq_walk(struct rnic *r, struct rnic_cq_item *item);

struct rnic_mr_item {
	uint32_t stag;
	uint64_t iova, length;
	unsigned access; /**< RNIC_ACCESS_* */
	bool valid;      /**< it was not invalidated */
	uint32_t windows;
};

enum walk rnic_mr_walk(struct rnic *r, struct rnic_mr_item *item);

/** "RTS", ... */
const char *rnic_qp_state_name(enum rnic_qp_state state);

#endif
