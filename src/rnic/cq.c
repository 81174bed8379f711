/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/cq.h"

#include "base/container_of.h"
#include "base/probe.h"
#include "rnic/qp.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/** Polls that find the engine taken before a thread lets its holder have the core. */
#define MISSES_MAX 64

static void cq_notify(struct rnic_cq *cq)
{
	if (atomic_exchange(&cq->armed, CQ_ARM_NONE) != CQ_ARM_NONE && cq->notify)
		cq->notify(cq->context);
}

/* ---- moderation -------------------------------------------------------------------------- */

static void cq_release(struct rnic_cq *cq)
{
	cq->withheld = 0;
	timer_stop(&cq->rnic->engine->wheel, &cq->moderate_timer);
	cq_notify(cq);
}

static void cq_period_over(struct timer *t, uint64_t now)
{
	cq_release(container_of(t, struct rnic_cq, moderate_timer));
}

/** A completion that is worth a notification, unless those are to be few. */
static void cq_signal(struct rnic_cq *cq)
{
	struct engine *e = cq->rnic->engine;

	cq->withheld++;
	if (!cq->moderated || (cq->moderate_count && cq->withheld >= cq->moderate_count))
		cq_release(cq);
	else if (cq->moderate_period && !timer_running(&cq->moderate_timer))
		timer_start(&e->wheel, &cq->moderate_timer, e->now + cq->moderate_period);
}

void rnic_cq_moderate(struct rnic_cq *cq, uint16_t count, uint64_t period)
{
	struct engine *e = cq->rnic->engine;

	engine_lock(e);
	cq->moderated = count > 1 || period;
	cq->moderate_count = count;
	cq->moderate_period = period;
	/* What was withheld by the old measure is told now. */
	if (cq->withheld)
		cq_release(cq);
	engine_unlock(e);
}

/* ---- create, destroy, resize -------------------------------------------------------------- */

int rnic_cq_create(struct rnic *r, uint32_t cqe, rnic_cq_notify_fn *notify, void *context,
	struct rnic_cq **out)
{
	struct rnic_cq *cq;
	int rc = 0;

	if (!cqe || cqe > r->limits.max_cqe)
		return -EINVAL;
	cq = aligned_alloc(64, sizeof *cq);
	if (!cq)
		return -ENOMEM;
	memset(cq, 0, sizeof *cq);
	cq->rnic = r;
	cq->notify = notify;
	cq->context = context;
	timer_init(&cq->moderate_timer, cq_period_over);
	cq->mask = rnic_round_up(cqe) - 1;
	cq->ring = malloc(((size_t)cq->mask + 1) * sizeof *cq->ring);
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	if (cq->ring) {
		engine_lock(r->engine);
		if (r->cq_count < r->limits.max_cq) {
			r->cq_count++;
			LIST_INSERT_HEAD(&r->cqs, cq, link);
			cq->num = ++r->next_cq_num;
		} else {
			rc = -ENOMEM;
		}
		engine_unlock(r->engine);
	} else {
		rc = -ENOMEM;
	}
	if (rc) {
		pthread_spin_destroy(&cq->lock);
		free(cq->ring);
		free(cq);
	} else {
		*out = cq;
	}
	return rc;
}

int rnic_cq_retire(struct rnic_cq *cq)
{
	struct rnic *r = cq->rnic;
	bool busy;

	engine_lock(r->engine);
	busy = !LIST_EMPTY(&cq->senders) || !LIST_EMPTY(&cq->receivers);
	if (!busy) {
		cq->retired = true;
		cq->notify = NULL;
		r->cq_count--;
		if (r->walk_cq == cq)
			r->walk_cq = LIST_NEXT(cq, link);
		LIST_REMOVE(cq, link);
		timer_stop(&r->engine->wheel, &cq->moderate_timer);
	}
	engine_unlock(r->engine);
	return busy ? -EBUSY : 0;
}

void rnic_cq_free(struct rnic_cq *cq)
{
	pthread_spin_destroy(&cq->lock);
	free(cq->ring);
	free(cq->times);
	free(cq);
}

int rnic_cq_destroy(struct rnic_cq *cq)
{
	int rc = rnic_cq_retire(cq);

	if (!rc)
		rnic_cq_free(cq);
	return rc;
}

int rnic_cq_keep_times(struct rnic_cq *cq)
{
	cq->times = malloc(rnic_cq_size(cq) * sizeof *cq->times);
	return cq->times ? 0 : -ENOMEM;
}

void rnic_cq_ignore_overrun(struct rnic_cq *cq)
{
	cq->ignores_overrun = true;
}

uint32_t rnic_cq_size(const struct rnic_cq *cq)
{
	return cq->mask + 1;
}

/** A ring, and times for it if @p timed. @return false: no memory. */
static bool cq_alloc(uint32_t size, bool timed, struct cq_entry **ring, uint64_t **times)
{
	*ring = malloc((size_t)size * sizeof **ring);
	*times = timed ? malloc((size_t)size * sizeof **times) : NULL;
	if (*ring && (*times || !timed))
		return true;
	free(*ring);
	free(*times);
	return false;
}

