/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings of send queue, receive queue and completion queue. Their counters run freely through
 * 2^32: each proof takes one step from any state that the rules allow, so it holds after any number
 * of them.
 */
#include "proofs/prove.h"

#include "rnic/cq.c"
#include "rnic/qp_post.c"
#include "rnic/recv_queue.c"

#define RING_MOST 4

static unsigned stub_locked;

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	stub_locked++;
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	stub_locked--;
	return 0;
}

/* A timer of moderation is not set in these proofs. */
void timer_start(struct timer_wheel *w, struct timer *t, uint64_t deadline)
{
	assert(false);
}

void timer_stop(struct timer_wheel *wheel, struct timer *t)
{
}

static bool stub_cq_failed;

void qp_cq_failed(struct rnic_qp *qp)
{
	stub_cq_failed = true;
}

void rnic_raise(struct rnic *r, enum rnic_event_type type, void *context)
{
	stub_cq_failed = true;
}

static uint32_t nondet_ring_size(void)
{
	uint32_t size = nondet_u32();

	assume(size == 1 || size == 2 || size == RING_MOST);
	return size;
}

/* Every number of elements that can be asked for: a power of two that holds them. */
void proof_round_up(void)
{
	uint32_t n = nondet_u32(), size;

	assume(n >= 1 && n <= UINT32_C(1) << 31);
	size = rnic_round_up(n);
	assert(size >= n && (size & (size - 1)) == 0 && size / 2 < n);
}

/* One post to any send queue: into a place that nobody uses, or there is none. */
void proof_sq_post(void)
{
	struct {
		struct rdmap_wqe w;
		uint64_t rest;
	} ring[RING_MOST];
	struct rnic_qp qp = {.sq = {.ring = (uint8_t *)ring,
				     .size = nondet_ring_size(),
				     .stride = sizeof ring[0],
				     .head = nondet_u32(),
				     .tail = nondet_u32(),
				     .silent = nondet_u32()},
		.sq_posted = nondet_u32(),
		.sq_polled = nondet_u32()};
	uint32_t in_use = qp.sq_posted - qp.sq.silent - qp.sq_polled;
	uint32_t behind = qp.sq_posted - qp.sq.tail;
	struct rdmap_wqe *w;

	/* What is completed but not polled counts too, so no more than that is behind the tail. */
	assume(in_use <= qp.sq.size && behind <= in_use);
	w = rnic_sq_next(&qp);
	assert((w == NULL) == (in_use == qp.sq.size));
	if (!w)
		return;
	assert(w == &ring[qp.sq_posted & (qp.sq.size - 1)].w);
	for (uint32_t i = 0; i < behind; i++)
		assert(rdmap_sq_at(&qp.sq, qp.sq.tail + i) != w);
	rnic_sq_commit(&qp);
	assert(qp_post_sq_in_use(&qp) == in_use + 1 && in_use + 1 <= qp.sq.size);
}

/* One step of any receive queue: posted, looked at, taken or polled. */
void proof_recv_queue(void)
{
	struct {
		struct rdmap_rqe e;
		struct rdmap_sge sge;
	} ring[RING_MOST];
	struct recv_queue q = {.ring = (uint8_t *)ring,
		.size = nondet_ring_size(),
		.stride = sizeof ring[0],
		.posted = nondet_u32(),
		.polled = nondet_u32()};
	uint32_t used = q.posted - q.polled, shown = nondet_u32(), taken = nondet_u32();
	uint32_t n = nondet_u32();
	const struct rdmap_rqe *e;

	assume(used <= q.size && shown <= used && taken <= shown);
	q.head = q.polled + shown;
	q.tail = q.polled + taken;
	e = recv_queue_next(&q);
	assert((e == NULL) == (used == q.size));
	if (e) {
		for (uint32_t i = 0; i < used; i++)
			assert(recv_queue_at(&q, q.polled + i) != e);
	}
	e = recv_queue_peek(&q, n);
	assert((e == NULL) == (n >= shown - taken));
	if (e)
		assert(e == &ring[(q.tail + n) & (q.size - 1)].e);
	if (shown != taken) {
		recv_queue_pop(&q);
		assert(recv_queue_count(&q) == shown - taken - 1);
	}
}

/* Any completion into any CQ: behind those that wait, which stay; or it overflows. */
void proof_cq_push(void)
{
	struct cq_entry ring[RING_MOST];
	struct rnic_cq cq = {.ring = ring,
		.mask = nondet_ring_size() - 1,
		.head = nondet_u32(),
		.tail = nondet_u32(),
		.tail_seen = nondet_u32()};
	uint32_t used = cq.head - cq.tail, at = nondet_u32();
	struct rnic_qp qp = {.num = 1};
	struct rdmap_wc wc = {.wr_id = nondet_u64(), .op = RDMAP_WC_SEND};
	uint64_t before;

	assume(used <= cq.mask + 1 && at < used);
	/* The tail was there once, since the ring was last full. */
	assume(cq.tail - cq.tail_seen <= cq.mask + 1 - used);
	before = ring[(cq.tail + at) & cq.mask].wc.wr_id;
	cq_push(&cq, &wc, &qp);
	assert(ring[(cq.tail + at) & cq.mask].wc.wr_id == before);
	assert(cq.overflowed == (used == cq.mask + 1));
	assert(cq.head - cq.tail == (cq.overflowed ? used : used + 1));
	if (!cq.overflowed)
		assert(ring[(cq.tail + used) & cq.mask].wc.wr_id == wc.wr_id);
}

/* Any number wanted of any CQ: the oldest, in their order, and their requests' places are free. */
void proof_cq_pop(void)
{
	struct rnic_qp qp = {.num = 1, .sq_polled = nondet_u32()};
	struct cq_entry ring[RING_MOST];
	struct rnic_cq cq = {.ring = ring,
		.mask = nondet_ring_size() - 1,
		.head = nondet_u32(),
		.tail = nondet_u32()};
	uint32_t used = cq.head - cq.tail, tail = cq.tail, polled = qp.sq_polled, i = nondet_u32();
	struct rnic_wc wc[RING_MOST];
	int wanted = (int)nondet_u8(), got;

	assume(used <= cq.mask + 1 && wanted >= 1 && wanted <= RING_MOST);
	for (unsigned k = 0; k < RING_MOST; k++)
		ring[k] = (struct cq_entry){
			.wc = {.wr_id = nondet_u64(), .op = RDMAP_WC_SEND}, .qp = &qp};
	got = cq_pop(&cq, wanted, wc, NULL);
	assert(got == (used < (uint32_t)wanted ? (int)used : wanted));
	assert(cq.tail == tail + (uint32_t)got && qp.sq_polled == polled + (uint32_t)got);
	if (i < (uint32_t)got)
		assert(wc[i].wc.wr_id == ring[(tail + i) & cq.mask].wc.wr_id);
	assert(stub_locked == 0);
}
