/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

/** Of the time that engine_lock_within() waits. */
#define LOCK_SLICES 20u

void engine_init(struct engine *e, const struct engine_ops *ops, void *ctx)
{
	pthread_mutex_init(&e->lock, NULL);
	e->ops = ops;
	e->ctx = ctx;
	e->now = ops->clock(ctx);
	timer_wheel_init(&e->wheel, e->now);
	atomic_init(&e->doorbells, NULL);
	atomic_init(&e->deadline, TIMER_NEVER);
	atomic_init(&e->sleeping_until, 0);
	atomic_init(&e->waiting, 0);
	atomic_init(&e->held, false);
	atomic_init(&e->over, false);
	atomic_init(&e->open, false);
	atomic_init(&e->away, false);
	atomic_init(&e->handed_over, false);
	atomic_init(&e->wakeups, NULL);
	pthread_mutex_init(&e->waking, NULL);
	atomic_init(&e->woken, 0);
	atomic_init(&e->visits.rounds, 0);
	atomic_init(&e->visits.others, 0);
}

void engine_fini(struct engine *e)
{
	pthread_mutex_destroy(&e->waking);
	pthread_mutex_destroy(&e->lock);
}

static void engine_entered(struct engine *e)
{
	atomic_store_explicit(&e->held, true, memory_order_relaxed);
	e->ops->enter(e->ctx);
	e->now = e->ops->clock(e->ctx);
}

/** With the lock. */
static bool engine_is_over(struct engine *e)
{
	return atomic_load_explicit(&e->over, memory_order_relaxed);
}

static bool engine_try(struct engine *e)
{
	struct cancel_hold hold = cancel_hold();
	bool locked = pthread_mutex_trylock(&e->lock) == 0;

	if (locked && engine_is_over(e)) {
		pthread_mutex_unlock(&e->lock);
		locked = false;
	}
	if (!locked) {
		cancel_release(hold);
		return false;
	}
	e->hold = hold;
	engine_entered(e);
	return true;
}

bool engine_trylock(struct engine *e)
{
	/* Waiting threads go first. */
	return !atomic_load(&e->waiting) && engine_try(e);
}

/** Take all of a list. Newest first, as they were pushed. */
static struct engine_doorbell *engine_list_take(struct engine_doorbell *_Atomic *list)
{
	if (!atomic_load(list))
		return NULL;
	return atomic_exchange(list, NULL);
}

static void engine_list_push(struct engine_doorbell *_Atomic *list, struct engine_doorbell *d)
{
	struct engine_doorbell *old = atomic_load(list);

	do
		atomic_store(&d->next, old);
	while (!atomic_compare_exchange_weak(list, &old, d));
}

/** If it is queued already, it has yet to be served, and sees what is new by then. */
static void engine_list_add(struct engine_doorbell *_Atomic *list, struct engine_doorbell *d)
{
	if (!atomic_exchange(&d->queued, true))
		engine_list_push(list, d);
}

static void engine_list_serve(struct engine_doorbell *_Atomic *list)
{
	struct engine_doorbell *d = engine_list_take(list), *first = NULL, *next;

	/* Oldest first: nobody is overtaken for ever. */
	for (; d; d = next) {
		next = atomic_load(&d->next);
		atomic_store(&d->next, first);
		first = d;
	}
	for (d = first; d; d = next) {
		/* Once it is not queued another thread may push it, and so change its next. */
		next = atomic_load(&d->next);
		atomic_store(&d->queued, false);
		d->serve(d);
	}
}

static void engine_doorbells_serve(struct engine *e)
{
	if (!engine_is_over(e))
		engine_list_serve(&e->doorbells);
}

static void engine_flush(struct engine *e)
{
	if (!engine_is_over(e))
		e->ops->flush(e->ctx);
}

