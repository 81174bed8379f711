/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void scales_cycles_to_ns(void **state)
{
	/* 2.5 GHz: 0.4 ns a cycle. */
	const struct port_clock c = {.base = {.tsc = 1000, .ns = 77}, .mult = 1717986918};

	assert_int_equal(clock_at(&c, 1000), 77);
	assert_int_equal(clock_at(&c, 1000 + 2500), 77 + 999);
	/* A year on: no overflow, and the multiplier's rounding is below a part in 10^9. */
	assert_in_range(clock_at(&c, 1000 + UINT64_C(78840000000000000)),
		UINT64_C(31535999900000000), UINT64_C(31536000000000077));
}

static void measures_against_an_earlier_sample(void **state)
{
	struct clock_sample now = clock_sample_now(), since;
	struct port_clock c;

	/* As if the counter ran at 1 GHz for the last ten seconds. */
	since.ns = now.ns - UINT64_C(10000000000);
	since.tsc = now.tsc - UINT64_C(10000000000);
	clock_init(&c, &since);
	if (!c.mult)
		skip();
	assert_in_range(c.mult, (UINT64_C(1) << 32) / 100 * 50, (UINT64_C(1) << 32) / 100 * 102);
}

static void continues_the_kernels_clock(void **state)
{
	struct port_clock c;
	uint64_t before = clock_kernel_ns(), t, last = 0;

	clock_init(&c, NULL);
	for (int i = 0; i < 1000; i++) {
		t = clock_ns(&c);
		assert_true(t >= last);
		last = t;
	}
	assert_true(last >= before);
}

static void without_an_invariant_counter_asks_the_kernel(void **state)
{
	const struct port_clock c = {.mult = 0};
	uint64_t before = clock_kernel_ns(), now = clock_ns(&c);

	assert_in_range(now, before, clock_kernel_ns());
}

static void tells_a_time_to_wait_until(void **state)
{
	uint64_t before = clock_kernel_ns(), after;
	struct timespec t = clock_after(1999999999);

	after = clock_kernel_ns();
	assert_in_range(t.tv_nsec, 0, 999999999);
	assert_in_range((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, before + 1999999999,
		after + 1999999999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scales_cycles_to_ns),
		cmocka_unit_test(measures_against_an_earlier_sample),
		cmocka_unit_test(continues_the_kernels_clock),
		cmocka_unit_test(without_an_invariant_counter_asks_the_kernel),
		cmocka_unit_test(tells_a_time_to_wait_until),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
