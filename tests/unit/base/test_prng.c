/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/prng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

/* The first three of splitmix64 from 1234567, as its author's reference program prints them. */
static void it_is_splitmix64(void **state)
{
	struct prng r = {1234567};

	assert_int_equal(prng_u64(&r), UINT64_C(6457827717110365317));
	assert_int_equal(prng_u64(&r), UINT64_C(3203168211198807973));
	assert_int_equal(prng_u64(&r), UINT64_C(9817491932198370423));
}

static void a_number_is_below_its_limit(void **state)
{
	struct prng r = {1};
	unsigned seen[10] = {0};

	for (int i = 0; i < 10000; i++) {
		uint64_t n = prng_below(&r, 10);

		assert_true(n < 10);
		seen[n]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(seen[i], 850, 1150);
	assert_int_equal(prng_below(&r, 1), 0);
	assert_int_equal(prng_below(&r, 0), 0);
}

static void chance_is_as_likely_as_it_says(void **state)
{
	static const double p[] = {0.0001, 0.01, 0.5, 0.99};
	struct prng r = {7};

	for (int k = 0; k < 4; k++) {
		double n = 1e6, hits = 0, off;

		for (int i = 0; i < (int)n; i++)
			hits += prng_chance(&r, p[k]);
		/* Within five standard deviations. */
		off = hits - n * p[k];
		assert_true(off * off < 25 * n * p[k] * (1 - p[k]));
	}
}

static void what_is_certain_draws_nothing(void **state)
{
	struct prng r = {7};

	for (int i = 0; i < 100; i++) {
		assert_false(prng_chance(&r, 0));
		assert_true(prng_chance(&r, 1));
	}
	assert_int_equal(r.state, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_splitmix64),
		cmocka_unit_test(a_number_is_below_its_limit),
		cmocka_unit_test(chance_is_as_likely_as_it_says),
		cmocka_unit_test(what_is_certain_draws_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
