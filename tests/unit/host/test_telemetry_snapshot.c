/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_snapshot.h"

#include "dpdk-port/clock.h"
#include "support/engine_still.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* After the four that it needs. */
#include <cmocka.h>

static struct engine engine;
static unsigned entered; /**< times that the engine was locked */

static void op_enter(void *ctx)
{
	entered++;
}

static const struct engine_ops ops = {.clock = engine_still_clock,
	.enter = op_enter,
	.leave = engine_still_nothing,
	.flush = engine_still_nothing,
	.wake = engine_still_nothing};

/** A list of as many objects, each as the letter says: an item, one that must be followed under
 * the same lock, or nothing. */
struct objects {
	const char *pattern;
	unsigned total;
	unsigned begun, steps;
	unsigned held_since; /**< entered, at the last step, if that was held */
	bool lock_was_lost;
	unsigned slow;   /**< this one takes long */
	unsigned asleep; /**< this one waits for NAP_NS */
};

#define NAP_NS 20000000

/** Spend processor time, ns. */
static void spend(uint64_t ns)
{
	struct timespec t;
	uint64_t until = 0, now;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
		until = until ? until : now + ns;
	} while (now < until);
}

/** Let the clock go on by @p ns, without processor time. */
static void pass(uint64_t ns)
{
	const struct timespec until = clock_after(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void objects_begin(void *ctx)
{
	struct objects *o = ctx;

	assert_int_equal(o->steps, 0);
	o->begun++;
}

static enum walk objects_step(void *ctx, void *cursor, void *item)
{
	struct objects *o = ctx;
	uint32_t *at = cursor;
	char kind = o->pattern[*at % strlen(o->pattern)];

	o->steps++;
	if (o->held_since && o->held_since != entered)
		o->lock_was_lost = true;
	o->held_since = 0;
	if (*at == o->total)
		return WALK_END;
	if (o->slow && *at == o->slow)
		spend(2 * TELEMETRY_LONG_HOLD);
	if (o->asleep && *at == o->asleep)
		pass(NAP_NS);
	/* Room comes zeroed. */
	assert_int_equal(*(uint32_t *)item, 0);
	if (kind != '.')
		*(uint32_t *)item = *at + 1;
	++*at;
	if (kind == 'h')
		o->held_since = entered;
	return kind == '.' ? WALK_NONE : kind == 'h' ? WALK_HELD : WALK_ITEM;
}

static void objects_format(void *ctx, const void *item, struct json_text *j)
{
	json_text_number(j, "n", *(const uint32_t *)item);
}

static const struct telemetry_list list = {.item_size = sizeof(uint32_t),
	.begin = objects_begin,
	.step = objects_step,
	.format = objects_format};
static const struct telemetry_command command = {"/objects", "", .list = &list};

static struct telemetry_snapshot s;
static struct telemetry_costs costs;

static int setup(void **state)
{
	engine_init(&engine, &ops, NULL);
	costs = (struct telemetry_costs){.slices = 0};
	entered = 0;
	return 0;
}

static int teardown(void **state)
{
	telemetry_snapshot_free(&s);
	engine_fini(&engine);
	return 0;
}

/** Each object once, in order, what is no item left out, and the lock given up between slices. */
static void all_items_in_slices(void **state)
{
	struct objects o = {.pattern = "i.ii", .total = 4000};
	const uint32_t *items;

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_int_equal(s.count, 3000);
	items = (const uint32_t *)(const void *)s.items;
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(items[i], i / 3 * 4 + i % 3 + 1 + (i % 3 > 0));
	assert_int_equal(o.begun, 1);
	assert_int_equal(o.steps, 4001);
	/* A slice has 256 items at most. */
	assert_true(costs.slices >= 3000 / 256);
	assert_int_equal(entered, costs.slices);
	assert_true(costs.longest_hold > 0);
	/* Another one takes its place. */
	o = (struct objects){.pattern = "i", .total = 2};
	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_int_equal(s.count, 2);
}

/** What is to be seen together is: 61 items without the lock being given up. A slice that ends when
 * it is full ends within them. */
static void held_items_keep_the_lock(void **state)
{
	static char pattern[62] = "";
	struct objects o = {.pattern = pattern, .total = 61 * 100};

	memset(pattern, 'h', 60);
	pattern[60] = 'i';
	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_int_equal(s.count, o.total);
	assert_false(o.lock_was_lost);
	assert_true(costs.slices > 1);
}

/** A step that takes long is seen in what telemetry has cost. */
static void long_holds_are_counted(void **state)
{
	struct objects o = {.pattern = "i", .total = 10, .slow = 5};

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_true(costs.longest_hold > TELEMETRY_LONG_HOLD);
	assert_in_range(costs.long_holds, 1, costs.slices);
	assert_true(costs.longest_elapsed >= costs.longest_hold);
}

/** One that waits for the processor has the engine, but no processor's time. */
static void what_elapses_in_a_hold_is_told(void **state)
{
	struct objects o = {.pattern = "i", .total = 10, .asleep = 5};

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_true(costs.longest_elapsed >= NAP_NS);
	assert_true(costs.longest_hold < costs.longest_elapsed);
}

static void nothing_is_a_list_too(void **state)
{
	struct objects o = {.pattern = "i", .total = 0};

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_int_equal(s.count, 0);
	assert_int_equal(costs.slices, 1);
}

static void an_engine_that_is_not_released(void **state)
{
	struct objects o = {.pattern = "i", .total = 3};

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	engine_lock(&engine);
	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), -EBUSY);
	engine_unlock(&engine);
	/* What it had before has gone, too. */
	assert_null(s.command);
	assert_int_equal(s.count, 0);
	assert_int_equal(o.steps, 4);
}

