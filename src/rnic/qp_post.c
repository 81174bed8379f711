/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting: any thread, under the queue's own lock, never waiting for the engine. */
#include "rnic/qp.h"

#include "base/prefetch.h"
#include "base/probe.h"

#include <errno.h>
#include <string.h>

/** Of so many QPs little of the next one is in the cache. */
#define QP_POST_MANY 256

/** All that a post goes through, down to the packet, at once: else it waits for line after line.
 */
static void qp_post_prefetch(const struct rnic_qp *qp)
{
	const void *mpa = atomic_load_explicit(&qp->mpa_ahead, memory_order_relaxed);

	if (!mpa || atomic_load_explicit(&qp->rnic->qps.count, memory_order_relaxed) < QP_POST_MANY)
		return;
	prefetch_range(atomic_load_explicit(&qp->llp_ahead, memory_order_relaxed), LLP_HOT);
	prefetch_range(mpa, sizeof(struct mpa));
	prefetch_range(qp, offsetof(struct rnic_qp, windows));
}

static bool qp_post_takes_sends(const struct rnic_qp *qp)
{
	switch (qp_state(qp)) {
	case RNIC_QP_RTR:
		return atomic_load(&qp->paired);
	case RNIC_QP_RESET:
	case RNIC_QP_INIT:
		return false;
	default:
		return true;
	}
}

/** Since rnic_sq_begin(). */
static bool qp_post_is_reset(const struct rnic_qp *qp)
{
	return atomic_load_explicit(&qp->resets, memory_order_acquire) != qp->sq_resets;
}

int rnic_sq_begin(struct rnic_qp *qp)
{
	qp_post_prefetch(qp);
	pthread_spin_lock(&qp->sq_lock);
	qp->post_batch.bytes = 0;
	if (qp_post_takes_sends(qp)) {
		/* In this order: if it takes sends after a reset, that is counted already. */
		qp->sq_resets = atomic_load_explicit(&qp->resets, memory_order_acquire);
		return 0;
	}
	pthread_spin_unlock(&qp->sq_lock);
	return -EINVAL;
}

void rnic_sq_hold(struct rnic_qp *qp)
{
	pthread_spin_lock(&qp->sq_lock);
}

bool rnic_qp_takes_send_imm(const struct rnic_qp *qp)
{
	return atomic_load_explicit(&qp->send_imm, memory_order_relaxed);
}

/**
 * Requests that count against the queue: those not completed, and those with a completion that
 * waits to be polled. One without a completion is free as soon as it is done. Each count only
 * grows, so an old value errs to the safe side, and at least as many elements are behind the tail.
 */
static uint32_t qp_post_sq_in_use(const struct rnic_qp *qp)
{
	return qp->sq_posted - atomic_load_explicit(&qp->sq.silent, memory_order_acquire) -
	       atomic_load_explicit(&qp->sq_polled, memory_order_acquire);
}

struct rdmap_wqe *rnic_sq_next(struct rnic_qp *qp)
{
	struct rdmap_wqe *w;

	if (qp_post_sq_in_use(qp) >= qp->sq.size)
		return NULL;
	w = rdmap_sq_at(&qp->sq, qp->sq_posted);
	memset(w, 0, sizeof *w);
	return w;
}

void rnic_sq_commit(struct rnic_qp *qp)
{
	struct rdmap_wqe *w = rdmap_sq_at(&qp->sq, qp->sq_posted);

	if (qp->sig_all)
		w->flags |= RDMAP_WR_SIGNALED;
	qp->post_batch.bytes += w->length;
	PROBE4(post, qp->num, w->wr_id, w->op, w->length);
	qp->sq_posted++;
}

static bool qp_post_is_armed(const struct rnic_cq *cq)
{
	return atomic_load_explicit(&cq->armed, memory_order_relaxed) != CQ_ARM_NONE;
}

/**
 * Shall what was just posted wait for more? Not if the program is about to sleep. Under sq_lock.
 */
static bool qp_post_may_wait(struct rnic_qp *qp)
{
	struct rnic *r = qp->rnic;
	const struct engine *e = r->engine;

	return e->ops->clock_unlocked && qp_state(qp) == RNIC_QP_RTS &&
	       !qp_post_is_armed(qp->send_cq) && !qp_post_is_armed(qp->recv_cq) &&
	       rnic_post_batch_add(&qp->post_batch, &r->post_thread, (uintptr_t)pthread_self(),
		       e->ops->clock_unlocked(e->ctx), qp->sq.size);
}

/** This thread has the engine: nobody destroys the QP yet. */
static void qp_post_send(struct rnic_qp *qp)
{
	const struct engine *e = qp->rnic->engine;

	qp->doorbell.serve(&qp->doorbell);
	if (e->ops->clock_unlocked)
		rnic_post_batch_sent(
			&qp->post_batch, &qp->rnic->post_thread, e->ops->clock_unlocked(e->ctx));
}

bool rnic_sq_end(struct rnic_qp *qp)
{
	struct engine *e = qp->rnic->engine;
	enum engine_rung rung;
	bool wait;

	/* Reset meanwhile, though it may take sends again: these were for what it was before. If it
	 * is reset just now, who serves the doorbell sees it. */
	if (!qp_post_takes_sends(qp) || qp_post_is_reset(qp)) {
		rnic_sq_abort(qp);
		return false;
	}
	wait = qp_post_may_wait(qp);
	atomic_store_explicit(&qp->sq.head, qp->sq_posted, memory_order_release);
	rung = wait ? engine_ring_begin_lazy(e, &qp->doorbell)
		    : engine_ring_begin(e, &qp->doorbell);
	/* From here on another thread may poll the completion and destroy the QP. */
	pthread_spin_unlock(&qp->sq_lock);
	if (rung == ENGINE_RUNG_MINE)
		qp_post_send(qp);
	engine_ring_end(e, rung);
	return true;
}

void rnic_sq_abort(struct rnic_qp *qp)
{
	qp->sq_posted = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
	pthread_spin_unlock(&qp->sq_lock);
}

int rnic_rq_begin(struct rnic_qp *qp)
{
	if (qp->srq)
		return -EINVAL;
	recv_queue_begin(&qp->rq);
	if (qp_state(qp) != RNIC_QP_RESET)
		return 0;
	pthread_spin_unlock(&qp->rq.lock);
	return -EINVAL;
}

struct rdmap_rqe *rnic_rq_next(struct rnic_qp *qp)
{
	return recv_queue_next(&qp->rq);
}

void rnic_rq_commit(struct rnic_qp *qp)
{
	recv_queue_commit(&qp->rq);
}

void rnic_rq_end(struct rnic_qp *qp)
{
	bool ring;

	recv_queue_publish(&qp->rq);
	/* Nobody takes it any more, so it must be flushed; or a message waits for it. Else the next
	 * Send finds it. */
	ring = qp_state(qp) == RNIC_QP_ERROR || atomic_load(&qp->recv_waits);
	recv_queue_end(&qp->rq, qp->rnic->engine, ring ? &qp->doorbell : NULL);
}
