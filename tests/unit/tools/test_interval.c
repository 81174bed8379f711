/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/interval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void one_in_time_is_followed_by_the_next(void **state)
{
	assert_int_equal(interval_next(1000, 1000, 1000), 2000);
	assert_int_equal(interval_next(1000, 1000, 1999), 2000);
	assert_int_equal(interval_next(0, 7, 6), 7);
}

/* What would have been reported in a pause is in the report behind it. */
static void a_pause_is_not_made_up_for(void **state)
{
	assert_int_equal(interval_next(1000, 1000, 2000), 3000);
	assert_int_equal(interval_next(1000, 1000, 9500), 10000);
	assert_int_equal(interval_next(500, 1000, 3600000), 3600500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_in_time_is_followed_by_the_next),
		cmocka_unit_test(a_pause_is_not_made_up_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
