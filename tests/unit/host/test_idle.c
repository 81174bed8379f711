/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/timer.h"
#include "host/idle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define START UINT64_C(1000000000)

static void after_a_packet_goes_on_then_sleeps_briefly(void **state)
{
	struct idle p = {0};
	uint64_t now = START;

	assert_int_equal(idle_after(&p, now, 1, TIMER_NEVER).sleep, 0);
	now += IDLE_SPIN_NS - 1;
	assert_int_equal(idle_after(&p, now, 0, TIMER_NEVER).sleep, 0);
	now += 1;
	assert_int_equal(idle_after(&p, now, 0, TIMER_NEVER).sleep, IDLE_SHORT_NS);
	assert_false(idle_after(&p, now, 0, TIMER_NEVER).wait_wake);
	now = START + IDLE_RECENT_NS - 1;
	assert_int_equal(idle_after(&p, now, 0, TIMER_NEVER).sleep, IDLE_SHORT_NS);
}

static void idle_sleeps_grow_to_their_limit(void **state)
{
	struct idle p = {0};
	uint64_t now = START, last = 0;
	struct idle_step s = {0};

	for (int i = 0; i < 20; i++) {
		s = idle_after(&p, now, 0, TIMER_NEVER);
		assert_true(s.sleep >= last);
		last = s.sleep;
		now += s.sleep;
	}
	assert_int_equal(last, IDLE_BLIND_NS);
	assert_true(s.wait_wake);
	assert_false(s.wait_rx);
}

static void a_port_that_tells_of_packets_is_waited_for(void **state)
{
	struct idle p = {.tells = true};
	struct idle_step s;
	uint64_t now = START;

	idle_after(&p, now, 1, TIMER_NEVER);
	s = idle_after(&p, now + IDLE_SPIN_NS, 0, TIMER_NEVER);
	assert_true(s.wait_rx);
	assert_true(s.wait_wake);
	assert_int_equal(s.sleep, IDLE_LINK_NS);
}

static void a_deadline_ends_the_sleep(void **state)
{
	struct idle p = {.tells = true};
	struct idle_step s = idle_after(&p, START, 0, START + 500);

	assert_int_equal(s.sleep, 500);
	assert_false(s.wait_wake);
	assert_int_equal(idle_after(&p, START, 0, START).sleep, 0);
	assert_int_equal(idle_after(&p, START, 0, START - 1).sleep, 0);
}

static void relaxed_it_lets_packets_gather(void **state)
{
	struct idle p = {.relaxed = true};
	uint64_t now = START, last = 0;
	struct idle_step s;

	assert_int_equal(idle_after(&p, now, 1, TIMER_NEVER).sleep, IDLE_RELAXED_NS);
	assert_int_equal(idle_after(&p, now, 1, now + 1).sleep, IDLE_RELAXED_NS);
	assert_int_equal(idle_after(&p, now, 1, now - 1).sleep, IDLE_RELAXED_NS);
	/* The ring may hold more. */
	assert_int_equal(idle_after(&p, now, IDLE_FULL_ROUND, TIMER_NEVER).sleep, 0);
	now += IDLE_RECENT_NS;
	for (int i = 0; i < 20; i++) {
		s = idle_after(&p, now, 0, TIMER_NEVER);
		assert_true(s.sleep >= last);
		last = s.sleep;
	}
	assert_int_equal(last, IDLE_BLIND_NS);
	assert_true(s.wait_wake);
	s = idle_after(&p, now, 0, now + IDLE_RELAXED_NS + 5);
	assert_int_equal(s.sleep, IDLE_RELAXED_NS + 5);
	assert_false(s.wait_wake);
}

static void relaxed_it_waits_for_packets_when_there_are_none(void **state)
{
	struct idle p = {.relaxed = true, .tells = true};
	uint64_t now = START;

	assert_false(idle_after(&p, now, 1, TIMER_NEVER).wait_rx);
	now += IDLE_RECENT_NS;
	assert_true(idle_after(&p, now, 0, TIMER_NEVER).wait_rx);
}

