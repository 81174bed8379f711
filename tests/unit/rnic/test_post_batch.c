/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/post_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NOW UINT64_C(5000000000)
#define GAP 100

static bool post(struct rnic_post_batch *g, uint64_t now, uint32_t bytes)
{
	g->bytes = bytes;
	return rnic_post_batch_add(g, now, 128);
}

static void the_first_go_at_once_the_others_together(void **state)
{
	struct rnic_post_batch g = {0};
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(&g, now += GAP, 8));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 1; i < RNIC_POST_BATCH_MOST; i++)
			assert_true(post(&g, now += GAP, 8));
		assert_false(post(&g, now += GAP, 8));
	}
}

static void a_pause_ends_the_series(void **state)
{
	struct rnic_post_batch g = {0};
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(&g, now, 8));
	assert_true(post(&g, now += RNIC_POST_BATCH_GAP_NS, 8));
	for (unsigned i = 0; i < 10; i++)
		assert_false(post(&g, now += RNIC_POST_BATCH_GAP_NS + 1, 8));
}

/* Sixteen messages may take longer than the pause that ends a series. */
static void to_send_is_no_pause(void **state)
{
	struct rnic_post_batch g = {0};
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++) {
		assert_false(post(&g, now += GAP, 8));
		rnic_post_batch_sent(&g, now += 3 * RNIC_POST_BATCH_GAP_NS);
	}
	assert_true(post(&g, now += GAP, 8));
	for (unsigned i = 2; i < RNIC_POST_BATCH_MOST; i++)
		assert_true(post(&g, now += GAP, 8));
	assert_false(post(&g, now += GAP, 8));
	rnic_post_batch_sent(&g, now += 3 * RNIC_POST_BATCH_GAP_NS);
	assert_true(post(&g, now += GAP, 8));
	/* Another thread posts before the time of the sent one is noted. */
	rnic_post_batch_sent(&g, now + GAP);
	assert_true(post(&g, now, 8));
}

static void what_is_large_takes_the_others_along(void **state)
{
	struct rnic_post_batch g = {0};

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(&g, NOW, 8));
	assert_true(post(&g, NOW, RNIC_POST_BATCH_BYTES));
	assert_false(post(&g, NOW, RNIC_POST_BATCH_BYTES + 1));
	assert_int_equal(g.bytes, 0);
	for (unsigned i = 1; i < RNIC_POST_BATCH_MOST; i++)
		assert_true(post(&g, NOW, 8));
	assert_false(post(&g, NOW, 8));
}

static void a_short_queue_is_not_filled(void **state)
{
	struct rnic_post_batch g = {0};

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(rnic_post_batch_add(&g, NOW, 4));
	assert_true(rnic_post_batch_add(&g, NOW, 4));
	assert_false(rnic_post_batch_add(&g, NOW, 4));
	assert_false(rnic_post_batch_add(&g, NOW, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_go_at_once_the_others_together),
		cmocka_unit_test(a_pause_ends_the_series),
		cmocka_unit_test(to_send_is_no_pause),
		cmocka_unit_test(what_is_large_takes_the_others_along),
		cmocka_unit_test(a_short_queue_is_not_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
