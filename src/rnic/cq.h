/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cq.h
 * Private: a completion queue. It is a ring. The producer holds the engine's lock and the consumer
 * the CQ's own lock, so neither waits for the other.
 */
#ifndef RNIC_CQ_H
#define RNIC_CQ_H

#include "rnic/device.h"

struct rnic_qp;

enum cq_arm { CQ_ARM_NONE, CQ_ARM_SOLICITED, CQ_ARM_NEXT };

/** A completion in the ring. When it is polled, its QP's queue has room for another request. */
struct cq_entry {
	struct rdmap_wc wc;
	struct rnic_qp *qp; /**< lives at least until cq_purge() */
};

struct rnic_cq {
	LIST_ENTRY(rnic_cq) link;
	struct rnic *rnic;
	uint32_t num; /**< for people */
	rnic_cq_notify_fn *notify;
	void *context;
	LIST_HEAD(, rnic_qp) senders, receivers;
	bool retired; /**< no QP may begin to use it; under the engine's lock */

	/* Changed with both locks held (resize), so read under either. */
	struct cq_entry *ring;
	uint64_t *times; /**< when each was added, ns; NULL: not kept */
	uint32_t mask;

	/* The producer's line. */
	_Alignas(64) _Atomic uint32_t head;
	uint32_t tail_seen; /**< the last value of tail that was read */
	_Atomic bool overflowed;
	bool ignores_overrun; /**< a completion without room takes the oldest one's place */

	/* Moderation of notifications, under the engine's lock. */
	bool moderated;
	uint16_t moderate_count;
	uint64_t moderate_period;
	/** Completions since the last notification that would have caused one */
	uint32_t withheld;
	struct timer moderate_timer;

	/* The consumers' line. */
	_Alignas(64) _Atomic uint32_t tail;
	pthread_spinlock_t lock;
	_Atomic int armed;       /**< enum cq_arm */
	_Atomic unsigned misses; /**< polls in a row that found the engine's lock taken */
};

/** Add a completion. If there is no room the CQ and its QPs fail. Engine's lock held. */
void cq_push(struct rnic_cq *cq, const struct rdmap_wc *wc, struct rnic_qp *qp);

/**
 * Remove the completions of a QP, as if they had been polled, when it is destroyed or reset.
 * Afterwards the CQ has no pointer to @p qp. Engine's lock held.
 */
void cq_purge(struct rnic_cq *cq, struct rnic_qp *qp);

#endif
