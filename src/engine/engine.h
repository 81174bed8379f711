/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file engine.h
 * One engine: a port queue with all its TCP connections and QPs, and the single lock under which
 * they all live. Engines share nothing; a second queue is a second engine.
 *
 * An engine is driven by any thread that is there: one inside a verb (inline, no thread hop), or
 * the port's own thread. See docs/architecture.md, "Progress".
 *
 * The lock is taken once per round or per verb, never per packet. A thread on the fast path only
 * tries it; if somebody holds it, it leaves a doorbell, which the holder serves before it lets go.
 *
 * Its holder cannot be cancelled (pthread_cancel()): a port's system calls are cancellation
 * points, and the lock would be held for ever.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/cancel.h"
#include "base/timer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;

/** What the port below does for the engine. All are called with the lock held, but wake(). */
struct engine_ops {
	/** Nanoseconds on a monotonic clock. */
	uint64_t (*clock)(void *ctx);
	/** The lock was taken / is about to be released by this thread (see dpdk-port/lcore.h). */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	/** One round: receive a burst, hand it up, run due timers. @return packets handled. */
	unsigned (*poll)(void *ctx, uint64_t now);
	/** Send what the stack has queued for the port. Called before the lock is released. */
	void (*flush)(void *ctx);
	/** The engine's thread may sleep past engine_deadline(): make it look again. Any thread. */
	void (*wake)(void *ctx);
	/**
	 * Nanoseconds on the same clock, for any thread, without the lock; it may be a little
	 * behind or ahead of what clock() said. NULL: no post may wait for others
	 * (engine_ring_lazy()).
	 */
	uint64_t (*clock_unlocked)(void *ctx);
};

/** Embedded in what rings: a QP, for one. Zero-initialised is idle. */
struct engine_doorbell {
	struct engine_doorbell *_Atomic next;
	_Atomic bool queued;
	/** Called by the holder of the lock, once or more after each ring. */
	void (*serve)(struct engine_doorbell *d);
};

struct engine {
	pthread_mutex_t lock;
	struct cancel_hold hold; /**< of the thread that has the lock */
	const struct engine_ops *ops;
	void *ctx;
	struct timer_wheel wheel;
	uint64_t now; /**< of this round; under the lock */
	struct engine_doorbell *_Atomic doorbells;
	_Atomic uint64_t deadline;       /**< timer_wheel_next() when the lock was last released */
	_Atomic uint64_t inline_rounds;  /**< of application threads: rounds, doorbells */
	_Atomic uint64_t sleeping_until; /**< set by the engine's thread while it sleeps, else 0 */
	_Atomic unsigned waiting;    /**< threads in engine_lock(): engine_trylock() lets them by */
	_Atomic uint64_t lazy_rings; /**< of engine_ring_lazy(), about: not under a lock */
};

/** Prepare @p e; the wheel starts at ops->clock(). */
void engine_init(struct engine *e, const struct engine_ops *ops, void *ctx);
void engine_fini(struct engine *e);

/** Take the lock (control path: may wait), set e->now, and serve what was held. */
void engine_lock(struct engine *e);

/**
 * As engine_lock(), but wait for @p ms at most: at the end of the process, when the lock may be
 * held by a thread that is no more, or by the caller, in a signal handler.
 * @return true when this thread now holds it.
 */
bool engine_lock_within(struct engine *e, unsigned ms);

/**
 * Try to take the lock, and set e->now. Fails also while another thread waits in engine_lock():
 * a thread that polls in a loop would otherwise keep the lock from it for ever.
 * @return true when this thread now holds it.
 */
bool engine_trylock(struct engine *e);

/**
 * Serve the doorbells, flush the port, publish the deadline, release; then, if a doorbell came
 * meanwhile, do it again. Wakes the engine's thread if it would sleep past the new deadline.
 */
void engine_unlock(struct engine *e);

/**
 * Drive one round, if nobody else does. For application threads: counts as inline progress.
 * @return packets handled, or -EBUSY when another thread holds the engine.
 */
int engine_drive(struct engine *e);

/** Ring @p d: serve it now if the engine is free, else leave it to the holder. Any thread. */
void engine_ring(struct engine *e, struct engine_doorbell *d);

/**
 * Ring @p d, but nobody needs to serve it yet: the next holder of the lock does. That is the caller
 * when it polls, as it is expected to; or else the engine's thread when it looks, which it does
 * after 1 ms at most (IDLE_AWAY_NS): if it may sleep longer just now, @p d is served at once. Any
 * thread. Only if ops->clock_unlocked is there.
 */
void engine_ring_lazy(struct engine *e, struct engine_doorbell *d);

/** Are there doorbells that nobody has served yet? Any thread. */
static inline bool engine_has_doorbells(struct engine *e)
{
	return atomic_load_explicit(&e->doorbells, memory_order_relaxed) != NULL;
}

/** Leave @p d to be served when this thread releases the lock. The lock must be held. */
void engine_defer(struct engine *e, struct engine_doorbell *d);

/**
 * Before freeing what embeds @p d: take it off the list. Call with the lock held, when nobody can
 * ring it any more.
 */
void engine_doorbell_cancel(struct engine *e, struct engine_doorbell *d);

#endif
