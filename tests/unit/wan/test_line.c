/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/line.h"

#include "base/prng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct wan_line line;
static char things[1000];

static int set_up(void **state)
{
	return wan_line_init(&line, 1000) ? 0 : -1;
}

static int tear_down(void **state)
{
	wan_line_fini(&line);
	return 0;
}

/* The index of what comes out at @now, which must be due at @due. */
static long take(uint64_t now, uint64_t due)
{
	uint64_t was = 0;
	const char *t = wan_line_take(&line, now, &was);

	assert_non_null(t);
	assert_int_equal(was, due);
	return t - things;
}

static void nothing_comes_out_of_an_empty_line(void **state)
{
	uint64_t due;

	assert_int_equal(wan_line_next(&line), WAN_NEVER);
	assert_null(wan_line_take(&line, WAN_NEVER, &due));
	assert_int_equal(wan_line_count(&line), 0);
}

static void nothing_comes_out_before_its_time(void **state)
{
	uint64_t due;

	wan_line_put(&line, &things[0], 100);
	assert_int_equal(wan_line_next(&line), 100);
	assert_null(wan_line_take(&line, 99, &due));
	assert_int_equal(take(100, 100), 0);
	assert_int_equal(wan_line_next(&line), WAN_NEVER);
}

static void what_is_put_in_order_stays_in_order(void **state)
{
	wan_line_put(&line, &things[0], 100);
	wan_line_put(&line, &things[1], 50);
	wan_line_put(&line, &things[2], 120);
	assert_int_equal(take(200, 100), 0);
	assert_int_equal(take(200, 100), 1);
	/* Also when what came before is out already, but not without end. */
	wan_line_put(&line, &things[3], 110);
	assert_int_equal(take(200, 120), 2);
	assert_int_equal(take(200, 120), 3);
	wan_line_put(&line, &things[4], 60);
	assert_int_equal(take(200, 60), 4);
}

static void what_is_put_anywhere_overtakes_and_is_overtaken(void **state)
{
	wan_line_put(&line, &things[0], 100);
	wan_line_put_anywhere(&line, &things[1], 50);
	wan_line_put_anywhere(&line, &things[2], 150);
	wan_line_put(&line, &things[3], 101);
	assert_int_equal(wan_line_count(&line), 4);
	assert_int_equal(take(200, 50), 1);
	assert_int_equal(take(200, 100), 0);
	assert_int_equal(take(200, 101), 3);
	assert_int_equal(take(200, 150), 2);
}

static void equals_come_out_as_they_went_in(void **state)
{
	for (int i = 0; i < 100; i++)
		if (i % 3 == 0)
			wan_line_put(&line, &things[i], 7);
		else
			wan_line_put_anywhere(&line, &things[i], 7);
	for (int i = 0; i < 100; i++)
		assert_int_equal(take(7, 7), i);
}

/* Against the definition: always the earliest, all of them, for many rounds of the ring. */
static void a_thousand_at_random_come_out_sorted(void **state)
{
	struct prng r = {11};
	uint64_t dues[1000], last = 0, due;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 1000; i++) {
			dues[i] = last + prng_below(&r, 500);
			wan_line_put_anywhere(&line, &things[i], dues[i]);
		}
		assert_int_equal(wan_line_count(&line), 1000);
		for (int i = 0; i < 1000; i++) {
			char *t = wan_line_take(&line, WAN_NEVER, &due);

			assert_non_null(t);
			assert_true(due >= last);
			assert_int_equal(due, dues[t - things]);
			dues[t - things] = WAN_NEVER;
			last = due;
		}
		assert_int_equal(wan_line_count(&line), 0);
	}
}

static void the_ring_goes_round(void **state)
{
	for (int i = 0; i < 5000; i++) {
		wan_line_put(&line, &things[i % 1000], (uint64_t)i);
		if (i >= 999)
			assert_int_equal(take((uint64_t)i, (uint64_t)i - 999), (i - 999) % 1000);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(nothing_comes_out_of_an_empty_line),
		TEST(nothing_comes_out_before_its_time),
		TEST(what_is_put_in_order_stays_in_order),
		TEST(what_is_put_anywhere_overtakes_and_is_overtaken),
		TEST(equals_come_out_as_they_went_in),
		TEST(a_thousand_at_random_come_out_sorted),
		TEST(the_ring_goes_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
