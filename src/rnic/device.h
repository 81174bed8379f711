/* SPDX-License-Identifier: BSD-2-Clause */
/** @file device.h Private: struct rnic. */
#ifndef RNIC_DEVICE_H
#define RNIC_DEVICE_H

#include "base/peer_set.h"
#include "rnic/id_table.h"
#include "rnic/inspect.h"
#include "rnic/post_batch.h"
#include "rnic/rnic.h"
#include "rnic/stag_table.h"
#include "rnic/ud.h"

#include <sys/queue.h>

/**
 * QP numbers have 24 bits, and the table's ids take RNIC_QP_SPACE_SHIFT. Several RNICs share an
 * address where they stand on the same host's TCP; the rest of the number tells which of them has
 * the QP.
 */
#define RNIC_QP_SPACE_SHIFT 17
/** Without the last one, whose highest number is that of multicast groups (RNIC_UD_QP_GROUP). */
#define RNIC_QP_SPACES ((1u << (24 - RNIC_QP_SPACE_SHIFT)) - 1)

struct conn;
struct conn_turns;
struct pairing_service;
struct rnic_ep;
struct sidr_service;

/** All but the constants and post_thread are under the engine's lock. */
struct rnic {
	struct engine *engine;
	struct llp_stack *net;
	struct random_source random;
	const struct log_sink *log;
	struct iwpm *mapper;      /**< NULL: none */
	struct conn_turns *turns; /**< of connects that ask it; NULL: none */
	bool mapper_required;
	struct mpa_config mpa, pairing_mpa;
	uint16_t pairing_port;           /**< 0: no pairing */
	struct pairing_service *pairing; /**< NULL: it has no port yet */
	struct ud_service ud;
	struct sidr_service *sidr;                          /**< NULL: not used yet */
	uint64_t start_timeout, close_timeout, rnr_timeout; /**< ns */
	struct rnic_limits limits;
	uint32_t max_startups, max_startups_per_peer;
	bool (*page_in)(const void *addr, size_t len, bool write);

	void (*event_fn)(void *arg, const struct rnic_event *ev);
	void *event_arg;
	void (*failure_fn)(void *arg, const struct rnic_failure *f);
	void *failure_arg;
	_Atomic bool port_up;
	bool lost; /**< the port, for good; under the engine's lock */
	uint64_t up_since;

	struct peer_set startups; /**< connections that wait for their MPA request */
	/** Start-ups that were ended before their deadline to make room */
	uint64_t startups_replaced;
	uint64_t requests_refused; /**< that their program could not take */
	struct stag_table stags;
	struct id_table qps;
	uint32_t qp_space; /**< QP numbers are (qp_space << RNIC_QP_SPACE_SHIFT) + id */
	bool has_qp_space; /**< it is settled */

	/* All objects, to count against the limits and to free at the end. */
	LIST_HEAD(, rnic_pd) pds;
	LIST_HEAD(, rnic_mr) mrs;
	LIST_HEAD(, rnic_mw) mws;
	LIST_HEAD(, rnic_cq) cqs;
	LIST_HEAD(, rnic_srq) srqs;
	LIST_HEAD(, rnic_ep) eps;
	LIST_HEAD(, conn) conns;
	/* The next of a walk (inspect.h); NULL: it is over. */
	struct rnic_cq *walk_cq;
	struct rnic_mr *walk_mr;
	uint32_t next_cq_num;
	struct rnic_term_counts terminates;
	uint32_t pd_count, mr_count, mw_count, cq_count, srq_count;
	struct rnic_post_thread post_thread;
};

/** Report an asynchronous event, if there is a handler. */
void rnic_raise(struct rnic *r, enum rnic_event_type type, void *context);

/** The smallest power of two that is at least @p n (1 - 2^31). */
static inline uint32_t rnic_round_up(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

#endif
