/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define FRAMES 1000000

/* What became of a million frames. */
static struct {
	unsigned lost, bursts, longest;
} got;

static void count(const struct wan_loss_config *cfg, uint64_t seed)
{
	struct wan_loss l = {.cfg = *cfg};
	struct prng r = {seed};
	unsigned run = 0;

	got.lost = got.bursts = got.longest = 0;
	for (int i = 0; i < FRAMES; i++) {
		if (!wan_loss_next(&l, &r)) {
			run = 0;
			continue;
		}
		got.lost++;
		got.bursts += run++ == 0;
		if (run > got.longest)
			got.longest = run;
	}
}

static void without_loss_nothing_is_lost(void **state)
{
	count(&(struct wan_loss_config){0}, 1);
	assert_int_equal(got.lost, 0);
}

static void a_loss_of_one_takes_everything(void **state)
{
	count(&(struct wan_loss_config){.good = 1}, 1);
	assert_int_equal(got.lost, FRAMES);
}

/* The standard deviation is 99.5 frames; the bound is five. */
static void independent_losses_are_as_many_as_asked_and_in_no_bursts(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		count(&(struct wan_loss_config){.good = 0.01}, seed);
		assert_in_range(got.lost, 10000 - 500, 10000 + 500);
		/* A loss follows a loss in one of a hundred cases. */
		assert_in_range(got.lost - got.bursts, 50, 150);
	}
}

static void bursts_have_their_share_and_their_length(void **state)
{
	struct wan_loss_config c = wan_loss_bursts(0.01, 8);

	assert_true(wan_loss_share(&c) > 0.00999999 && wan_loss_share(&c) < 0.01000001);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		count(&c, seed);
		assert_in_range(got.lost, 8500, 11500);
		assert_in_range(got.lost * 10 / got.bursts, 74, 86);
		assert_true(got.longest > 30);
	}
}

static void gilbert_elliott_loses_in_both_states(void **state)
{
	const struct wan_loss_config c = {.good = 0.001, .bad = 0.5, .enter = 0.01, .leave = 0.09};

	/* Bad for a tenth of the frames. */
	assert_true(wan_loss_share(&c) > 0.0508999 && wan_loss_share(&c) < 0.0509001);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		count(&c, seed);
		assert_in_range(got.lost, 49000, 52800);
	}
}

static void the_share_of_what_is_never_left_is_that_of_the_bad_state(void **state)
{
	const struct wan_loss_config c = {.bad = 1, .enter = 1};

	assert_true(wan_loss_share(&c) == 1);
	count(&c, 1);
	assert_int_equal(got.lost, FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_loss_nothing_is_lost),
		cmocka_unit_test(a_loss_of_one_takes_everything),
		cmocka_unit_test(independent_losses_are_as_many_as_asked_and_in_no_bursts),
		cmocka_unit_test(bursts_have_their_share_and_their_length),
		cmocka_unit_test(gilbert_elliott_loses_in_both_states),
		cmocka_unit_test(the_share_of_what_is_never_left_is_that_of_the_bad_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
