/* SPDX-License-Identifier: BSD-2-Clause */
/** @file srq.h Private: a shared receive queue. */
#ifndef RNIC_SRQ_H
#define RNIC_SRQ_H

#include "engine/engine.h"
#include "rnic/pd.h"
#include "rnic/recv_queue.h"

struct rnic_srq {
	LIST_ENTRY(rnic_srq) link;
	struct rnic_pd *pd;
	void *context;
	struct recv_queue rq;
	bool retired;        /**< takes no posts; changed under the engine's lock and that of rq */
	uint32_t limit;      /**< raise the event when fewer are left; 0: never */
	uint32_t users;      /**< QPs */
	_Atomic bool hungry; /**< waiting is not empty */
	TAILQ_HEAD(rnic_srq_waiting, rnic_qp) waiting; /**< for an element, the longest first */
	uint32_t told; /**< of them: whose turn it is; so many elements are theirs */
	struct engine_doorbell doorbell;
};

/** Bytes of one element of @p srq. */
static inline size_t srq_element_size(const struct rnic_srq *srq)
{
	return srq->rq.stride;
}

/**
 * Copy the oldest element to @p to, and remove it. A copy is needed because many QPs have one
 * element each, and their Sends end in any order. Raises the limit event. @return false: it is
 * empty.
 */
bool srq_take(struct rnic_srq *srq, struct rdmap_rqe *to);

#endif
