/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void empty_tells_zero(void **state)
{
	static const struct histogram h;

	assert_int_equal(histogram_quantile(&h, 500000), 0);
	assert_int_equal(histogram_quantile(&h, 1000000), 0);
}

static void small_values_are_exact(void **state)
{
	static struct histogram h;

	for (uint64_t v = 1; v <= 10; v++)
		histogram_add(&h, v);
	assert_int_equal(histogram_quantile(&h, 0), 1);
	assert_int_equal(histogram_quantile(&h, 500000), 5);
	assert_int_equal(histogram_quantile(&h, 500001), 6);
	assert_int_equal(histogram_quantile(&h, 1000000), 10);
}

/* One sample of each size, alone: the answer is that value, for it is the largest there is. */
static void one_sample_is_itself(void **state)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t below = 0; below < 2; below++) {
			struct histogram h = {0};
			uint64_t v = (UINT64_C(1) << bit) - below;

			histogram_add(&h, v);
			assert_int_equal(histogram_quantile(&h, 500000), v);
			assert_int_equal(h.min, v);
			assert_int_equal(h.max, v);
		}
}

static void large_values_are_within_a_thirty_second(void **state)
{
	uint64_t v = 33;

	while (v < UINT64_MAX / 3) {
		struct histogram h = {0};
		uint64_t q;

		histogram_add(&h, v);
		histogram_add(&h, UINT64_MAX);
		q = histogram_quantile(&h, 500000);
		assert_true(q >= v && q - v <= v / 32);
		v = v * 3 / 2 + 1;
	}
}

static void merging_counts_both(void **state)
{
	static struct histogram a, b, none;

	for (uint64_t v = 0; v < 10; v++)
		histogram_add(&a, 20 + v);
	histogram_merge(&b, &a);
	assert_int_equal(b.min, 20);
	for (uint64_t v = 0; v < 10; v++)
		histogram_add(&a, 10 + v);
	histogram_merge(&b, &a);
	histogram_merge(&b, &none);
	assert_int_equal(b.count, 30);
	assert_int_equal(b.min, 10);
	assert_int_equal(b.max, 29);
	assert_int_equal(histogram_quantile(&b, 333333), 19);
	assert_int_equal(histogram_quantile(&b, 333334), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_tells_zero),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(one_sample_is_itself),
		cmocka_unit_test(large_values_are_within_a_thirty_second),
		cmocka_unit_test(merging_counts_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
