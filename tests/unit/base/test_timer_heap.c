/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/container_of.h"
#include "base/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#define N 1000

struct probe {
	struct exact_timer t;
	struct timer_heap *h;
	struct probe *victim; /**< stopped by the callback */
	uint64_t fired_at;
	uint64_t again; /**< deadline that the callback starts it for; 0: not */
	unsigned fired;
};

static void fire(struct exact_timer *t, uint64_t now)
{
	struct probe *p = container_of(t, struct probe, t);

	assert_false(exact_timer_running(t));
	assert_true(now >= t->deadline);
	p->fired_at = now;
	p->fired++;
	if (p->victim)
		exact_timer_stop(p->h, &p->victim->t);
	if (p->again)
		exact_timer_start(p->h, t, p->again);
	p->again = 0;
}

static void probe_init(struct probe *p, struct timer_heap *h)
{
	*p = (struct probe){.h = h, .t.fn = fire};
}

static void test_fires_to_the_nanosecond(void **state)
{
	struct timer_heap h = {0};
	struct probe p;

	probe_init(&p, &h);
	assert_true(timer_heap_next(&h) == UINT64_MAX);
	exact_timer_start(&h, &p.t, 1000001);
	assert_int_equal(timer_heap_next(&h), 1000001);
	timer_heap_run(&h, 1000000);
	assert_int_equal(p.fired, 0);
	timer_heap_run(&h, 1000001);
	assert_int_equal(p.fired, 1);
	assert_true(timer_heap_next(&h) == UINT64_MAX);
}

static void test_callbacks_start_and_stop(void **state)
{
	struct timer_heap h = {0};
	struct probe a, b;

	probe_init(&a, &h);
	probe_init(&b, &h);
	a.victim = &b;
	a.again = 300;
	exact_timer_start(&h, &a.t, 100);
	exact_timer_start(&h, &b.t, 101);
	timer_heap_run(&h, 200);
	assert_int_equal(a.fired, 1);
	assert_int_equal(b.fired, 0);
	exact_timer_stop(&h, &b.t); /* it is not running: nothing happens */
	assert_int_equal(timer_heap_next(&h), 300);
	exact_timer_start(&h, &a.t, 50); /* moved */
	timer_heap_run(&h, 60);
	assert_int_equal(a.fired, 2);
}

/** Against a plain array: random starts, moves, stops and runs. */
static void test_agrees_with_a_plain_array(void **state)
{
	struct timer_heap h = {0};
	struct probe *p = calloc(N, sizeof *p);
	uint64_t *due = calloc(N, sizeof *due); /* 0: stopped */
	uint32_t seed = 7;
	uint64_t now = 1;

	for (unsigned i = 0; i < N; i++)
		probe_init(&p[i], &h);
	for (unsigned step = 0; step < 100000; step++) {
		unsigned i = (seed = seed * 1664525 + 1013904223) >> 8 & 0xffff;
		uint64_t least = UINT64_MAX;

		if (i % 5 == 0) {
			exact_timer_stop(&h, &p[i % N].t);
			due[i % N] = 0;
		} else {
			due[i % N] = now + 1 + (seed >> 12) % 1000;
			exact_timer_start(&h, &p[i % N].t, due[i % N]);
		}
		if (step % 64)
			continue;
		now += (seed >> 4) % 200;
		timer_heap_run(&h, now);
		for (unsigned k = 0; k < N; k++) {
			assert_true((due[k] && due[k] <= now) == (p[k].fired != 0));
			if (p[k].fired)
				due[k] = p[k].fired = 0;
			if (due[k] && due[k] < least)
				least = due[k];
		}
		assert_true(timer_heap_next(&h) == least);
	}
	free(p);
	free(due);
}

/** An engine asks the wheel alone. */
static void test_the_wheel_runs_it(void **state)
{
	struct timer_wheel w;
	struct probe p;

	timer_wheel_init(&w, 5000);
	probe_init(&p, &w.exact);
	exact_timer_start(&w.exact, &p.t, 70001);
	assert_int_equal(timer_wheel_next(&w), 70001);
	timer_wheel_run(&w, 70000);
	assert_int_equal(p.fired, 0);
	timer_wheel_run(&w, 70001);
	assert_int_equal(p.fired_at, 70001);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fires_to_the_nanosecond),
		cmocka_unit_test(test_callbacks_start_and_stop),
		cmocka_unit_test(test_agrees_with_a_plain_array),
		cmocka_unit_test(test_the_wheel_runs_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
