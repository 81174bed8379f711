/* SPDX-License-Identifier: BSD-2-Clause */
/** @file srq.h The inside of a shared receive queue. */
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
	uint32_t limit;               /**< tell when fewer are left; 0: do not */
	uint32_t users;               /**< QPs */
	_Atomic bool hungry;          /**< some of them wait for an element */
	LIST_HEAD(, rnic_qp) waiting; /**< those */
	struct engine_doorbell doorbell;
};

/** Bytes of one element of @p srq. */
static inline size_t srq_element_size(const struct rnic_srq *srq)
{
	return srq->rq.stride;
}

/**
 * Take the oldest element: copied to @p to, because many QPs have one each, and their Sends end
 * in any order. Raises the limit event. @return false: none is there.
 */
bool srq_take(struct rnic_srq *srq, struct rdmap_rqe *to);

#endif
