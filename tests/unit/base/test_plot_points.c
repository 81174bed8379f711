/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plot_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LIMIT 200

static void few_are_kept_as_they_are(void **state)
{
	struct plot_points p = {.n = 0};

	for (int i = 0; i < LIMIT; i++)
		plot_points_add(&p, LIMIT, i, -i);
	assert_int_equal(p.n, LIMIT);
	for (int i = 0; i < LIMIT; i++) {
		assert_true(p.x[i] == i);
		assert_true(p.y[i] == -i);
	}
	plot_points_free(&p);
	assert_int_equal(p.n, 0);
	plot_points_free(&p);
}

/** Whenever it is looked at: as far apart as they were, from the first on, to near the last. */
static void many_are_thinned_evenly(void **state)
{
	struct plot_points p = {.n = 0};

	for (int i = 0; i < 37 * LIMIT; i++) {
		double apart;

		plot_points_add(&p, LIMIT, i, 2 * i);
		if (i < LIMIT || i % 97)
			continue;
		assert_in_range(p.n, LIMIT / 2, LIMIT);
		apart = p.x[1];
		for (size_t k = 0; k < p.n; k++) {
			assert_true(p.x[k] == (double)k * apart);
			assert_true(p.y[k] == 2 * p.x[k]);
		}
		assert_true(p.x[p.n - 1] + apart > i);
	}
	plot_points_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_kept_as_they_are),
		cmocka_unit_test(many_are_thinned_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
