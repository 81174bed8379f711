/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/container_of.h"
#include "base/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

struct probe {
	struct timer t;
	struct timer_wheel *w;
	uint64_t fired_at;
	unsigned fired;
	struct probe *victim; /* stopped by the callback */
	uint64_t again_after; /* restarted by the callback; 0: not */
	uint64_t again_at;    /* the same with an absolute time */
};

static void probe_fire(struct timer *t, uint64_t now)
{
	struct probe *p = container_of(t, struct probe, t);

	assert_false(timer_running(t));
	p->fired++;
	p->fired_at = now;
	if (p->victim)
		timer_stop(p->w, &p->victim->t);
	if (p->again_after)
		timer_start(p->w, t, now + p->again_after);
	if (p->again_at)
		timer_start(p->w, t, p->again_at);
}

static void probe_init(struct probe *p, struct timer_wheel *w)
{
	*p = (struct probe){.w = w};
	timer_init(&p->t, probe_fire);
}

/* Drive the wheel only when it asks to be, as an engine does. */
static void run_until(struct timer_wheel *w, uint64_t end)
{
	for (;;) {
		uint64_t next = timer_wheel_next(w);

		if (next > end)
			break;
		timer_wheel_run(w, next);
	}
	timer_wheel_run(w, end);
}

static void fires_within_a_tick_never_early(void **state)
{
	/* From inside one tick to beyond the horizon of 128^5 ticks (6.5 days). */
	static const uint64_t delay[] = {1, TIMER_TICK_NS - 1, TIMER_TICK_NS, TIMER_TICK_NS + 1,
		63 * TIMER_TICK_NS, 64 * TIMER_TICK_NS, 65 * TIMER_TICK_NS, 127 * TIMER_TICK_NS,
		128 * TIMER_TICK_NS, 129 * TIMER_TICK_NS, 16383 * TIMER_TICK_NS,
		16384 * TIMER_TICK_NS, 16385 * TIMER_TICK_NS, UINT64_C(1000000000),
		UINT64_C(60000000000), UINT64_C(86400000000000), UINT64_C(40) * 86400000000000};
	static const uint64_t start[] = {0, 5, 63 * TIMER_TICK_NS, 64 * TIMER_TICK_NS - 1,
		127 * TIMER_TICK_NS, 128 * TIMER_TICK_NS - 1, 16383 * TIMER_TICK_NS + 77,
		UINT64_C(1234567890123456789)};

	for (size_t s = 0; s < sizeof start / sizeof *start; s++) {
		for (size_t d = 0; d < sizeof delay / sizeof *delay; d++) {
			struct timer_wheel w;
			struct probe p;
			uint64_t deadline = start[s] + delay[d];

			timer_wheel_init(&w, start[s]);
			probe_init(&p, &w);
			timer_start(&w, &p.t, deadline);
			assert_true(timer_running(&p.t));
			timer_wheel_run(&w, deadline - 1);
			assert_int_equal(p.fired, 0);
			run_until(&w, deadline + TIMER_TICK_NS);
			assert_int_equal(p.fired, 1);
			assert_true(p.fired_at >= deadline);
			assert_false(timer_running(&p.t));
			assert_true(timer_wheel_next(&w) == TIMER_NEVER);
		}
	}
}

static void next_is_not_later_than_the_deadline(void **state)
{
	struct timer_wheel w;
	struct probe p;

	timer_wheel_init(&w, 1000);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
	probe_init(&p, &w);
	timer_start(&w, &p.t, 1000 + UINT64_C(5000000000));
	assert_true(timer_wheel_next(&w) < 1000 + UINT64_C(5000000000) + TIMER_TICK_NS);
	run_until(&w, 1000 + UINT64_C(5000000000) + TIMER_TICK_NS);
	assert_int_equal(p.fired, 1);
	assert_true(p.fired_at - 5000001000 < TIMER_TICK_NS);
}

static void past_deadline_fires_at_the_next_run(void **state)
{
	struct timer_wheel w;
	struct probe p;

	timer_wheel_init(&w, 9000);
	probe_init(&p, &w);
	timer_start(&w, &p.t, 5000);
	assert_true(timer_wheel_next(&w) <= 9000);
	timer_wheel_run(&w, 9000);
	assert_int_equal(p.fired, 1);

	/* A callback that asks for the past again is called once a run, not for ever. */
	p.again_at = 1;
	timer_start(&w, &p.t, 2);
	timer_wheel_run(&w, 9001);
	assert_int_equal(p.fired, 2);
	timer_wheel_run(&w, 9001);
	assert_int_equal(p.fired, 3);
}

static void stop_and_restart(void **state)
{
	struct timer_wheel w;
	struct probe a, b;

	timer_wheel_init(&w, 0);
	probe_init(&a, &w);
	probe_init(&b, &w);
	timer_stop(&w, &a.t); /* not running: nothing happens */
	timer_start(&w, &a.t, 1000000);
	timer_start(&w, &b.t, 1000000);
	timer_stop(&w, &a.t);
	assert_false(timer_running(&a.t));
	assert_true(timer_wheel_next(&w) != TIMER_NEVER);
	timer_start(&w, &b.t, 3000000); /* moved */
	timer_wheel_run(&w, 2000000);
	assert_int_equal(a.fired + b.fired, 0);
	timer_start(&w, &a.t, 2500000);
	timer_start(&w, &a.t, TIMER_NEVER); /* the same as stopped */
	timer_wheel_run(&w, 4000000);
	assert_int_equal(a.fired, 0);
	assert_int_equal(b.fired, 1);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
}

