/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine.h"

#include "base/container_of.h"
#include "support/engine_round.h"
#include "support/slow_waker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

struct port {
	struct engine e;
	uint64_t clock;
	unsigned entered, left, polled, flushed, woken;
	bool may_wait;
	struct engine_doorbell *ring_at_leave;
};

struct doorbell {
	struct engine_doorbell d;
	struct port *port;
	unsigned served, order;
	struct engine_doorbell *ring_when_served;
};

static unsigned served_total;

static uint64_t op_clock(void *ctx)
{
	return ((struct port *)ctx)->clock;
}

static void op_enter(void *ctx)
{
	((struct port *)ctx)->entered++;
}

static void op_leave(void *ctx)
{
	struct port *p = ctx;
	struct engine_doorbell *d = p->ring_at_leave;

	p->left++;
	p->ring_at_leave = NULL;
	if (d)
		engine_ring(&p->e, d);
}

static unsigned op_poll(void *ctx, uint64_t now)
{
	struct port *p = ctx;

	assert_int_equal(now, p->clock);
	p->polled++;
	return 3;
}

static void op_flush(void *ctx)
{
	((struct port *)ctx)->flushed++;
}

static bool op_flush_may_wait(void *ctx)
{
	return ((struct port *)ctx)->may_wait;
}

static void op_wake(void *ctx)
{
	((struct port *)ctx)->woken++;
}

static const struct engine_ops ops = {
	op_clock, op_enter, op_leave, op_poll, op_flush, op_wake, op_clock, op_flush_may_wait};

static void on_serve(struct engine_doorbell *d)
{
	struct doorbell *b = container_of(d, struct doorbell, d);

	b->served++;
	b->order = ++served_total;
	if (b->ring_when_served) {
		struct engine_doorbell *next = b->ring_when_served;

		b->ring_when_served = NULL;
		engine_defer(&b->port->e, next);
	}
}

static void start(struct port *p)
{
	*p = (struct port){.clock = 5000000000};
	served_total = 0;
	engine_init(&p->e, &ops, p);
}

static struct doorbell doorbell(struct port *p)
{
	return (struct doorbell){.d.serve = on_serve, .port = p};
}

static void lock_sets_now_and_unlock_flushes(void **state)
{
	struct port p;

	start(&p);
	p.clock = 6000000000;
	engine_lock(&p.e);
	assert_int_equal(p.e.now, 6000000000);
	assert_int_equal(p.entered, 1);
	assert_false(engine_trylock(&p.e));
	engine_unlock(&p.e);
	assert_int_equal(p.flushed, 1);
	assert_int_equal(p.left, 1);
	assert_true(engine_trylock(&p.e));
	engine_unlock(&p.e);
	engine_fini(&p.e);
}

static void drive_polls_unless_busy(void **state)
{
	struct port p;

	start(&p);
	assert_int_equal(engine_drive(&p.e), 3);
	assert_int_equal(p.polled, 1);
	assert_int_equal(p.e.visits.rounds, 1);
	assert_int_equal(engine_round(&p.e), 3);
	assert_int_equal(p.e.visits.rounds, 1);
	engine_lock(&p.e);
	assert_true(engine_is_held(&p.e));
	assert_int_equal(engine_drive(&p.e), -EBUSY);
	assert_int_equal(p.polled, 2);
	/* It shows all the same that somebody polls. */
	assert_int_equal(engine_count_visits(&p.e), 2);
	engine_unlock(&p.e);
	assert_false(engine_is_held(&p.e));
	engine_fini(&p.e);
}

static void *lock_once(void *arg)
{
	engine_lock(arg);
	engine_unlock(arg);
	return NULL;
}

/* Who waits for the lock gets it, and so does who comes later; but all stands still. */
static void at_the_end_nobody_waits_and_nobody_drives(void **state)
{
	struct doorbell b;
	struct port p;
	pthread_t t;

	start(&p);
	b = doorbell(&p);
	engine_lock(&p.e);
	engine_defer(&p.e, &b.d);
	assert_int_equal(pthread_create(&t, NULL, lock_once, &p.e), 0);
	engine_end(&p.e);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(engine_drive(&p.e), -EBUSY);
	engine_ring(&p.e, &b.d);
	lock_once(&p.e);
	assert_int_equal(b.served, 0);
	assert_int_equal(p.polled, 0);
	assert_int_equal(p.flushed, 0);
	assert_int_equal(p.entered, p.left);
	engine_fini(&p.e);
}

