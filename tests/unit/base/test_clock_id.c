/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void it_is_the_clock_that_is_asked_for(void **state)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW};

	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct timespec before, after;
		uint64_t ns;

		clock_gettime(clocks[i], &before);
		ns = clock_id_ns(clocks[i]);
		clock_gettime(clocks[i], &after);
		assert_in_range(ns, ns_of(before), ns_of(after));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_clock_that_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