void engine_lock(struct engine *e)
{
	struct cancel_hold hold = cancel_hold();

	atomic_fetch_add(&e->waiting, 1);
	pthread_mutex_lock(&e->lock);
	atomic_fetch_sub(&e->waiting, 1);
	e->hold = hold;
	engine_entered(e);
	/* What was posted before goes before what the caller is about to do. */
	engine_doorbells_serve(e);
}

static bool engine_mutex_within(pthread_mutex_t *lock, unsigned ms)
{
	struct timespec end;

	/* Not pthread_mutex_clocklock(): ThreadSanitizer does not know it. If somebody sets the
	 * clock meanwhile, who waits for an engine that is stuck waits longer or shorter. */
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	return pthread_mutex_timedlock(lock, &end) == 0;
}

bool engine_lock_within(struct engine *e, unsigned ms)
{
	struct cancel_hold hold = cancel_hold();
	bool locked = false;

	atomic_fetch_add(&e->waiting, 1);
	/* In slices: of time in which this process stood still one at most passes, and then who
	 * has the lock gets its time, too. */
	for (unsigned i = 0; i < LOCK_SLICES && !locked; i++)
		locked = engine_mutex_within(&e->lock, ms / LOCK_SLICES + 1);
	atomic_fetch_sub(&e->waiting, 1);
	if (!locked) {
		/* Who let go meanwhile has left to this thread what was rung. */
		if (atomic_load(&e->doorbells) && engine_try(e))
			engine_unlock(e);
		cancel_release(hold);
		return false;
	}
	e->hold = hold;
	engine_entered(e);
	engine_doorbells_serve(e);
	return true;
}

/**
 * A thread that finds another here has pushed before: that one sees it when it has let go. So no
 * thread that has had the engine waits for one that wakes.
 */
static void engine_wake(struct engine *e)
{
	while (atomic_load(&e->wakeups) && !pthread_mutex_trylock(&e->waking)) {
		engine_list_serve(&e->wakeups);
		pthread_mutex_unlock(&e->waking);
	}
}

void engine_wake_after(struct engine *e, struct engine_doorbell *d)
{
	engine_list_add(&e->wakeups, d);
}

void engine_settle(struct engine *e)
{
	struct cancel_hold hold = cancel_hold();

	pthread_mutex_lock(&e->waking);
	engine_list_serve(&e->wakeups);
	pthread_mutex_unlock(&e->waking);
	engine_wake(e);
	cancel_release(hold);
}

/** Release the lock, and wake whom it is due. @return the next deadline, which is published. */
static uint64_t engine_let_go(struct engine *e)
{
	uint64_t deadline = timer_wheel_next(&e->wheel);

	/*
	 * Releasing the lock is a full barrier on x86, and with the loads that follow on ARM, where
	 * a release is not passed by an acquire: sleeping_until is read after this.
	 */
	atomic_store_explicit(&e->deadline, deadline, memory_order_release);
	e->ops->leave(e->ctx);
	atomic_store_explicit(&e->held, false, memory_order_relaxed);
	pthread_mutex_unlock(&e->lock);
	engine_wake(e);
	return deadline;
}

void engine_unlock(struct engine *e)
{
	struct cancel_hold hold = e->hold;
	uint64_t deadline, asleep;

	for (;;) {
		engine_doorbells_serve(e);
		engine_flush(e);
		atomic_store_explicit(&e->open, false, memory_order_relaxed);
		deadline = engine_let_go(e);
		/*
		 * A thread that rang while the lock was held pushed first and then tried the lock:
		 * either it got the lock, or its doorbell is seen here. If the lock cannot be had
		 * now, its new holder (or the thread that waits for it) comes by here later.
		 */
		if (!atomic_load(&e->doorbells) || !engine_trylock(e))
			break;
	}
	asleep = atomic_load(&e->sleeping_until);
	if (asleep > deadline)
		e->ops->wake(e->ctx);
	cancel_release(hold);
}

