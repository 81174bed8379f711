/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file post_batch.h
 * Decides whether a post may wait for the next one. Each small message that is sent alone costs a
 * turn of the engine's lock and a packet. A few together cost hardly more than one. So the first
 * few posts of a series go at once. The others wait until there are enough of them or the program
 * polls. If it never polls, see engine_ring_lazy().
 */
#ifndef RNIC_POST_BATCH_H
#define RNIC_POST_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RNIC_POST_BATCH_GAP_NS UINT64_C(1000) /**< a longer pause between posts ends a series */
#define RNIC_POST_BATCH_FIRST  4              /**< posts of a series that go at once */
#define RNIC_POST_BATCH_MOST   16             /**< posts that go together */
#define RNIC_POST_BATCH_BYTES  128            /**< larger posts do not wait */

/** The state of one send queue, under its lock but for last. Zero-initialised: no series yet. */
struct rnic_post_batch {
	_Atomic uint64_t last; /**< ns, when the last post ended */
	uint32_t bytes;        /**< of the post being made */
	uint8_t first, held;
};

/**
 * A post is complete.
 * @param now ns, of a clock that all threads share.
 * @param room elements of the send queue. Half of them may wait.
 * @return true: it waits for the next post.
 */
static inline bool rnic_post_batch_add(struct rnic_post_batch *g, uint64_t now, uint32_t room)
{
	uint32_t most = room / 2 < RNIC_POST_BATCH_MOST ? room / 2 : RNIC_POST_BATCH_MOST;
	bool small = g->bytes <= RNIC_POST_BATCH_BYTES;
	uint64_t last = atomic_load_explicit(&g->last, memory_order_relaxed);
	bool series = now <= last || now - last <= RNIC_POST_BATCH_GAP_NS;

	g->bytes = 0;
	atomic_store_explicit(&g->last, now, memory_order_relaxed);
	if (!series)
		g->first = 0;
	if (g->first < RNIC_POST_BATCH_FIRST) {
		g->first++;
		g->held = 0;
		return false;
	}
	if (!small || ++g->held >= most) {
		g->held = 0;
		return false;
	}
	return true;
}

/**
 * A post that did not wait has been sent. To send takes longer than many a pause: the pause before
 * the next post begins here. Without the queue's lock.
 * @param now ns, as in rnic_post_batch_add().
 */
static inline void rnic_post_batch_sent(struct rnic_post_batch *g, uint64_t now)
{
	atomic_store_explicit(&g->last, now, memory_order_relaxed);
}

#endif