static void next_follows_what_starts_and_stops(void **state)
{
	struct timer_wheel w;
	struct probe far, near;

	timer_wheel_init(&w, 0);
	probe_init(&far, &w);
	probe_init(&near, &w);
	timer_start(&w, &far.t, 100 * TIMER_TICK_NS);
	assert_int_equal(timer_wheel_next(&w), 100 * TIMER_TICK_NS);
	timer_start(&w, &near.t, 10 * TIMER_TICK_NS);
	assert_int_equal(timer_wheel_next(&w), 10 * TIMER_TICK_NS);
	timer_wheel_run(&w, 5 * TIMER_TICK_NS);
	assert_int_equal(timer_wheel_next(&w), 10 * TIMER_TICK_NS);
	timer_stop(&w, &near.t);
	assert_int_equal(timer_wheel_next(&w), 100 * TIMER_TICK_NS);
	timer_wheel_run(&w, 100 * TIMER_TICK_NS);
	assert_int_equal(far.fired, 1);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
}

static void callback_may_stop_others_of_its_tick(void **state)
{
	struct timer_wheel w;
	struct probe a, b;

	timer_wheel_init(&w, 0);
	probe_init(&a, &w);
	probe_init(&b, &w);
	a.victim = &b;
	b.victim = &a;
	timer_start(&w, &a.t, 50000);
	timer_start(&w, &b.t, 50000);
	timer_wheel_run(&w, 100000);
	assert_int_equal(a.fired + b.fired, 1);

	timer_start(&w, &a.t, 1); /* the same on the list of those past */
	timer_start(&w, &b.t, 1);
	timer_wheel_run(&w, 100001);
	assert_int_equal(a.fired + b.fired, 2);
}

static void periodic_timer_catches_up(void **state)
{
	struct timer_wheel w;
	struct probe p;

	timer_wheel_init(&w, 0);
	probe_init(&p, &w);
	p.again_after = 1000000;
	timer_start(&w, &p.t, 1000000);
	for (uint64_t now = 0; now <= 100000000; now += 50000)
		timer_wheel_run(&w, now);
	assert_in_range(p.fired, 93, 100);
	timer_wheel_run(&w, 50); /* time does not go back */
	assert_in_range(p.fired, 93, 100);
}

/**
 * When does the wheel want to run, by a look at its slots? Level by level, at the first occupied
 * slot after the one where it is.
 */
static uint64_t next_by_looking(const struct timer_wheel *w)
{
	uint64_t first = TIMER_NEVER;

	for (unsigned level = 0; level < TIMER_LEVELS; level++) {
		const uint64_t at = w->tick >> (7 * level);

		for (uint64_t i = at + 1; i <= at + TIMER_SLOTS; i++) {
			uint64_t when = (i << (7 * level)) * TIMER_TICK_NS;

			if (w->occupied[level] >> (i % TIMER_SLOTS) & 1) {
				first = when < first ? when : first;
				break;
			}
		}
	}
	return first;
}

static void many_timers_against_a_plain_model(void **state)
{
	enum { N = 2000 };
	struct timer_wheel w;
	struct probe *p = calloc(N, sizeof *p);
	uint64_t *deadline = calloc(N, sizeof *deadline); /* 0: stopped */
	uint64_t now = 12345;
	uint32_t seed = 1;

	timer_wheel_init(&w, now);
	for (unsigned i = 0; i < N; i++)
		probe_init(&p[i], &w);
	for (unsigned round = 0; round < 3000; round++) {
		for (unsigned k = 0; k < 5; k++) {
			unsigned i = (seed = seed * 1103515245 + 12345) >> 8 & 0x7fffff;
			unsigned kind = i % 7;

			i %= N;
			seed = seed * 1103515245 + 12345;
			if (kind == 0) {
				timer_stop(&w, &p[i].t);
				deadline[i] = 0;
			} else {
				deadline[i] = now + 1 + ((uint64_t)(seed >> 8) << (4 * (kind - 1)));
				timer_start(&w, &p[i].t, deadline[i]);
			}
			p[i].fired = 0;
			assert_true(timer_wheel_next(&w) == next_by_looking(&w));
		}
		seed = seed * 1103515245 + 12345;
		now += (uint64_t)(seed >> 16) << (round % 12);
		timer_wheel_run(&w, now);
		assert_true(timer_wheel_next(&w) == next_by_looking(&w));
		for (unsigned i = 0; i < N; i++) {
			bool due = deadline[i] && deadline[i] + TIMER_TICK_NS <= now;

			if (p[i].fired)
				assert_true(deadline[i] && p[i].fired_at >= deadline[i]);
			if (due)
				assert_int_equal(p[i].fired, 1);
			if (!timer_running(&p[i].t))
				deadline[i] = deadline[i] && p[i].fired ? 0 : deadline[i];
			if (!deadline[i])
				p[i].fired = 0;
		}
	}
	free(p);
	free(deadline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_within_a_tick_never_early),
		cmocka_unit_test(next_is_not_later_than_the_deadline),
		cmocka_unit_test(past_deadline_fires_at_the_next_run),
		cmocka_unit_test(stop_and_restart),
		cmocka_unit_test(next_follows_what_starts_and_stops),
		cmocka_unit_test(callback_may_stop_others_of_its_tick),
		cmocka_unit_test(periodic_timer_catches_up),
		cmocka_unit_test(many_timers_against_a_plain_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