void engine_end(struct engine *e)
{
	atomic_store_explicit(&e->over, true, memory_order_relaxed);
	engine_unlock(e);
}

static void engine_add_one(_Atomic uint64_t *counter)
{
	uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, n + 1, memory_order_relaxed);
}

/** Take the lock and run a round. @return packets; -EBUSY: another thread has the lock. */
static int engine_round(struct engine *e)
{
	if (!engine_trylock(e)) {
		engine_add_one(&e->visits.others);
		return -EBUSY;
	}
	engine_add_one(&e->visits.rounds);
	return (int)e->ops->poll(e->ctx, e->now);
}

int engine_drive(struct engine *e)
{
	int n = engine_round(e);

	if (n != -EBUSY)
		engine_unlock(e);
	return n;
}

/** Shall the flush of this round be left to the next holder of the lock? */
static bool engine_leave_open(struct engine *e)
{
	if (!e->ops->flush_may_wait || engine_has_doorbells(e) || !e->ops->flush_may_wait(e->ctx))
		return false;
	/* Before the thread sleeps long it says so, then looks here: one of the two sees it. */
	atomic_store(&e->open, true);
	return !atomic_load(&e->sleeping_until);
}

int engine_drive_for(struct engine *e, bool (*has_come)(const void *arg), const void *arg)
{
	struct cancel_hold hold;
	int n = engine_round(e);

	if (n == -EBUSY)
		return n;
	if (!has_come(arg) || !engine_leave_open(e)) {
		engine_unlock(e);
		return n;
	}
	hold = e->hold;
	engine_let_go(e);
	/* As in engine_unlock(). */
	if (atomic_load(&e->doorbells) && engine_trylock(e))
		engine_unlock(e);
	cancel_release(hold);
	return n;
}

void engine_defer(struct engine *e, struct engine_doorbell *d)
{
	engine_list_add(&e->doorbells, d);
}

enum engine_rung engine_ring_begin(struct engine *e, struct engine_doorbell *d)
{
	if (engine_trylock(e)) {
		engine_add_one(&e->visits.rounds);
		return ENGINE_RUNG_MINE;
	}
	engine_defer(e, d);
	return ENGINE_RUNG_QUEUED;
}

enum engine_rung engine_ring_begin_lazy(struct engine *e, struct engine_doorbell *d)
{
	engine_add_one(&e->visits.others);
	engine_defer(e, d);
	return ENGINE_RUNG_LAZY;
}

void engine_ring_end(struct engine *e, enum engine_rung rung)
{
	/* The thread, before it sleeps long, says so and then looks at the doorbells. */
	if (rung == ENGINE_RUNG_LAZY && !atomic_load(&e->sleeping_until))
		return;
	if (rung == ENGINE_RUNG_MINE || engine_trylock(e))
		engine_unlock(e);
}

void engine_ring(struct engine *e, struct engine_doorbell *d)
{
	enum engine_rung rung = engine_ring_begin(e, d);

	if (rung == ENGINE_RUNG_MINE)
		d->serve(d);
	engine_ring_end(e, rung);
}

void engine_hand_over(struct engine *e)
{
	/* The engine's thread sets away and then looks at handed_over: one of the two sees it. */
	atomic_store(&e->handed_over, true);
	if (atomic_load(&e->away))
		e->ops->wake(e->ctx);
}

bool engine_is_handed_over(struct engine *e)
{
	return atomic_load_explicit(&e->handed_over, memory_order_relaxed) &&
	       atomic_exchange(&e->handed_over, false);
}

void engine_doorbell_cancel(struct engine *e, struct engine_doorbell *d)
{
	struct engine_doorbell *b, *next;

	if (!atomic_load(&d->queued))
		return;
	for (b = engine_list_take(&e->doorbells); b; b = next) {
		next = atomic_load(&b->next);
		if (b != d)
			engine_list_push(&e->doorbells, b);
	}
	atomic_store(&d->queued, false);
}
