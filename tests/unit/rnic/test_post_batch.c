/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/post_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NOW    UINT64_C(5000000000)
#define GAP    100
#define ROOM   128
#define QUEUES 64
#define THREAD 1
#define OTHER  2

static struct rnic_post_thread t;
static struct rnic_post_batch g[QUEUES];

static int setup(void **state)
{
	t = (struct rnic_post_thread){0};
	for (unsigned i = 0; i < QUEUES; i++)
		g[i] = (struct rnic_post_batch){0};
	return 0;
}

static bool post_by(uintptr_t thread, unsigned queue, uint64_t now)
{
	g[queue].bytes = 8;
	return rnic_post_batch_add(&g[queue], &t, thread, now, ROOM);
}

static bool post_to(unsigned queue, uint64_t now)
{
	return post_by(THREAD, queue, now);
}

static bool post(uint64_t now, uint32_t bytes)
{
	g->bytes = bytes;
	return rnic_post_batch_add(g, &t, THREAD, now, ROOM);
}

static bool post_with_room(uint32_t room)
{
	return rnic_post_batch_add(g, &t, THREAD, NOW, room);
}

static void the_first_go_at_once_the_others_together(void **state)
{
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(now += GAP, 8));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 1; i < RNIC_POST_BATCH_MOST; i++)
			assert_true(post(now += GAP, 8));
		assert_false(post(now += GAP, 8));
	}
}

static void a_pause_ends_the_series(void **state)
{
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(now, 8));
	assert_true(post(now += RNIC_POST_BATCH_GAP_NS, 8));
	for (unsigned i = 0; i < 10; i++)
		assert_false(post(now += RNIC_POST_BATCH_GAP_NS + 1, 8));
}

/* Sixteen messages may take longer than the pause that ends a series. */
static void to_send_is_no_pause(void **state)
{
	uint64_t now = NOW;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++) {
		assert_false(post(now += GAP, 8));
		rnic_post_batch_sent(g, &t, now += 3 * RNIC_POST_BATCH_GAP_NS);
	}
	assert_true(post(now += GAP, 8));
	for (unsigned i = 2; i < RNIC_POST_BATCH_MOST; i++)
		assert_true(post(now += GAP, 8));
	assert_false(post(now += GAP, 8));
	rnic_post_batch_sent(g, &t, now += 3 * RNIC_POST_BATCH_GAP_NS);
	assert_true(post(now += GAP, 8));
	/* Another thread posts before the time of the sent one is noted. */
	rnic_post_batch_sent(g, &t, now + GAP);
	assert_true(post(now, 8));
}

static void what_is_large_takes_the_others_along(void **state)
{
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post(NOW, 8));
	assert_true(post(NOW, RNIC_POST_BATCH_BYTES));
	assert_false(post(NOW, RNIC_POST_BATCH_BYTES + 1));
	for (unsigned i = 1; i < RNIC_POST_BATCH_MOST; i++)
		assert_true(post(NOW, 8));
	assert_false(post(NOW, 8));
}

static void a_short_queue_is_not_filled(void **state)
{
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post_with_room(4));
	assert_true(post_with_room(4));
	assert_false(post_with_room(4));
	assert_false(post_with_room(1));
}

/* Each queue has one message at a time, and none a series of its own. */
static void one_thread_s_posts_to_many_queues_go_together(void **state)
{
	uint64_t now = NOW;
	unsigned n = 0;

	for (; n < RNIC_POST_BATCH_FIRST; n++)
		assert_false(post_to(n, now += GAP));
	for (unsigned round = 0; round < 12; round++) {
		for (unsigned i = 1; i < RNIC_POST_BATCH_MOST; i++)
			assert_true(post_to(n++ % QUEUES, now += GAP));
		assert_false(post_to(n++ % QUEUES, now += GAP));
		rnic_post_batch_sent(&g[(n - 1) % QUEUES], &t, now += 3 * RNIC_POST_BATCH_GAP_NS);
	}
	for (unsigned i = 0; i < 10; i++)
		assert_false(post_to(n++ % QUEUES, now += RNIC_POST_BATCH_GAP_NS + 1));
}

/* What waits in a queue goes with the turn of another: it is not counted again. */
static void a_turn_is_for_all_queues(void **state)
{
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post_to(1, NOW));
	for (unsigned i = 0; i < 3; i++)
		assert_true(post_with_room(8));
	g[1].bytes = RNIC_POST_BATCH_BYTES + 1;
	assert_false(rnic_post_batch_add(&g[1], &t, THREAD, NOW, ROOM));
	for (unsigned i = 0; i < 3; i++)
		assert_true(post_with_room(8));
	assert_false(post_with_room(8));
}

/* Each of them would wait for the other. A queue's own series is whoever's. */
static void another_thread_s_posts_are_no_series(void **state)
{
	unsigned n = 0;

	for (; n < 2 * RNIC_POST_BATCH_MOST; n++)
		assert_false(post_by(n % 2 ? OTHER : THREAD, n, NOW));
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++)
		assert_false(post_by(i % 2 ? OTHER : THREAD, n, NOW));
	assert_true(post_by(THREAD, n, NOW));
	assert_true(post_by(OTHER, n, NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_first_go_at_once_the_others_together, setup),
		cmocka_unit_test_setup(a_pause_ends_the_series, setup),
		cmocka_unit_test_setup(to_send_is_no_pause, setup),
		cmocka_unit_test_setup(what_is_large_takes_the_others_along, setup),
		cmocka_unit_test_setup(a_short_queue_is_not_filled, setup),
		cmocka_unit_test_setup(one_thread_s_posts_to_many_queues_go_together, setup),
		cmocka_unit_test_setup(a_turn_is_for_all_queues, setup),
		cmocka_unit_test_setup(another_thread_s_posts_are_no_series, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
