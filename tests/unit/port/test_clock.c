/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/clock.h"

#include "support/eal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void scales_cycles_to_ns(void **state)
{
	/* 2.5 GHz: 0.4 ns a cycle. */
	const struct clock_sample base = {.tsc = 1000, .ns = 77};
	const uint64_t mult = 1717986918;

	assert_int_equal(clock_at(&base, mult, 1000), 77);
	assert_int_equal(clock_at(&base, mult, 1000 + 2500), 77 + 999);
	assert_int_equal(clock_at(&base, mult, 1000 - 100), 77 - 39);
	assert_int_equal(clock_at(&base, mult, 0), 0);
	/* A year on: no overflow, and the multiplier's rounding is below a part in 10^9. */
	assert_in_range(clock_at(&base, mult, 1000 + UINT64_C(78840000000000000)),
		UINT64_C(31535999900000000), UINT64_C(31536000000000077));
}

static void measures_against_an_earlier_sample(void **state)
{
	struct clock_sample now = clock_sample_now(), since;
	struct port_clock c;

	/* As if the counter ran at 1 GHz for the last ten seconds. */
	since = (struct clock_sample){.raw = now.raw - UINT64_C(10000000000)};
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

/** A counter that was reset since then says nothing of its rate. */
static void measures_nothing_against_a_sample_ahead(void **state)
{
	struct clock_sample since = clock_sample_now();
	struct port_clock c;

	since.tsc += UINT64_C(1) << 62;
	since.raw -= UINT64_C(10000000000);
	clock_init(&c, &since);
	assert_int_equal(c.mult, 0);
}

/** Nor does one that went on while the kernel's clock stood, or was set back a little. */
static void measures_nothing_across_a_jump(void **state)
{
	static const int64_t jumps[] = {-5, 5, 3600};
	struct port_clock c;

	test_eal_init();
	clock_init(&c, NULL);
	if (!c.mult)
		skip();
	for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
		const int64_t hz = (int64_t)rte_get_tsc_hz();
		struct clock_sample since = clock_sample_now();

		since.raw -= UINT64_C(10000000000);
		since.tsc -= (uint64_t)(10 * hz);
		clock_init(&c, &since);
		assert_true(c.mult != 0);
		since.tsc -= (uint64_t)(jumps[i] * hz);
		clock_init(&c, &since);
		assert_int_equal(c.mult, 0);
	}
}

#define SECOND INT64_C(1000000000)

/** As if the counter had been @p ns ahead of where it is since the clock was begun. */
static void move(struct port_clock *c, int64_t ns)
{
	__int128 cycles = (__int128)ns * ((__int128)1 << 32) / (__int128)c->mult;

	c->base.tsc -= (uint64_t)(int64_t)cycles;
}

/**
 * A day, or what is there of it with a little left to jump. The counter begins with the machine, or
 * with the one that this is a guest of; the kernel's clocks with this one.
 */
static int64_t oldest(const struct port_clock *c)
{
	int64_t counter = (int64_t)clock_scale(c->base.tsc, c->mult);
	int64_t kernel = (int64_t)(c->base.ns < c->base.raw ? c->base.ns : c->base.raw);
	int64_t most = (counter < kernel ? counter : kernel) - 120 * SECOND;

	return most < 24 * 3600 * SECOND ? most : 24 * 3600 * SECOND;
}

/** As if @p c had been begun @p ns earlier than it was, and not been looked at since. */
static void begun_before(struct port_clock *c, int64_t ns)
{
	move(c, ns);
	c->base.ns -= (uint64_t)ns;
	c->base.raw -= (uint64_t)ns;
	c->looked = c->steady = (struct clock_look){c->base.ns, c->base.raw};
}

static struct clock_sample first;

/** @return false: there is no counter to go by. */
static bool begin(struct port_clock *c)
{
	/* Long enough to measure its rate. */
	while (clock_kernel_ns() - first.ns < SECOND / 10)
		;
	clock_init(c, &first);
	return c->mult != 0;
}

static void goes_on_when_its_counter_has_jumped(void **state)
{
	static const int64_t jumps[] = {-3600 * SECOND, -30 * SECOND, 3 * SECOND, 30 * SECOND};
	struct port_clock c;

	for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
		uint64_t before, last, now;

		if (!begin(&c))
			skip();
		last = clock_onward(&c, c.base.ns);
		move(&c, jumps[i]);
		before = clock_kernel_ns();
		assert_false(c.left);
		assert_int_equal(clock_onward(&c, last), last);
		assert_int_equal(c.mult, 0);
		assert_true(c.left);
		while (clock_onward(&c, last) == last)
			;
		now = clock_ns(&c);
		assert_in_range(now, last + 1, last + (clock_kernel_ns() - before));
	}
}

/** Another core's is behind by a little; the process was stopped for half a minute. */
static void keeps_a_counter_that_has_not_jumped(void **state)
{
	struct port_clock c;
	uint64_t ahead;

	if (!begin(&c) || oldest(&c) < 30 * SECOND)
		skip();
	ahead = clock_ns(&c) + CLOCK_BACK_NS;
	assert_true(clock_onward(&c, ahead) >= ahead);
	assert_true(c.mult != 0);
	begun_before(&c, 30 * SECOND);
	assert_true(clock_onward(&c, c.base.ns) >= c.base.ns + 29 * (uint64_t)SECOND);
	assert_true(c.mult != 0);
}