static void a_polling_application_is_left_alone(void **state)
{
	struct idle p = {0};
	uint64_t now = START, rounds = 0, last = 0;
	int driven = 0;

	idle_look(&p, now, rounds);
	for (int i = 0; i < 20; i++) {
		struct idle_step s;

		now += 20000;
		rounds += 40; /* one in 500 ns */
		if (!idle_look(&p, now, rounds)) {
			driven++;
			continue;
		}
		s = idle_away(&p);
		assert_true(s.sleep >= last);
		assert_false(s.wait_wake);
		last = s.sleep;
	}
	assert_int_equal(last, IDLE_AWAY_NS);
	assert_in_range(driven, 1, 5);
	/* It stops: looked after at once. */
	assert_false(idle_look(&p, now + IDLE_AWAY_NS, rounds));
}

static void an_application_that_polls_now_and_then_is_helped(void **state)
{
	struct idle p = {0};
	uint64_t now = START, rounds = 0;

	idle_look(&p, now, rounds);
	for (int i = 0; i < 20; i++) {
		now += 50000;
		rounds += 3;
		assert_false(idle_look(&p, now, rounds));
	}
}

/** Some drivers hand out a descriptor that never becomes readable. */
static void a_descriptor_that_stays_silent_three_times_is_not_believed(void **state)
{
	struct idle p = {.tells = true};
	uint64_t now = START;

	assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
	assert_false(idle_learn(&p, IDLE_DOUBT_NS, false, 5));
	assert_true(p.tells);
	assert_true(idle_learn(&p, IDLE_LINK_NS, false, 1));
	/* Said once; and the port is looked at as one that has none. */
	assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
	for (int i = 0; i < 20; i++) {
		struct idle_step s = idle_after(&p, now, 0, TIMER_NEVER);

		assert_false(s.wait_rx);
		assert_true(s.sleep <= IDLE_BLIND_NS);
		now += s.sleep;
	}
}

static void a_descriptor_that_woke_us_is_believed_again(void **state)
{
	struct idle p = {.tells = true};

	for (int i = 0; i < 10; i++) {
		assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
		assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
		assert_false(idle_learn(&p, 5000, true, 1));
	}
	assert_true(p.tells);
	/* To be woken for nothing, by an interrupt that the link shares, acquits it of nothing. */
	assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
	assert_false(idle_learn(&p, IDLE_LINK_NS, true, 0));
	assert_false(idle_learn(&p, IDLE_LINK_NS, false, 1));
	assert_true(idle_learn(&p, IDLE_LINK_NS, false, 1));
}

static void quiet_and_short_sleeps_say_nothing_about_the_descriptor(void **state)
{
	struct idle p = {.tells = true};

	for (int i = 0; i < 100; i++) {
		assert_false(idle_learn(&p, IDLE_LINK_NS, false, 0));
		/* The NIC may hold the interrupt back for as long. */
		assert_false(idle_learn(&p, IDLE_DOUBT_NS - 1, false, 3));
	}
	assert_true(p.tells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_packet_goes_on_then_sleeps_briefly),
		cmocka_unit_test(idle_sleeps_grow_to_their_limit),
		cmocka_unit_test(a_port_that_tells_of_packets_is_waited_for),
		cmocka_unit_test(a_deadline_ends_the_sleep),
		cmocka_unit_test(relaxed_it_lets_packets_gather),
		cmocka_unit_test(relaxed_it_waits_for_packets_when_there_are_none),
		cmocka_unit_test(a_descriptor_that_stays_silent_three_times_is_not_believed),
		cmocka_unit_test(a_descriptor_that_woke_us_is_believed_again),
		cmocka_unit_test(quiet_and_short_sleeps_say_nothing_about_the_descriptor),
		cmocka_unit_test(a_polling_application_is_left_alone),
		cmocka_unit_test(an_application_that_polls_now_and_then_is_helped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
