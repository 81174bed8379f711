/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/hystart.h"

#define WINDOW 100000

struct path {
	struct tcp_hystart h;
	uint32_t una;
};

/** A round of @p n ACKs with the round trip @p rtt. @return what the last one said. */
static enum tcp_hystart_growth round_of(struct path *p, unsigned n, uint64_t rtt)
{
	enum tcp_hystart_growth g = TCP_HYSTART_FULL;
	uint32_t end = p->una + WINDOW;

	for (unsigned i = 1; i <= n && g != TCP_HYSTART_DONE; i++)
		g = tcp_hystart_ack(&p->h, rtt, p->una + i * (WINDOW / n), end + i);
	p->una = end;
	return g;
}

static void test_steady_round_trips_go_on(void **state)
{
	struct path p = {.una = 0xffffff00u};

	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(round_of(&p, 20, 50 * MS), TCP_HYSTART_FULL);
}

static void test_growing_round_trips_end_it(void **state)
{
	struct path p = {.una = 0xffffff00u};

	round_of(&p, 20, 50 * MS);
	round_of(&p, 20, 50 * MS);
	assert_int_equal(round_of(&p, 20, 56 * MS), TCP_HYSTART_FULL); /* less than an eighth */
	assert_int_equal(round_of(&p, 20, 64 * MS), TCP_HYSTART_CSS);
	/* Five rounds in all, this one among them. */
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(round_of(&p, 20, 64 * MS), TCP_HYSTART_CSS);
	assert_int_equal(round_of(&p, 20, 64 * MS), TCP_HYSTART_DONE);
}

/** A window that outgrows the path in its middle is noticed there, not a round later. */
static void test_growth_within_a_round_ends_it(void **state)
{
	struct path p = {.una = 0xffffff00u};
	uint32_t end;

	round_of(&p, 20, 50 * MS);
	round_of(&p, 20, 50 * MS);
	end = p.una + WINDOW;
	for (unsigned i = 1; i <= 64; i++)
		assert_int_equal(
			tcp_hystart_ack(&p.h, (i <= 32 ? 50 : 60) * MS, p.una + i, end + i),
			i < 40 ? TCP_HYSTART_FULL : TCP_HYSTART_CSS);
	p.una = end;
	/* The queue stands: the beginning of that round does not make it jitter. */
	assert_int_equal(round_of(&p, 20, 60 * MS), TCP_HYSTART_CSS);
}

static void test_jitter_is_forgiven(void **state)
{
	struct path p = {.una = 1};

	round_of(&p, 20, 50 * MS);
	round_of(&p, 20, 50 * MS);
	assert_int_equal(round_of(&p, 20, 60 * MS), TCP_HYSTART_CSS);
	assert_int_equal(round_of(&p, 20, 55 * MS), TCP_HYSTART_FULL);
}

static void test_bounds_of_the_threshold(void **state)
{
	struct path p = {.una = 1};

	/* Less than 4 ms only where that is more than half a round trip, or 200 us... */
	round_of(&p, 20, 10 * MS);
	round_of(&p, 20, 10 * MS);
	assert_int_equal(round_of(&p, 20, 13999000), TCP_HYSTART_FULL);
	assert_int_equal(round_of(&p, 20, 18 * MS), TCP_HYSTART_CSS);
	p = (struct path){.una = 1};
	round_of(&p, 20, MS);
	round_of(&p, 20, MS);
	assert_int_equal(round_of(&p, 20, MS + MS / 2 - 1000), TCP_HYSTART_FULL);
	assert_int_equal(round_of(&p, 20, 3 * MS), TCP_HYSTART_CSS);
	p = (struct path){.una = 1};
	round_of(&p, 20, MS / 50);
	round_of(&p, 20, MS / 50);
	assert_int_equal(round_of(&p, 20, MS / 5), TCP_HYSTART_FULL);
	/* ...nor more than 16. */
	p = (struct path){.una = 1};
	round_of(&p, 20, 400 * MS);
	round_of(&p, 20, 400 * MS);
	assert_int_equal(round_of(&p, 20, 417 * MS), TCP_HYSTART_CSS);
}

static void test_few_samples_tell_nothing(void **state)
{
	struct path p = {.una = 1};

	round_of(&p, 20, 50 * MS);
	round_of(&p, 20, 50 * MS);
	assert_int_equal(round_of(&p, 7, 90 * MS), TCP_HYSTART_FULL);
}

/** Nobody asks while the window is not used: by then a round's end may lie anywhere. */
static void test_a_round_that_ended_long_ago(void **state)
{
	for (uint32_t gap = 0; gap < 0xf0000000u; gap += 0x10000000u) {
		struct path p = {.una = 1};

		round_of(&p, 20, 50 * MS);
		round_of(&p, 20, 50 * MS);
		p.una += gap;
		round_of(&p, 20, 50 * MS);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(round_of(&p, 20, 70 * MS), TCP_HYSTART_CSS);
		assert_int_equal(round_of(&p, 20, 70 * MS), TCP_HYSTART_DONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady_round_trips_go_on),
		cmocka_unit_test(test_growing_round_trips_end_it),
		cmocka_unit_test(test_growth_within_a_round_ends_it),
		cmocka_unit_test(test_jitter_is_forgiven),
		cmocka_unit_test(test_bounds_of_the_threshold),
		cmocka_unit_test(test_few_samples_tell_nothing),
		cmocka_unit_test(test_a_round_that_ended_long_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