/** DPDK's figure of the rate is out by up to a four-hundredth, and so is the time since then. */
static void keeps_a_counter_of_a_rounded_rate(void **state)
{
	struct port_clock c;
	uint64_t last;

	for (unsigned i = 0; i < 2; i++) {
		int64_t age = 30 * 60 * SECOND;

		if (!begin(&c) || oldest(&c) < age)
			skip();
		begun_before(&c, i == 0 ? age : oldest(&c));
		c.mult += c.mult / 500;
		last = clock_onward(&c, c.base.ns);
		assert_true(c.mult != 0);
		/* And is stopped for two seconds. */
		c.looked.ns -= 2 * (uint64_t)SECOND;
		c.looked.raw -= 2 * (uint64_t)SECOND;
		assert_true(clock_onward(&c, last - 2 * (uint64_t)SECOND) >= last);
		assert_true(c.mult != 0);
	}
}

/** However long it has run, what is not the time since the last look is a jump. */
static void leaves_a_counter_that_jumps_after_long(void **state)
{
	static const int64_t jumps[] = {-60 * SECOND, 2 * SECOND, 60 * SECOND};
	struct port_clock c;
	uint64_t last;

	for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
		if (!begin(&c) || oldest(&c) < 3600 * SECOND)
			skip();
		begun_before(&c, oldest(&c));
		last = clock_onward(&c, c.base.ns);
		assert_true(c.mult != 0);
		move(&c, jumps[i]);
		assert_int_equal(clock_onward(&c, last), last);
		assert_int_equal(c.mult, 0);
		assert_true(c.left);
	}
}

/** As by a migration that stopped the process for a minute, of which the counter knows nothing. */
static void leaves_a_counter_that_stood_still(void **state)
{
	struct port_clock c;
	uint64_t last;

	if (!begin(&c))
		skip();
	last = clock_onward(&c, c.base.ns);
	c.looked.raw -= 61 * (uint64_t)SECOND;
	c.looked.ns -= (uint64_t)SECOND; /* so that it is looked at */
	last = clock_onward(&c, last);
	assert_true(c.left);
	assert_int_equal(c.mult, 0);
	assert_true(clock_onward(&c, last) >= last);
}

/** As if all that @p c has to do with had been @p ns earlier, and the counter @p cycles behind. */
static void let_pass(struct port_clock *c, uint64_t ns, uint64_t cycles)
{
	c->base.ns -= ns;
	c->base.raw -= ns;
	c->base.tsc -= cycles;
	c->looked.ns -= ns;
	c->looked.raw -= ns;
	c->steady.ns -= ns;
	c->steady.raw -= ns;
}

/** A minute of a counter whose rate is taken to be @p part-th too high, or low. @return whether it
 * is left. */
static bool leaves_a_rate(struct port_clock *c, int64_t part)
{
	const uint64_t second = ((uint64_t)SECOND << 32) / c->mult;
	uint64_t last = c->base.ns;

	c->mult += (uint64_t)((int64_t)c->mult / part);
	for (unsigned i = 0; i < 60 && c->mult; i++) {
		let_pass(c, (uint64_t)SECOND, second);
		last = clock_onward(c, last - (uint64_t)SECOND);
	}
	return c->left && !c->mult;
}

/** No look finds much amiss, but all together do. */
static void leaves_a_counter_of_a_wrong_rate(void **state)
{
	static const int64_t wrong[] = {4, -4, 10, -10}, rounded[] = {400, -400};
	struct port_clock c;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		if (!begin(&c) || oldest(&c) < 60 * SECOND)
			skip();
		assert_true(leaves_a_rate(&c, wrong[i]));
	}
	for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
		assert_true(begin(&c));
		assert_false(leaves_a_rate(&c, rounded[i]));
		assert_true(c.mult != 0);
	}
}

/** As by a migration: what was right for an hour does not make up for what is wrong since. */
static void leaves_a_rate_that_was_right_for_long(void **state)
{
	const int64_t hour = 3600 * SECOND;
	struct port_clock c;

	if (!begin(&c) || oldest(&c) < hour + 60 * SECOND)
		skip();
	begun_before(&c, hour);
	clock_onward(&c, c.base.ns);
	assert_true(c.mult != 0);
	/* From the first look of another rate on, the time goes on from where it was. */
	c.base.tsc = clock_sample_now().tsc;
	c.base.ns = c.looked.ns;
	assert_true(leaves_a_rate(&c, 20));
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
		cmocka_unit_test(measures_nothing_against_a_sample_ahead),
		cmocka_unit_test(continues_the_kernels_clock),
		cmocka_unit_test(goes_on_when_its_counter_has_jumped),
		cmocka_unit_test(keeps_a_counter_that_has_not_jumped),
		cmocka_unit_test(keeps_a_counter_of_a_rounded_rate),
		cmocka_unit_test(leaves_a_counter_that_jumps_after_long),
		cmocka_unit_test(leaves_a_counter_that_stood_still),
		cmocka_unit_test(leaves_a_counter_of_a_wrong_rate),
		cmocka_unit_test(leaves_a_rate_that_was_right_for_long),
		cmocka_unit_test(without_an_invariant_counter_asks_the_kernel),
		cmocka_unit_test(tells_a_time_to_wait_until),
		cmocka_unit_test(measures_nothing_across_a_jump), /* has the EAL from here on */
	};

	first = clock_sample_now();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
