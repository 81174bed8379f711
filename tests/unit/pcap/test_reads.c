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

/* As many as there are, the oldest goes first; the memory does not grow, and stays in order. */
static void test_queue(void **state)
{
	struct reads r = {0};

	for (uint32_t i = 0; i < 100000; i++) {
		assert_true(reads_add(&r, &(struct reads_request){.sink_stag = i}));
		assert_int_equal(r.list[r.n - 1].sink_stag, i);
		if (r.n > 50) {
			assert_int_equal(r.list[0].sink_stag, i - 50);
			reads_remove(&r, &r.list[i % 3 == 0]);
			if (i % 3 == 0)
				r.list[0].sink_stag = i - 49; /* as if the first were gone */
		}
	}
	assert_true(r.cap <= 256);
	assert_int_equal(r.counted, r.n);
	reads_free(&r);
	assert_int_equal(r.cap, 0);
}

/* A request of which only the number is known may be for any response; others by their sink. */
static void test_lost(void **state)
{
	struct reads r = {0};
	struct reads_request q = {.sink_stag = 1, .sink_to = 100, .size = 50}, *first;
	unsigned i;

	reads_add(&r, &q);
	assert_int_equal(reads_after_lost(&r, &i), 0);
	assert_int_equal(i, 1);
	reads_add(&r, &(struct reads_request){.lost = true});
	reads_add(&r, &(struct reads_request){.atomic = true});
	reads_add(&r, &q);
	assert_int_equal(r.lost, 1);
	assert_int_equal(reads_after_lost(&r, &i), 3);
	assert_int_equal(i, 1);
	assert_int_equal(reads_candidates(&r, 1, 149, &first), 3);
	assert_ptr_equal(first, r.list);
	assert_int_equal(reads_candidates(&r, 1, 150, &first), 1);
	assert_ptr_equal(first, r.list + 1);
	assert_null(reads_oldest(&(struct reads){.list = r.list + 1, .n = 1}, false));
	reads_truncate(&r, 1);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.counted, 1);
	reads_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