/** Write the page from @p from on. @return its value. */
static json_t *page(size_t from, size_t room, size_t *len)
{
	struct json_text j = {.text = NULL};
	json_t *value;

	telemetry_snapshot_page(&s, from, room, &j);
	*len = j.len;
	value = json_loadb(j.text, j.len, 0, NULL);
	assert_non_null(value);
	json_text_fini(&j);
	return value;
}

/** For longer than an engine is waited for when nobody is about to release it. */
static void *hold_and_work(void *arg)
{
	pthread_barrier_t *held = arg;

	engine_lock(&engine);
	pthread_barrier_wait(held);
	spend(UINT64_C(2500000000));
	engine_unlock(&engine);
	return NULL;
}

static void an_engine_that_is_released_late(void **state)
{
	struct objects o = {.pattern = "i", .total = 3};
	pthread_barrier_t held;
	pthread_t thread;

	pthread_barrier_init(&held, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, hold_and_work, &held), 0);
	pthread_barrier_wait(&held);
	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	assert_int_equal(s.count, 3);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&held);
}

static void pages_fill_their_room(void **state)
{
	struct objects o = {.pattern = "i", .total = 1000};
	size_t from = 0, len, expected = 1, i;
	unsigned pages = 0;
	json_t *p, *item;

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	do {
		p = page(from, 1000, &len);
		assert_true(len <= 1000);
		assert_int_equal(json_integer_value(json_object_get(p, "total")), 1000);
		json_array_foreach(json_object_get(p, "items"), i, item) assert_int_equal(
			json_integer_value(json_object_get(item, "n")), expected++);
		from = (size_t)json_integer_value(json_object_get(p, "next"));
		/* Where there is more, the room is used but for the room of a few items. */
		assert_true(!from || len > 1000 - 128);
		json_decref(p);
		pages++;
	} while (from);
	assert_int_equal(expected, 1001);
	assert_in_range(pages, 11, 20);
}

/** At least one item each time, or there would be no end; none beyond the last. */
static void the_smallest_page_goes_on(void **state)
{
	struct objects o = {.pattern = "i", .total = 2};
	size_t len;
	json_t *p;

	assert_int_equal(telemetry_snapshot_take(&s, &command, &o, &engine, &costs), 0);
	p = page(0, 70, &len);
	assert_int_equal(json_array_size(json_object_get(p, "items")), 1);
	assert_int_equal(json_integer_value(json_object_get(p, "next")), 1);
	json_decref(p);
	p = page(SIZE_MAX, 1000, &len);
	assert_int_equal(json_array_size(json_object_get(p, "items")), 0);
	assert_null(json_object_get(p, "next"));
	json_decref(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_items_in_slices, setup, teardown),
		cmocka_unit_test_setup_teardown(held_items_keep_the_lock, setup, teardown),
		cmocka_unit_test_setup_teardown(long_holds_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_elapses_in_a_hold_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_a_list_too, setup, teardown),
		cmocka_unit_test_setup_teardown(an_engine_that_is_not_released, setup, teardown),
		cmocka_unit_test_setup_teardown(an_engine_that_is_released_late, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_fill_their_room, setup, teardown),
		cmocka_unit_test_setup_teardown(the_smallest_page_goes_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
