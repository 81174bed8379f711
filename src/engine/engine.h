/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file engine.h
 * An engine is a port queue with all its TCP connections and QPs, under a single lock. Engines
 * share nothing. A second queue is a second engine.
 *
 * Any thread may drive an engine: a thread inside a verb (no thread hop), or the engine's own
 * thread. See docs/architecture.md, "Progress".
 *
 * The lock is taken once per round or per verb, never per packet. A thread on the fast path only
 * tries to take it. If that fails it leaves a doorbell, which the holder of the lock serves before
 * it releases the lock.
 *
 * The holder of the lock cannot be cancelled (pthread_cancel()). A port's system calls are
 * cancellation points, and the lock would stay taken for ever.
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

/**
 * What the port below does for the engine. All but wake() and clock_unlocked() are called with the
 * lock held.
 */
struct engine_ops {
	/** Nanoseconds on a monotonic clock. */
	uint64_t (*clock)(void *ctx);
	/** This thread has taken the lock, or is about to release it (see dpdk-port/lcore.h). */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	/** Run one round: receive a burst, hand it up, run due timers. @return packets handled. */
	unsigned (*poll)(void *ctx, uint64_t now);
	/** Send what the stack has queued for the port. Called before the lock is released. */
	void (*flush)(void *ctx);
	/** The engine's thread may sleep past the deadline: wake it. Called by any thread. */
	void (*wake)(void *ctx);
	/**
	 * Nanoseconds on the same clock, for any thread, without the lock. It may be a little
	 * behind or ahead of clock(). NULL: engine_ring_begin_lazy() must not be used.
	 */
	uint64_t (*clock_unlocked)(void *ctx);
	/**
	 * After poll(): may flush() wait for the next holder of the lock? Only if nobody waits for
	 * what it would do: no peer for a frame, and no program for room. NULL: it never may.
	 */
	bool (*flush_may_wait)(void *ctx);
};

/** Embedded in the object that rings, such as a QP. Zero-initialised is idle. */
struct engine_doorbell {
	struct engine_doorbell *_Atomic next;
	_Atomic bool queued;
	/** Called by the holder of the lock at least once after each ring. */
	void (*serve)(struct engine_doorbell *d);
};

struct engine {
	pthread_mutex_t lock;
	struct cancel_hold hold; /**< of the thread that has the lock */
	const struct engine_ops *ops;
	void *ctx;
	struct timer_wheel wheel;
	uint64_t now; /**< the time of this round; under the lock */
	struct engine_doorbell *_Atomic doorbells;
	_Atomic uint64_t deadline;       /**< timer_wheel_next() when the lock was last released */
	_Atomic uint64_t sleeping_until; /**< set by the engine's thread while it sleeps, else 0 */
	/** Threads in engine_lock(); engine_trylock() gives way to them */
	_Atomic unsigned waiting;
	_Atomic bool held; /**< a thread has the lock; only a hint */
	_Atomic bool over; /**< see engine_end() */
	_Atomic bool open; /**< a round waits for its flush; see engine_drive_for() */
	/** Set by the engine's thread while it leaves the driving to the application */
	_Atomic bool away;
	_Atomic bool handed_over;                /**< see engine_hand_over() */
	struct engine_doorbell *_Atomic wakeups; /**< see engine_wake_after() */
	pthread_mutex_t waking;                  /**< of who serves them */
	/** How often threads of the program were woken that slept; see engine_has_woken() */
	_Atomic uint64_t woken;
	/** What application threads did. The engine's thread decides by it. */
	struct engine_visits {
		/** Rounds and doorbells; the lock's holder writes it */
		_Atomic uint64_t rounds;
		/** Rounds that found the engine taken, and deferred doorbells; approximate */
		_Atomic uint64_t others;
	} visits;
};

/** Prepare @p e; the wheel starts at ops->clock(). */
void engine_init(struct engine *e, const struct engine_ops *ops, void *ctx);
void engine_fini(struct engine *e);

/** Take the lock, set e->now, and serve deferred doorbells. For the control path: it may wait. */
void engine_lock(struct engine *e);

/**
 * As engine_lock(), but wait for at most @p ms. For the end of the process, and for those who only
 * look: the lock may be held by a thread that no longer exists, or by the caller, which is in a
 * signal handler.
 * @return true when this thread holds it now.
 */
bool engine_lock_within(struct engine *e, unsigned ms);

/**
 * Try to take the lock, and set e->now. It fails while another thread waits in engine_lock().
 * Otherwise a thread that polls in a loop would starve that thread.
 * @return true when this thread holds it now.
 */
bool engine_trylock(struct engine *e);

/**
 * Serve the doorbells, flush the port, publish the deadline and release the lock. If a doorbell
 * came meanwhile, do it again. Wakes the engine's thread if it would sleep past the new deadline.
 */
void engine_unlock(struct engine *e);

/**
 * As engine_unlock(), for the last time: the process ends, and its other threads may be in a verb,
 * or come to one that somebody who ends waits for. From now on nobody drives, no doorbell is served
 * and nothing is flushed. engine_trylock() fails, as with an engine that is held for good;
 * engine_lock() does not, so that nobody waits in it.
 */