static void who_goes_to_sleep_wakes_a_thread_that_is_away(void **state)
{
	struct port p;

	start(&p);
	assert_false(engine_is_handed_over(&p.e));
	engine_hand_over(&p.e);
	engine_hand_over(&p.e);
	assert_int_equal(p.woken, 0);
	assert_true(engine_is_handed_over(&p.e));
	assert_false(engine_is_handed_over(&p.e));
	atomic_store(&p.e.away, true);
	engine_hand_over(&p.e);
	assert_int_equal(p.woken, 1);
	assert_true(engine_is_handed_over(&p.e));
	engine_fini(&p.e);
}

static void who_tries_lets_who_waits_by(void **state)
{
	struct port p;

	start(&p);
	atomic_store(&p.e.waiting, 1);
	assert_int_equal(engine_drive(&p.e), -EBUSY);
	atomic_store(&p.e.waiting, 0);
	assert_int_equal(engine_drive(&p.e), 3);
	engine_fini(&p.e);
}

static void ring_serves_at_once_when_free(void **state)
{
	struct port p;
	struct doorbell b;

	start(&p);
	b = doorbell(&p);
	engine_ring(&p.e, &b.d);
	assert_int_equal(b.served, 1);
	assert_int_equal(p.flushed, 1);
	engine_fini(&p.e);
}

static void rung_doorbells_are_served_at_unlock_oldest_first(void **state)
{
	struct port p;
	struct doorbell b[3];

	start(&p);
	engine_lock(&p.e);
	for (unsigned i = 0; i < 3; i++) {
		b[i] = doorbell(&p);
		engine_ring(&p.e, &b[i].d);
		engine_ring(&p.e, &b[i].d);
		assert_int_equal(b[i].served, 0);
	}
	engine_unlock(&p.e);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(b[i].served, 1);
		assert_int_equal(b[i].order, i + 1);
	}
	engine_ring(&p.e, &b[0].d);
	assert_int_equal(b[0].served, 2);
	engine_fini(&p.e);
}

/** Rung while the holder was on its way out: it, or nobody, must notice. */
static void late_doorbells_are_not_lost(void **state)
{
	struct port p;
	struct doorbell b, c;

	start(&p);
	b = doorbell(&p);
	c = doorbell(&p);
	b.ring_when_served = &c.d;
	p.ring_at_leave = &b.d;
	engine_lock(&p.e);
	engine_unlock(&p.e);
	assert_int_equal(b.served, 1);
	assert_int_equal(c.served, 1);
	assert_int_equal(p.entered, p.left);
	assert_int_equal(p.flushed, p.left);
	engine_fini(&p.e);
}

static void cancel_takes_one_off_the_list(void **state)
{
	struct port p;
	struct doorbell b[3];

	start(&p);
	engine_lock(&p.e);
	for (unsigned i = 0; i < 3; i++) {
		b[i] = doorbell(&p);
		engine_defer(&p.e, &b[i].d);
	}
	engine_doorbell_cancel(&p.e, &b[1].d);
	engine_doorbell_cancel(&p.e, &b[1].d);
	engine_unlock(&p.e);
	assert_int_equal(b[0].served, 1);
	assert_int_equal(b[1].served, 0);
	assert_int_equal(b[2].served, 1);
	engine_ring(&p.e, &b[1].d);
	assert_int_equal(b[1].served, 1);
	engine_fini(&p.e);
}

static void on_timer(struct timer *t, uint64_t now)
{
}

static void a_nearer_deadline_wakes_the_sleeper(void **state)
{
	struct port p;
	struct timer t;

	start(&p);
	timer_init(&t, on_timer);
	atomic_store(&p.e.sleeping_until, p.clock + 1000000);
	engine_lock(&p.e);
	engine_unlock(&p.e);
	assert_int_equal(p.e.deadline, TIMER_NEVER);
	assert_int_equal(p.woken, 0);
	engine_lock(&p.e);
	timer_start(&p.e.wheel, &t, p.clock + 400000);
	engine_unlock(&p.e);
	assert_true(p.e.deadline <= p.clock + 400000 + TIMER_TICK_NS);
	assert_int_equal(p.woken, 1);
	atomic_store(&p.e.sleeping_until, 0);
	engine_lock(&p.e);
	engine_unlock(&p.e);
	assert_int_equal(p.woken, 1);
	engine_fini(&p.e);
}

static void ring_lazily(struct engine *e, struct engine_doorbell *d)
{
	engine_ring_end(e, engine_ring_begin_lazy(e, d));
}

static void a_lazy_doorbell_waits_for_whoever_comes(void **state)
{
	struct port p;
	struct doorbell b;

	start(&p);
	b = doorbell(&p);
	ring_lazily(&p.e, &b.d);
	ring_lazily(&p.e, &b.d);
	assert_int_equal(b.served, 0);
	assert_int_equal(p.entered, 0);
	assert_true(engine_has_doorbells(&p.e));
	engine_drive(&p.e);
	assert_int_equal(b.served, 1);
	assert_false(engine_has_doorbells(&p.e));
	/* Before anything that its poster may do next. */
	ring_lazily(&p.e, &b.d);
	engine_lock(&p.e);
	assert_int_equal(b.served, 2);
	engine_unlock(&p.e);
	assert_int_equal(b.served, 2);
	/* Nobody would come soon. */
	atomic_store(&p.e.sleeping_until, p.clock + 1000000);
	ring_lazily(&p.e, &b.d);
	assert_int_equal(b.served, 3);
	assert_int_equal(p.e.visits.others, 4);
	engine_fini(&p.e);
}