/** Put the completions that are there at the front of another ring. Both locks held. */
static void cq_copy(const struct rnic_cq *cq, struct cq_entry *ring, uint64_t *times, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++) {
		ring[i] = cq->ring[(tail + i) & cq->mask];
		if (times)
			times[i] = cq->times[(tail + i) & cq->mask];
	}
}

int rnic_cq_resize(struct rnic_cq *cq, uint32_t cqe)
{
	struct engine *e = cq->rnic->engine;
	struct cq_entry *ring, *old_ring;
	uint64_t *times, *old_times;
	uint32_t size, used;
	int rc = 0;

	if (!cqe || cqe > cq->rnic->limits.max_cqe)
		return -EINVAL;
	size = rnic_round_up(cqe);
	if (!cq_alloc(size, cq->times, &ring, &times))
		return -ENOMEM;
	engine_lock(e);
	pthread_spin_lock(&cq->lock);
	used = atomic_load(&cq->head) - atomic_load(&cq->tail);
	old_ring = ring;
	old_times = times;
	if (used > size) {
		rc = -EINVAL;
	} else {
		cq_copy(cq, ring, times, used);
		old_ring = cq->ring;
		old_times = cq->times;
		cq->ring = ring;
		cq->times = times;
		cq->mask = size - 1;
		cq->tail_seen = 0;
		atomic_store(&cq->tail, 0);
		atomic_store(&cq->head, used);
	}
	pthread_spin_unlock(&cq->lock);
	engine_unlock(e);
	free(old_ring);
	free(old_times);
	return rc;
}

/**
 * The program has polled a completion, so the request's place in its queue is free. Were it free
 * earlier, a program that posts until there is no room could have more completions wait than it has
 * requests. Under the CQ's lock, and a QP's queue completes to one CQ, so its count has one writer.
 */
static void cq_release_place(const struct cq_entry *e)
{
	struct rnic_qp *qp = e->qp;

	if (e->wc.op < RDMAP_WC_RECV)
		atomic_store_explicit(&qp->sq_polled,
			atomic_load_explicit(&qp->sq_polled, memory_order_relaxed) + 1,
			memory_order_release);
	else if (!qp->srq)
		recv_queue_release(&qp->rq);
	else
		recv_queue_release_shared(&qp->srq->rq);
}

/** Take at most @p n completions that are there; one, if its time is wanted. */
static int cq_pop(struct rnic_cq *cq, int n, struct rnic_wc *wc, uint64_t *time)
{
	uint32_t tail, count;

	if (atomic_load_explicit(&cq->head, memory_order_acquire) ==
		atomic_load_explicit(&cq->tail, memory_order_relaxed))
		return 0;
	pthread_spin_lock(&cq->lock);
	tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	count = atomic_load_explicit(&cq->head, memory_order_acquire) - tail;
	if (count > (uint32_t)n)
		count = (uint32_t)n;
	for (uint32_t i = 0; i < count; i++) {
		const struct cq_entry *e = &cq->ring[(tail + i) & cq->mask];

		wc[i] = (struct rnic_wc){.wc = e->wc, .qp_num = e->qp->num};
		cq_release_place(e);
	}
	if (time && cq->times && count)
		*time = cq->times[tail & cq->mask];
	atomic_store_explicit(&cq->tail, tail + count, memory_order_release);
	pthread_spin_unlock(&cq->lock);
	return (int)count;
}

/** For engine_drive_for(): there is a completion to be polled. */
static bool cq_has_completion(const void *arg)
{
	const struct rnic_cq *cq = arg;

	return atomic_load_explicit(&cq->head, memory_order_relaxed) !=
	       atomic_load_explicit(&cq->tail, memory_order_relaxed);
}

/** Nothing is there: let the engine make progress, or its holder have the core. */
static void cq_drive(struct rnic_cq *cq)
{
	if (engine_drive_for(cq->rnic->engine, cq_has_completion, cq) != -EBUSY) {
		atomic_store_explicit(&cq->misses, 0, memory_order_relaxed);
		return;
	}
	/*
	 * The holder makes the progress that is waited for. If it is not running, because this
	 * thread spins on its core, only giving way helps.
	 */
	if (atomic_fetch_add_explicit(&cq->misses, 1, memory_order_relaxed) < MISSES_MAX)
		return;
	atomic_store_explicit(&cq->misses, 0, memory_order_relaxed);
	sched_yield();
}

static inline int cq_take(struct rnic_cq *cq, int n, struct rnic_wc *wc, uint64_t *time)
{
	int got = cq_pop(cq, n, wc, time);

	if (got == n && !engine_has_doorbells(cq->rnic->engine))
		return got;
	/*
	 * The caller sees the queue's end: the time to look for more. Also when it got some: else a
	 * program with sends that complete at once would never receive the acknowledgements that
	 * let them go on.
	 */
	if (!atomic_load_explicit(&cq->overflowed, memory_order_acquire)) {
		cq_drive(cq);
		got += cq_pop(cq, n - got, wc + got, time);
	}
	/* What came before the overflow is taken first, also when that happened just now. */
	if (!got && atomic_load_explicit(&cq->overflowed, memory_order_acquire)) {
		got = cq_pop(cq, n, wc, time);
		return got ? got : -EOVERFLOW;
	}
	return got;
}

