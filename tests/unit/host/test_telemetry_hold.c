/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_hold.h"

#include "support/engine_still.h"
#include "support/wrapped.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static struct engine engine;
static _Atomic unsigned slices; /**< of waiting */

bool __real_engine_lock_within(struct engine *e, unsigned ms);
WRAPPED bool __wrap_engine_lock_within(struct engine *e, unsigned ms);

bool __wrap_engine_lock_within(struct engine *e, unsigned ms)
{
	slices++;
	return __real_engine_lock_within(e, ms);
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/** Have the engine, and the processor, for so long. */
static void hold_for(uint64_t ns, struct telemetry_costs *costs)
{
	struct telemetry_hold h;
	uint64_t begun;

	assert_int_equal(telemetry_hold_begin(&h, &engine), 0);
	begun = time_of(CLOCK_THREAD_CPUTIME_ID);
	while (time_of(CLOCK_THREAD_CPUTIME_ID) - begun <= ns)
		;
	telemetry_hold_end(&h, costs);
}

static void it_has_the_engine(void **state)
{
	struct telemetry_costs costs = {.slices = 3};
	struct telemetry_hold h;
	uint64_t age;

	assert_int_equal(telemetry_hold_begin(&h, &engine), 0);
	assert_true(engine_is_held(&engine));
	age = telemetry_hold_age(&h);
	assert_true(telemetry_hold_age(&h) >= age);
	telemetry_hold_end(&h, &costs);
	assert_false(engine_is_held(&engine));
	assert_int_equal(costs.slices, 4);
	assert_true(costs.longest_elapsed >= age);
}

/** The longest stays, and each that is long counts: of the processor's time, not the clock's. */
static void what_it_costs_is_counted(void **state)
{
	struct telemetry_costs costs = {.slices = 0};
	uint64_t longest;

	hold_for(2 * TELEMETRY_LONG_HOLD, &costs);
	assert_int_equal(costs.long_holds, 1);
	longest = costs.longest_hold;
	assert_true(longest > 2 * TELEMETRY_LONG_HOLD);
	assert_true(costs.longest_elapsed >= longest);
	hold_for(4 * TELEMETRY_LONG_HOLD, &costs);
	assert_int_equal(costs.long_holds, 2);
	assert_true(costs.longest_hold > 4 * TELEMETRY_LONG_HOLD);
	longest = costs.longest_hold = costs.longest_elapsed = UINT64_MAX;
	hold_for(0, &costs);
	assert_true(costs.longest_hold == longest && costs.longest_elapsed == longest);
	assert_int_equal(costs.slices, 3);
}

/** @return NULL: it had the engine; else an errno. */
static void *ask(void *arg)
{
	struct telemetry_costs costs = {.slices = 0};
	struct telemetry_hold h;
	intptr_t rc;

	rc = telemetry_hold_begin(&h, &engine);
	if (!rc)
		telemetry_hold_end(&h, &costs);
	return (void *)-rc;
}

/** However long that takes, as long as it runs. */
static void who_is_about_to_let_go_is_waited_for(void **state)
{
	pthread_t t;
	void *rc;

	slices = 0;
	engine_lock(&engine);
	assert_int_equal(pthread_create(&t, NULL, ask, NULL), 0);
	while (slices < 4)
		;
	engine_unlock(&engine);
	assert_int_equal(pthread_join(t, &rc), 0);
	assert_null(rc);
}

/** Nobody runs who could let go. */
static void who_sleeps_with_it_is_not_waited_for(void **state)
{
	pthread_t t;
	void *rc;

	engine_lock(&engine);
	assert_int_equal(pthread_create(&t, NULL, ask, NULL), 0);
	assert_int_equal(pthread_join(t, &rc), 0);
	engine_unlock(&engine);
	assert_int_equal((intptr_t)rc, EBUSY);
	assert_false(engine_is_held(&engine));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_the_engine),
		cmocka_unit_test(what_it_costs_is_counted),
		cmocka_unit_test(who_is_about_to_let_go_is_waited_for),
		cmocka_unit_test(who_sleeps_with_it_is_not_waited_for),
	};

	engine_init(&engine, &engine_still_ops, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