static bool has_come(const void *arg)
{
	return *(const bool *)arg;
}

/** What the caller waited for is there: whoever takes the lock next ends the round. */
static void the_end_of_a_round_waits_for_whoever_comes(void **state)
{
	const bool yes = true;
	struct port p;

	start(&p);
	p.may_wait = true;
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(engine_drive_for(&p.e, has_come, &yes), 3);
		assert_int_equal(p.polled, i);
		assert_int_equal(p.flushed, i - 1);
		assert_int_equal(p.entered, p.left);
		assert_false(engine_is_held(&p.e));
		assert_true(engine_is_expectant(&p.e));
		engine_lock(&p.e);
		engine_unlock(&p.e);
		assert_int_equal(p.flushed, i);
		assert_false(engine_is_expectant(&p.e));
	}
	assert_int_equal(engine_count_visits(&p.e), 3);
	engine_lock(&p.e);
	assert_int_equal(engine_drive_for(&p.e, has_come, &yes), -EBUSY);
	engine_unlock(&p.e);
	engine_fini(&p.e);
}

/** @return whether a round of @p p was left open; ends it. */
static bool leaves_open(struct port *p, bool come)
{
	unsigned flushed = p->flushed;
	bool open;

	assert_int_equal(engine_drive_for(&p->e, has_come, &come), 3);
	open = p->flushed == flushed;
	assert_int_equal(engine_is_expectant(&p->e), open);
	engine_lock(&p->e);
	engine_unlock(&p->e);
	return open;
}

static void the_end_of_a_round_waits_only_where_it_may(void **state)
{
	struct engine_ops never = ops;
	struct doorbell b;
	struct port p;

	start(&p);
	b = doorbell(&p);
	p.may_wait = true;
	assert_true(leaves_open(&p, true));
	assert_false(leaves_open(&p, false));
	p.may_wait = false;
	assert_false(leaves_open(&p, true));
	p.may_wait = true;
	engine_defer(&p.e, &b.d);
	assert_false(leaves_open(&p, true));
	assert_int_equal(b.served, 1);
	/* The thread has said that it may sleep for long: nobody would come. */
	atomic_store(&p.e.sleeping_until, p.clock + 1000000);
	assert_false(leaves_open(&p, true));
	atomic_store(&p.e.sleeping_until, 0);
	assert_true(leaves_open(&p, true));
	never.flush_may_wait = NULL;
	p.e.ops = &never;
	assert_false(leaves_open(&p, true));
	engine_fini(&p.e);
}

/** Rung while a round was being left open: its bell is served, and the round ends with it. */
static void a_late_doorbell_ends_an_open_round(void **state)
{
	const bool yes = true;
	struct doorbell b;
	struct port p;

	start(&p);
	b = doorbell(&p);
	p.may_wait = true;
	p.ring_at_leave = &b.d;
	engine_drive_for(&p.e, has_come, &yes);
	assert_int_equal(b.served, 1);
	assert_int_equal(p.flushed, 1);
	assert_false(engine_is_expectant(&p.e));
	engine_fini(&p.e);
}

/** Whom the program's threads wait for: a thread that is woken wants the engine next. */
static void on_wake(struct engine_doorbell *d)
{
	struct doorbell *b = container_of(d, struct doorbell, d);

	b->served++;
	b->order = ++served_total;
	assert_false(engine_is_held(&b->port->e));
	assert_true(engine_trylock(&b->port->e));
	if (b->ring_when_served) {
		engine_wake_after(&b->port->e, b->ring_when_served);
		b->ring_when_served = NULL;
	}
	engine_unlock(&b->port->e);
	engine_has_woken(&b->port->e);
}

static void who_is_woken_finds_the_engine_free(void **state)
{
	struct doorbell a, b;
	struct port p;

	start(&p);
	a = b = doorbell(&p);
	a.d.serve = b.d.serve = on_wake;
	engine_lock(&p.e);
	engine_wake_after(&p.e, &a.d);
	engine_wake_after(&p.e, &b.d);
	engine_wake_after(&p.e, &a.d);
	assert_int_equal(served_total, 0);
	engine_unlock(&p.e);
	assert_int_equal(a.served, 1);
	assert_int_equal(a.order, 1);
	assert_int_equal(b.order, 2);
	assert_int_equal(engine_count_woken(&p.e), 2);
	/* What comes while somebody is woken is served by the same thread. */
	a.ring_when_served = &b.d;
	engine_lock(&p.e);
	engine_wake_after(&p.e, &a.d);
	engine_unlock(&p.e);
	assert_int_equal(a.served, 2);
	assert_int_equal(b.served, 2);
	engine_fini(&p.e);
}

