/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/recv_queue.h"

#include "rnic/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int recv_queue_init(struct recv_queue *q, uint32_t max_wr, uint32_t max_sge)
{
	size_t stride = sizeof(struct rdmap_rqe) + max_sge * sizeof(struct rdmap_sge);

	q->size = rnic_round_up(max_wr);
	q->stride = (uint32_t)stride;
	q->max_sge = max_sge;
	q->ring = malloc(q->size * stride);
	if (!q->ring)
		return -ENOMEM;
	pthread_spin_init(&q->lock, PTHREAD_PROCESS_PRIVATE);
	q->posted = 0;
	atomic_init(&q->head, 0);
	atomic_init(&q->tail, 0);
	atomic_init(&q->polled, 0);
	return 0;
}

void recv_queue_fini(struct recv_queue *q)
{
	if (!q->ring)
		return;
	pthread_spin_destroy(&q->lock);
	free(q->ring);
	q->ring = NULL;
}

void recv_queue_begin(struct recv_queue *q)
{
	pthread_spin_lock(&q->lock);
}

struct rdmap_rqe *recv_queue_next(struct recv_queue *q)
{
	struct rdmap_rqe *e;

	if (q->posted - atomic_load_explicit(&q->polled, memory_order_acquire) >= q->size)
		return NULL;
	e = recv_queue_at(q, q->posted);
	memset(e, 0, sizeof *e);
	return e;
}

void recv_queue_commit(struct recv_queue *q)
{
	q->posted++;
}

void recv_queue_publish(struct recv_queue *q)
{
	/* Sequentially consistent: the poster looks at the QP's state next, while a thread that
	 * moves the QP to ERROR looks at the head next. One of the two sees the other. */
	atomic_store(&q->head, q->posted);
}

void recv_queue_end(struct recv_queue *q, struct engine *e, struct engine_doorbell *owner)
{
	enum engine_rung rung;

	if (!owner) {
		pthread_spin_unlock(&q->lock);
		return;
	}
	rung = engine_ring_begin(e, owner);
	pthread_spin_unlock(&q->lock);
	if (rung == ENGINE_RUNG_MINE)
		owner->serve(owner);
	engine_ring_end(e, rung);
}

void recv_queue_wait_for_posts(struct recv_queue *q)
{
	pthread_spin_lock(&q->lock);
	pthread_spin_unlock(&q->lock);
}

void recv_queue_clear(struct recv_queue *q)
{
	pthread_spin_lock(&q->lock);
	q->posted = 0;
	atomic_store(&q->head, 0);
	atomic_store(&q->tail, 0);
	atomic_store(&q->polled, 0);
	pthread_spin_unlock(&q->lock);
}