int rnic_cq_poll(struct rnic_cq *cq, int n, struct rnic_wc *wc)
{
	if (n <= 0)
		return n < 0 ? -EINVAL : 0;
	return cq_take(cq, n, wc, NULL);
}

int rnic_cq_poll_timed(struct rnic_cq *cq, struct rnic_wc *wc, uint64_t *time)
{
	return cq_take(cq, 1, wc, time);
}

int rnic_cq_arm(struct rnic_cq *cq, bool solicited_only)
{
	int none = CQ_ARM_NONE;

	/* Verbs: asking for any completion outweighs asking for solicited ones, in any order. */
	if (solicited_only)
		atomic_compare_exchange_strong(&cq->armed, &none, CQ_ARM_SOLICITED);
	else
		atomic_store(&cq->armed, CQ_ARM_NEXT);
	/* Who asks to be told is about to sleep. */
	engine_hand_over(cq->rnic->engine);
	return 0;
}

/** A completion is lost: nobody can trust this CQ, nor the QPs that complete there, any more. */
static void cq_overflow(struct rnic_cq *cq)
{
	struct rnic_qp *qp;

	if (atomic_exchange(&cq->overflowed, true))
		return;
	LIST_FOREACH (qp, &cq->senders, send_cq_link)
		qp_cq_failed(qp);
	LIST_FOREACH (qp, &cq->receivers, recv_cq_link)
		qp_cq_failed(qp);
	rnic_raise(cq->rnic, RNIC_EVENT_CQ_ERROR, cq->context);
	cq_notify(cq);
}

/**
 * Nobody will poll it; an SRQ lives on for other QPs. Neither will anything behind it be polled,
 * when there is room again: a program must not take what follows for what came next.
 */
static void cq_lose(struct rnic_cq *cq, const struct rdmap_wc *wc, struct rnic_qp *qp)
{
	if (wc->op >= RDMAP_WC_RECV && qp->srq)
		recv_queue_release_shared(&qp->srq->rq);
	cq_overflow(cq);
	/* One that began to use the CQ since then. */
	if (!qp->cq_failed)
		qp_cq_failed(qp);
}

/** Of a CQ that ignores overruns, and seems full. */
static void cq_lose_oldest(struct rnic_cq *cq, uint32_t head)
{
	pthread_spin_lock(&cq->lock);
	cq->tail_seen = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	if (head - cq->tail_seen > cq->mask) {
		cq_release_place(&cq->ring[cq->tail_seen & cq->mask]);
		cq->tail_seen++;
		atomic_store_explicit(&cq->tail, cq->tail_seen, memory_order_release);
	}
	pthread_spin_unlock(&cq->lock);
}

static bool cq_has_room(struct rnic_cq *cq, uint32_t head)
{
	if (head - cq->tail_seen <= cq->mask)
		return true;
	cq->tail_seen = atomic_load_explicit(&cq->tail, memory_order_acquire);
	if (head - cq->tail_seen > cq->mask && cq->ignores_overrun)
		cq_lose_oldest(cq, head);
	return head - cq->tail_seen <= cq->mask;
}

void cq_push(struct rnic_cq *cq, const struct rdmap_wc *wc, struct rnic_qp *qp)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	struct cq_entry *slot = &cq->ring[head & cq->mask];
	int armed;

	if (atomic_load_explicit(&cq->overflowed, memory_order_relaxed) || !cq_has_room(cq, head)) {
		cq_lose(cq, wc, qp);
		return;
	}
	slot->wc = *wc;
	slot->qp = qp;
	PROBE4(completion, qp->num, wc->wr_id, wc->op, wc->status);
	if (cq->times)
		cq->times[head & cq->mask] = cq->rnic->engine->now;
	/*
	 * A program that arms the CQ polls it once more before it sleeps. Sequentially consistent:
	 * either that poll sees this completion, or this sees the arming.
	 */
	atomic_store(&cq->head, head + 1);
	armed = atomic_load(&cq->armed);
	if (armed == CQ_ARM_NEXT ||
		(armed == CQ_ARM_SOLICITED &&
			(wc->flags & RDMAP_WC_SOLICITED || wc->status != RDMAP_WC_SUCCESS)))
		cq_signal(cq);
}

void cq_purge(struct rnic_cq *cq, struct rnic_qp *qp)
{
	uint32_t to, from, head;

	pthread_spin_lock(&cq->lock);
	head = atomic_load(&cq->head);
	to = atomic_load(&cq->tail);
	for (from = to; from != head; from++) {
		if (cq->ring[from & cq->mask].qp == qp) {
			cq_release_place(&cq->ring[from & cq->mask]);
			continue;
		}
		if (cq->times)
			cq->times[to & cq->mask] = cq->times[from & cq->mask];
		cq->ring[to++ & cq->mask] = cq->ring[from & cq->mask];
	}
	atomic_store(&cq->head, to);
	pthread_spin_unlock(&cq->lock);
}
