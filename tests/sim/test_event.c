/* SPDX-License-Identifier: BSD-2-Clause */
/** The order in which events happen. */
#include "sim/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"

static void earliest_first(void **state)
{
	struct sim_events q = {0};
	struct sim_event e[500] = {0};
	struct prng r = {.state = 1};
	uint64_t last = 0;

	for (unsigned i = 0; i < 500; i++)
		sim_event_set(&q, &e[i], prng_below(&r, 100000));
	for (unsigned i = 0; i < 500; i += 2) /* half of them move */
		sim_event_set(&q, &e[i], prng_below(&r, 100000));
	for (unsigned i = 0; i < 500; i += 5) /* a fifth does not happen */
		sim_event_clear(&q, &e[i]);
	for (unsigned n = 0; n < 400; n++) {
		uint64_t next = sim_events_next(&q);
		struct sim_event *first = sim_events_take(&q);

		assert_true(first->at == next && next >= last);
		assert_false(sim_event_is_set(first));
		assert_int_not_equal((first - e) % 5, 0);
		last = next;
	}
	assert_true(sim_events_next(&q) == SIM_NEVER);
	sim_events_fini(&q);
}

static void equal_times_in_order_of_setting(void **state)
{
	struct sim_events q = {0};
	struct sim_event e[64] = {0};

	for (unsigned i = 0; i < 64; i++)
		sim_event_set(&q, &e[i], 7);
	sim_event_set(&q, &e[0], 7); /* again: now it is the last */
	for (unsigned i = 1; i < 64; i++)
		assert_ptr_equal(sim_events_take(&q), &e[i]);
	assert_ptr_equal(sim_events_take(&q), &e[0]);
	sim_events_fini(&q);
}

static void never_clears(void **state)
{
	struct sim_events q = {0};
	struct sim_event e = {0};

	sim_event_set(&q, &e, 5);
	sim_event_set(&q, &e, SIM_NEVER);
	assert_false(sim_event_is_set(&e));
	sim_event_clear(&q, &e);
	assert_true(sim_events_next(&q) == SIM_NEVER);
	sim_events_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(earliest_first),
		cmocka_unit_test(equal_times_in_order_of_setting),
		cmocka_unit_test(never_clears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