void engine_end(struct engine *e);

/**
 * Drive one round, unless another thread does. For application threads: it counts as a
 * visit, also if it fails.
 * @return packets handled, or -EBUSY when another thread holds the engine.
 */
int engine_drive(struct engine *e);

/**
 * As engine_drive(), for a thread that waits for something. If that has come, and ops say that the
 * flush may wait, the thread goes on at once. The next holder of the lock flushes: the same thread
 * when it posts or polls again, or else the engine's thread, which looks after at most 1 ms
 * (IDLE_AWAY_NS). If that thread may sleep longer, nothing waits.
 * @param has_come called with the lock held, after the round.
 * @return packets handled, or -EBUSY when another thread holds the engine.
 */
int engine_drive_for(struct engine *e, bool (*has_come)(const void *arg), const void *arg);

/** Ring @p d: serve it now if the engine is free, else the holder of the lock does. Any thread. */
void engine_ring(struct engine *e, struct engine_doorbell *d);

/** What engine_ring_begin() has done, for engine_ring_end(). */
enum engine_rung {
	ENGINE_RUNG_MINE,   /**< the caller has the engine, and is to serve the doorbell */
	ENGINE_RUNG_QUEUED, /**< who has the engine serves it */
	ENGINE_RUNG_LAZY,   /**< the next who has it does */
};

/**
 * The first half of engine_ring(), for an owner of @p d that may be destroyed by another thread as
 * soon as it has been served. Called under a lock of the owner's own, which is let go before the
 * second half, and which its destruction takes once, with the engine's lock held: from then on the
 * owner may be touched only if this returned ENGINE_RUNG_MINE, and only until the second half.
 * Never waits. Any thread.
 */
enum engine_rung engine_ring_begin(struct engine *e, struct engine_doorbell *d);

/**
 * The same without urgency: the next holder of the lock serves @p d. That is the caller when it
 * polls, or else the engine's thread, which looks after at most 1 ms (IDLE_AWAY_NS). If that thread
 * may sleep longer, @p d is served at once, by engine_ring_end(). Needs ops->clock_unlocked.
 */
enum engine_rung engine_ring_begin_lazy(struct engine *e, struct engine_doorbell *d);

/** The second half: the engine goes on. @param rung what the first half returned. */
void engine_ring_end(struct engine *e, enum engine_rung rung);

/**
 * The caller is an application thread that is about to sleep: from now on the engine's thread
 * drives. If it does so already, this costs no system call. Any thread.
 */
void engine_hand_over(struct engine *e);

/** For the engine's thread: has the engine been handed over to it since the last call? */
bool engine_is_handed_over(struct engine *e);

/** True while a thread has the lock, by the time it is looked at. */
static inline bool engine_is_held(const struct engine *e)
{
	return atomic_load_explicit(&e->held, memory_order_relaxed);
}

/** How often application threads have come by: they drove, tried to, or posted. Approximate. */
static inline uint64_t engine_count_visits(const struct engine *e)
{
	return atomic_load_explicit(&e->visits.rounds, memory_order_relaxed) +
	       atomic_load_explicit(&e->visits.others, memory_order_relaxed);
}

/** The value of @p expr, which is evaluated with the lock of @p e held. */
#define ENGINE_LOCKED(e, expr)            \
	({                                \
		struct engine *e_ = (e);  \
		__typeof__(expr) result_; \
                                          \
		engine_lock(e_);          \
		result_ = (expr);         \
		engine_unlock(e_);        \
		result_;                  \
	})

/** True if there are doorbells to be served. Any thread. */
static inline bool engine_has_doorbells(struct engine *e)
{
	return atomic_load_explicit(&e->doorbells, memory_order_relaxed) != NULL;
}

/** True if doorbells or a flush wait for whoever takes the lock next. Any thread. */
static inline bool engine_is_expectant(struct engine *e)
{
	return atomic_load(&e->open) || atomic_load(&e->doorbells);
}

/**
 * Serve @p d soon after this thread has released the lock, by whichever thread: there the program
 * is woken, which then finds the engine free. Not under the lock, so engine_settle() comes before
 * the object that embeds @p d is freed. The lock must be held.
 */
void engine_wake_after(struct engine *e, struct engine_doorbell *d);

/**
 * When this returns, all is served that engine_wake_after() was called for before. Without the
 * lock, and without any that serve() takes.
 */
void engine_settle(struct engine *e);

/** For serve() after engine_wake_after(): a thread slept, which drives when it has the core. */
static inline void engine_has_woken(struct engine *e)
{
	atomic_fetch_add_explicit(&e->woken, 1, memory_order_relaxed);
}

static inline uint64_t engine_count_woken(const struct engine *e)
{
	return atomic_load_explicit(&e->woken, memory_order_relaxed);
}

/** Serve @p d when this thread releases the lock. The lock must be held. */
void engine_defer(struct engine *e, struct engine_doorbell *d);

/**
 * Take @p d off the list before the object that embeds it is freed. The lock must be held, and no
 * thread may ring @p d any more.
 */
void engine_doorbell_cancel(struct engine *e, struct engine_doorbell *d);

#endif
