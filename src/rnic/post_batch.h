/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file post_batch.h
 * Decides whether a post may wait for the next one. Each small message that is sent alone costs a
 * turn of the engine's lock, a burst of the port, and a packet. A few together cost hardly more
 * than one: to one queue they share all three, to several the first two. So the first few posts of
 * a series go at once. The others wait until there are enough of them or the program polls. If it
 * never polls, see engine_ring_begin_lazy().
 *
 * A series is of one queue, whoever posts, or of one thread, to whichever queues of the RNIC.
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

/**
 * The state of a send queue, under its lock but for last, or of an RNIC, without a lock: that is
 * one thread's as long as it posts, and who disturbs it makes a post wait or go that need not.
 * Zero-initialised: no series yet. An idle QP has one: 16 bytes.
 */
struct rnic_post_batch {
	_Atomic uint64_t last;  /**< ns, when the last post ended */
	_Atomic uint8_t first;  /**< posts of the series that went at once */
	_Atomic uint8_t held;   /**< posts that wait; a queue's: since turn, if it is short */
	_Atomic uint16_t turns; /**< posts that did not wait; a queue's: the RNIC's then */
	uint32_t bytes;         /**< of the post being made, which begins with 0 */
};

struct rnic_post_thread {
	struct rnic_post_batch all;
	_Atomic uintptr_t thread;
};

#define RNIC_POST_GET(field)        atomic_load_explicit(&(field), memory_order_relaxed)
#define RNIC_POST_SET(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

/** @return true if as many of the series went at once as shall, and this post may wait. */
static inline bool rnic_post_batch_is_series(struct rnic_post_batch *g, uint64_t now)
{
	uint64_t last = RNIC_POST_GET(g->last);
	uint8_t first = RNIC_POST_GET(g->first);

	RNIC_POST_SET(g->last, now);
	if (now > last && now - last > RNIC_POST_BATCH_GAP_NS)
		first = 0;
	if (first == RNIC_POST_BATCH_FIRST)
		return true;
	RNIC_POST_SET(g->first, (uint8_t)(first + 1));
	return false;
}

/** The same of @p thread. A queue's own series is not kept meanwhile. */
static inline bool rnic_post_thread_is_series(
	struct rnic_post_thread *t, uintptr_t thread, uint64_t now)
{
	if (RNIC_POST_GET(t->thread) != thread) {
		RNIC_POST_SET(t->thread, thread);
		RNIC_POST_SET(t->all.first, 0);
	}
	return rnic_post_batch_is_series(&t->all, now);
}

/** One more waits, and of this queue at most @p most. @return false: there are enough of them. */
static inline bool rnic_post_batch_hold(
	struct rnic_post_batch *g, struct rnic_post_batch *all, uint32_t most)
{
	uint8_t held = (uint8_t)(RNIC_POST_GET(all->held) + 1), mine;
	uint16_t turns;

	RNIC_POST_SET(all->held, held);
	if (held >= RNIC_POST_BATCH_MOST || most >= RNIC_POST_BATCH_MOST)
		return held < RNIC_POST_BATCH_MOST;
	turns = RNIC_POST_GET(all->turns);
	/* What waited before the last turn has gone with that, whosever it was. */
	mine = RNIC_POST_GET(g->turns) == turns ? (uint8_t)(RNIC_POST_GET(g->held) + 1) : 1;
	RNIC_POST_SET(g->turns, turns);
	RNIC_POST_SET(g->held, mine);
	return mine < most;
}

/**
 * A post is complete.
 * @param thread of the caller.
 * @param now ns, of a clock that all threads share.
 * @param room elements of the send queue. Half of them may wait.
 * @return true: it waits for the next post.
 */
static inline bool rnic_post_batch_add(struct rnic_post_batch *g, struct rnic_post_thread *t,
	uintptr_t thread, uint64_t now, uint32_t room)
{
	bool small = g->bytes <= RNIC_POST_BATCH_BYTES;
	bool series =
		rnic_post_thread_is_series(t, thread, now) || rnic_post_batch_is_series(g, now);

	if (small && series && rnic_post_batch_hold(g, &t->all, room / 2))
		return true;
	RNIC_POST_SET(t->all.held, 0);
	RNIC_POST_SET(t->all.turns, (uint16_t)(RNIC_POST_GET(t->all.turns) + 1));
	return false;
}

/**
 * A post that did not wait has been sent. To send takes longer than many a pause: the pause before
 * the next post begins here. The caller has the engine: without the queue's lock.
 * @param now ns, as in rnic_post_batch_add().
 */
static inline void rnic_post_batch_sent(
	struct rnic_post_batch *g, struct rnic_post_thread *t, uint64_t now)
{
	RNIC_POST_SET(g->last, now);
	RNIC_POST_SET(t->all.last, now);
}

#endif