/** A round that is left open lets go of the lock all the same. */
static unsigned op_poll_that_wakes(void *ctx, uint64_t now)
{
	struct port *p = ctx;

	engine_wake_after(&p->e, p->ring_at_leave);
	p->ring_at_leave = NULL;
	return 1;
}

static void a_round_left_open_wakes(void **state)
{
	struct engine_ops waking = ops;
	const bool yes = true;
	struct doorbell a;
	struct port p;

	start(&p);
	a = doorbell(&p);
	a.d.serve = on_wake;
	waking.poll = op_poll_that_wakes;
	p.e.ops = &waking;
	p.may_wait = true;
	p.ring_at_leave = &a.d;
	engine_drive_for(&p.e, has_come, &yes);
	assert_int_equal(a.served, 1);
	engine_fini(&p.e);
}

/** What is woken may be freed then; and what came meanwhile was left to the thread that wakes. */
static void who_settles_waits_for_who_wakes(void **state)
{
	struct port p;
	struct slow_waker slow;
	struct doorbell later;

	start(&p);
	later = doorbell(&p);
	slow_waker_begin(&slow, &p.e);
	engine_lock(&p.e);
	engine_wake_after(&p.e, &later.d);
	engine_unlock(&p.e);
	assert_int_equal(later.served, 0);
	slow_waker_await(&slow);
	engine_settle(&p.e);
	slow_waker_end(&slow);
	assert_int_equal(later.served, 1);
	engine_fini(&p.e);
}

#define THREADS 3
#define RINGS   20000

struct worker {
	struct engine_doorbell d;
	struct engine *e;
	_Atomic unsigned posted;
	unsigned seen;
};

static void on_work(struct engine_doorbell *d)
{
	struct worker *w = container_of(d, struct worker, d);

	w->seen = atomic_load(&w->posted);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < RINGS; i++) {
		atomic_fetch_add(&w->posted, 1);
		engine_ring(w->e, &w->d);
		if (i % 64 == 0)
			engine_round(w->e);
	}
	return NULL;
}

/** When no thread drives the engine any more, each thread's last must have been served by somebody.
 */
static void nothing_is_lost_of(void *(*thread)(void *worker))
{
	struct port p;
	struct worker w[THREADS];
	pthread_t t[THREADS];

	start(&p);
	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.d.serve = on_work, .e = &p.e};
		assert_int_equal(pthread_create(&t[i], NULL, thread, &w[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	engine_settle(&p.e);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(w[i].seen, RINGS);
	engine_fini(&p.e);
}

static void no_ring_of_any_thread_is_lost(void **state)
{
	nothing_is_lost_of(work);
}

static void *wake_often(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < RINGS; i++) {
		atomic_fetch_add(&w->posted, 1);
		engine_lock(w->e);
		engine_wake_after(w->e, &w->d);
		engine_unlock(w->e);
	}
	return NULL;
}

static void no_wake_up_of_any_thread_is_lost(void **state)
{
	nothing_is_lost_of(wake_often);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_sets_now_and_unlock_flushes),
		cmocka_unit_test(drive_polls_unless_busy),
		cmocka_unit_test(at_the_end_nobody_waits_and_nobody_drives),
		cmocka_unit_test(who_goes_to_sleep_wakes_a_thread_that_is_away),
		cmocka_unit_test(who_tries_lets_who_waits_by),
		cmocka_unit_test(ring_serves_at_once_when_free),
		cmocka_unit_test(rung_doorbells_are_served_at_unlock_oldest_first),
		cmocka_unit_test(late_doorbells_are_not_lost),
		cmocka_unit_test(cancel_takes_one_off_the_list),
		cmocka_unit_test(a_lazy_doorbell_waits_for_whoever_comes),
		cmocka_unit_test(the_end_of_a_round_waits_for_whoever_comes),
		cmocka_unit_test(the_end_of_a_round_waits_only_where_it_may),
		cmocka_unit_test(a_late_doorbell_ends_an_open_round),
		cmocka_unit_test(a_nearer_deadline_wakes_the_sleeper),
		cmocka_unit_test(no_ring_of_any_thread_is_lost),
		cmocka_unit_test(who_is_woken_finds_the_engine_free),
		cmocka_unit_test(a_round_left_open_wakes),
		cmocka_unit_test(who_settles_waits_for_who_wakes),
		cmocka_unit_test(no_wake_up_of_any_thread_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
