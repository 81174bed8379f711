/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file recv_queue.h
 * The ring of receive elements of a QP's receive queue or of an SRQ. Any thread may post, under the
 * ring's own lock. Elements are taken under the engine's lock.
 */
#ifndef RNIC_RECV_QUEUE_H
#define RNIC_RECV_QUEUE_H

#include "engine/engine.h"
#include "rdmap/rdmap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct recv_queue {
	uint8_t *ring;
	uint32_t size;   /**< elements; a power of two */
	uint32_t stride; /**< bytes of one */
	uint32_t max_sge;
	pthread_spinlock_t lock;
	uint32_t posted;       /**< under lock: committed, but not published in head */
	_Atomic uint32_t head; /**< elements up to here may be taken */
	_Atomic uint32_t tail; /**< elements up to here are done with */
	/** Number of elements with a completion that was polled. Their room is free again. */
	_Atomic uint32_t polled;
};

/** @return 0, -ENOMEM. */
int recv_queue_init(struct recv_queue *q, uint32_t max_wr, uint32_t max_sge);
void recv_queue_fini(struct recv_queue *q);

void recv_queue_begin(struct recv_queue *q);

/** The next element, with its header zeroed; NULL: the queue is full. */
struct rdmap_rqe *recv_queue_next(struct recv_queue *q);
void recv_queue_commit(struct recv_queue *q);

/** Publish the committed elements. The queue's owner may be looked at until recv_queue_end(). */
void recv_queue_publish(struct recv_queue *q);

/**
 * Unlock, and ring @p owner, or nobody if that is NULL. Another thread may have polled by now what
 * was published, and destroy the owner: it is not touched any more.
 */
void recv_queue_end(struct recv_queue *q, struct engine *e, struct engine_doorbell *owner);

/** A post in progress ends first. Before the owner is destroyed, engine's lock held. */
void recv_queue_wait_for_posts(struct recv_queue *q);

/** Remove all elements. Engine's lock held. */
void recv_queue_clear(struct recv_queue *q);

static inline struct rdmap_rqe *recv_queue_at(const struct recv_queue *q, uint32_t i)
{
	return (struct rdmap_rqe *)(void *)(q->ring + (size_t)(i & (q->size - 1)) * q->stride);
}

/** Number of elements that may be taken. */
static inline uint32_t recv_queue_count(const struct recv_queue *q)
{
	return atomic_load(&q->head) - atomic_load_explicit(&q->tail, memory_order_relaxed);
}

/** The @p n-th element behind the oldest, or NULL. Engine's lock held. */
static inline const struct rdmap_rqe *recv_queue_peek(const struct recv_queue *q, uint32_t n)
{
	return n < recv_queue_count(q)
		       ? recv_queue_at(q, atomic_load_explicit(&q->tail, memory_order_relaxed) + n)
		       : NULL;
}

/** The oldest element, or NULL. Engine's lock held. */
static inline const struct rdmap_rqe *recv_queue_first(const struct recv_queue *q)
{
	return recv_queue_peek(q, 0);
}

/** Remove the oldest element. Its completion follows. Engine's lock held. */
static inline void recv_queue_pop(struct recv_queue *q)
{
	atomic_store_explicit(&q->tail, atomic_load_explicit(&q->tail, memory_order_relaxed) + 1,
		memory_order_release);
}

/** The completion of an element was polled. The caller holds the lock of the QP's CQ. */
static inline void recv_queue_release(struct recv_queue *q)
{
	atomic_store_explicit(&q->polled,
		atomic_load_explicit(&q->polled, memory_order_relaxed) + 1, memory_order_release);
}

/** recv_queue_release() of an SRQ, which several CQs may call at the same time. */
static inline void recv_queue_release_shared(struct recv_queue *q)
{
	atomic_fetch_add_explicit(&q->polled, 1, memory_order_release);
}

#endif
