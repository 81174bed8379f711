/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/reads.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_order(void **state)
{
	struct reads r = {0};
	struct reads_request q = {.sink_stag = 1, .sink_to = 100, .size = 50};

	assert_null(reads_oldest(&r, false));
	assert_true(reads_add(&r, &q));
	q = (struct reads_request){.atomic = true, .id = 7};
	assert_true(reads_add(&r, &q));
	q = (struct reads_request){.sink_stag = 2, .sink_to = 0, .size = 10, .rtr = true};
	assert_true(reads_add(&r, &q));
	assert_int_equal(r.counted, 2);
	assert_int_equal(reads_oldest(&r, false)->sink_stag, 1);
	assert_int_equal(reads_oldest(&r, true)->id, 7);
	assert_int_equal(reads_match(&r, 2, 10)->sink_stag, 2);
	assert_null(reads_match(&r, 2, 11));
	assert_null(reads_match(&r, 1, 99));
	reads_remove(&r, reads_oldest(&r, false));
	assert_int_equal(reads_oldest(&r, false)->sink_stag, 2);
	assert_int_equal(r.counted, 1);
	reads_remove(&r, reads_oldest(&r, false)); /* the RTR Read */
	assert_int_equal(r.counted, 1);
	reads_free(&r);
}

static void test_bound(void **state)
{
	struct reads r = {0};
	struct reads_request q = {0};

	for (uint32_t i = 0; i < READS_MAX; i++) {
		q.sink_stag = i;
		assert_true(reads_add(&r, &q));
	}
	assert_false(r.unsure);
	assert_false(reads_add(&r, &q));
	assert_true(r.unsure);
	assert_int_equal(r.n, READS_MAX);
	assert_int_equal(reads_oldest(&r, false)->sink_stag, 1);
	reads_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
