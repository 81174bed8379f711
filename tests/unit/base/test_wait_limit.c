/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/wait_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

static void it_is_over_at_the_limit(void **state)
{
	uint64_t now = 7 * SECOND;
	struct wait_limit w;

	wait_limit_start(&w, SECOND, now);
	assert_false(wait_limit_over(&w, now));
	for (int i = 1; i < 100; i++)
		assert_false(wait_limit_over(&w, now += 10 * MS));
	assert_true(wait_limit_over(&w, now += 10 * MS));
	assert_true(wait_limit_over(&w, now));
}

/* A machine that stood still, at any moment of the wait, takes one look's share of the limit. */
static void a_pause_is_one_look(void **state)
{
	uint64_t now = 0;
	struct wait_limit w;

	wait_limit_start(&w, SECOND, now);
	for (unsigned i = 1; i < WAIT_LIMIT_LOOKS; i++)
		assert_false(wait_limit_over(&w, now += 3600 * SECOND));
	for (unsigned i = 0; i < 2; i++)
		wait_limit_over(&w, now += 20 * MS);
	assert_true(wait_limit_over(&w, now));
}

static void no_limit_is_over_at_once(void **state)
{
	struct wait_limit w;

	wait_limit_start(&w, 0, SECOND);
	assert_true(wait_limit_over(&w, SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_over_at_the_limit),
		cmocka_unit_test(a_pause_is_one_look),
		cmocka_unit_test(no_limit_is_over_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
