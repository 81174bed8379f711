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

	assert_int_equal(idle_after(&p, now, 1, false, TIMER_NEVER).sleep, 0);
	now += IDLE_SPIN_NS - 1;
	assert_int_equal(idle_after(&p, now, 0, false, TIMER_NEVER).sleep, 0);
	now += 1;
	assert_int_equal(idle_after(&p, now, 0, false, TIMER_NEVER).sleep, IDLE_SHORT_NS);
	assert_false(idle_after(&p, now, 0, false, TIMER_NEVER).wait_wake);
	now = START + IDLE_RECENT_NS - 1;
	assert_int_equal(idle_after(&p, now, 0, false, TIMER_NEVER).sleep, IDLE_SHORT_NS);
}

static void idle_sleeps_grow_to_their_limit(void **state)
{
	struct idle p = {0};
	uint64_t now = START, last = 0;
	struct idle_step s = {0};

	for (int i = 0; i < 20; i++) {
		s = idle_after(&p, now, 0, false, TIMER_NEVER);
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

	idle_after(&p, now, 1, false, TIMER_NEVER);
	s = idle_after(&p, now + IDLE_SPIN_NS, 0, false, TIMER_NEVER);
	assert_true(s.wait_rx);
	assert_true(s.wait_wake);
	assert_int_equal(s.sleep, IDLE_LINK_NS);
}

/** Where there is no link to look at, a process that does nothing costs nothing. */
static void without_a_link_it_sleeps_until_something_comes(void **state)
{
	struct idle p = {.tells = true, .unwatched = true};
	struct idle_step s = idle_after(&p, START, 0, false, TIMER_NEVER);

	assert_int_equal(s.sleep, IDLE_LONGEST_NS);
	assert_true(s.wait_rx);
	assert_true(s.wait_wake);
	s = idle_after(&p, START, 0, false, START + 5);
	assert_int_equal(s.sleep, 5);
	/* An application may take what tells of something: it is looked for. */
	idle_look(&p, START, 1, false);
	idle_after(&p, START, 1, false, TIMER_NEVER);
	s = idle_after(&p, START + IDLE_SPIN_NS, 0, false, TIMER_NEVER);
	assert_int_equal(s.sleep, IDLE_AWAY_NS);
	s = idle_after(&p, START + IDLE_ALIVE_NS, 0, false, TIMER_NEVER);
	assert_int_equal(s.sleep, IDLE_LONGEST_NS);
}

static void relaxed_without_a_link_too(void **state)
{
	struct idle p = {.relaxed = true, .tells = true, .unwatched = true};
	uint64_t now = START;

	for (int i = 0; i < 40; i++)
		now += idle_after(&p, now, 0, false, TIMER_NEVER).sleep;
	assert_int_equal(idle_after(&p, now, 0, false, TIMER_NEVER).sleep, IDLE_LONGEST_NS);
}

static void a_deadline_ends_the_sleep(void **state)
{
	struct idle p = {.tells = true};
	struct idle_step s = idle_after(&p, START, 0, false, START + 500);

	assert_int_equal(s.sleep, 500);
	assert_false(s.wait_wake);
	assert_int_equal(idle_after(&p, START, 0, false, START).sleep, 0);
	assert_int_equal(idle_after(&p, START, 0, false, START - 1).sleep, 0);
}

static void relaxed_it_lets_packets_gather(void **state)
{
	struct idle p = {.relaxed = true};
	uint64_t now = START, last = 0;
	struct idle_step s;

	assert_int_equal(idle_after(&p, now, 1, false, TIMER_NEVER).sleep, IDLE_RELAXED_NS);
	assert_int_equal(idle_after(&p, now, 1, false, now + 1).sleep, IDLE_RELAXED_NS);
	assert_int_equal(idle_after(&p, now, 1, false, now - 1).sleep, IDLE_RELAXED_NS);
	/* The ring may hold more. */
	assert_int_equal(idle_after(&p, now, IDLE_FULL_ROUND, false, TIMER_NEVER).sleep, 0);
	now += IDLE_RECENT_NS;
	for (int i = 0; i < 20; i++) {
		s = idle_after(&p, now, 0, false, TIMER_NEVER);
		assert_true(s.sleep >= last);
		last = s.sleep;
	}
	assert_int_equal(last, IDLE_BLIND_NS);
	assert_true(s.wait_wake);
	s = idle_after(&p, now, 0, false, now + IDLE_RELAXED_NS + 5);
	assert_int_equal(s.sleep, IDLE_RELAXED_NS + 5);
	assert_false(s.wait_wake);
}

static void relaxed_it_waits_for_packets_when_there_are_none(void **state)
{
	struct idle p = {.relaxed = true, .tells = true};
	uint64_t now = START;

	assert_false(idle_after(&p, now, 1, false, TIMER_NEVER).wait_rx);
	now += IDLE_RECENT_NS;
	assert_true(idle_after(&p, now, 0, false, TIMER_NEVER).wait_rx);
}

/* ---- who drives ----------------------------------------------------------------------------- */

/** The thread has just handled a packet at @p now, and goes to sleep. */
static void sleeps_after_a_packet(struct idle *p, uint64_t now)
{
	if (!idle_after(p, now, 1, false, TIMER_NEVER).sleep)
		assert_int_not_equal(
			idle_after(p, now + IDLE_SPIN_NS, 0, false, TIMER_NEVER).sleep, 0);
}

/** Let the application poll until the thread is away. @return the time. */
static uint64_t go_away(struct idle *p, uint64_t now, uint64_t *visits)
{
	idle_look(p, now, *visits, false);
	idle_after(p, now, 0, false, TIMER_NEVER);
	now += 20000;
	*visits += 40; /* one in 500 ns */
	assert_true(idle_look(p, now, *visits, false));
	assert_true(p->away);
	return now;
}

static void a_polling_application_is_left_alone(void **state)
{
	struct idle p = {.tells = true};
	uint64_t visits = 0, last = 0, now = go_away(&p, START, &visits);

	for (int i = 0; i < 20; i++) {
		struct idle_step s = idle_away(&p, now);

		assert_true(s.sleep >= last);
		assert_false(s.wait_wake);
		assert_false(s.wait_rx);
		last = s.sleep;
		now += s.sleep;
		visits += s.sleep / IDLE_POLL_NS;
		assert_true(idle_look(&p, now, visits, false));
	}
	assert_int_equal(last, IDLE_AWAY_NS);
	/* It stops: looked after at once. */
	idle_away(&p, now);
	assert_false(idle_look(&p, now + IDLE_AWAY_NS, visits, false));
	/* And when it goes on, the next watch is short again. */
	go_away(&p, now + 2 * IDLE_AWAY_NS, &visits);
	assert_int_equal(idle_away(&p, now).sleep, IDLE_TRIAL_NS);
}

/** It may take long over one round, if that sends much. */
static void who_has_the_engine_at_the_end_of_a_watch_drives(void **state)
{
	struct idle p = {.tells = true};
	uint64_t visits = 0, now = go_away(&p, START, &visits);

	now += idle_away(&p, now).sleep;
	assert_true(idle_look(&p, now, visits, true));
	now += idle_away(&p, now).sleep;
	assert_false(idle_look(&p, now, visits, false));
	/* Otherwise it says nothing: a control call has it for a moment, too. */
	assert_false(idle_look(&p, now, visits, true));
}

static void an_application_that_spins_on_memory_is_helped(void **state)
{
	struct idle p = {.tells = true};
	uint64_t now = START, visits = 0;
	int tried = 0;

	idle_look(&p, now, visits, false);
	for (int i = 0; i < 10000; i++) {
		sleeps_after_a_packet(&p, now);
		now += 20000;
		visits += 2; /* it has posted and polled once, and waits for the next packet */
		if (!idle_look(&p, now, visits, false))
			continue;
		/* Was it only that the thread came too soon? No. */
		assert_false(p.away);
		assert_int_equal(idle_away(&p, now).sleep, IDLE_TRIAL_NS);
		now += IDLE_TRIAL_NS;
		assert_false(idle_look(&p, now, visits, false));
		tried++;
	}
	/* 200 ms; asked seldom in the end. */
	assert_in_range(tried, 10, 20);
}

static void a_poller_that_is_robbed_of_each_packet_is_found_by_trial(void **state)
{
	struct idle p = {.tells = true};
	uint64_t now = START, visits = 0;

	idle_look(&p, now, visits, false);
	sleeps_after_a_packet(&p, now);
	now += 9000;
	visits++;
	assert_true(idle_look(&p, now, visits, false));
	assert_int_equal(idle_away(&p, now).sleep, IDLE_TRIAL_NS);
	now += IDLE_TRIAL_NS;
	visits += IDLE_TRIAL_NS / IDLE_POLL_NS;
	assert_true(idle_look(&p, now, visits, false));
	assert_true(p.away);
}

/** The thread must sleep now and then, or an application on its core never runs. */
static void a_thread_with_endless_work_pauses(void **state)
{
	struct idle p = {.tells = true};
	uint64_t now = START, started = now, last = 0;
	struct idle_step s;

	for (int pauses = 0; pauses < 10;) {
		assert_false(idle_look(&p, now, 0, false));
		now += 1000;
		s = idle_after(&p, now, IDLE_FULL_ROUND, false, TIMER_NEVER);
		if (!s.sleep)
			continue;
		assert_int_equal(s.sleep, IDLE_TRIAL_NS);
		assert_false(s.wait_rx);
		assert_in_range(now - started, last, IDLE_TURN_MOST_NS + 1000);
		last = now - started;
		now += s.sleep;
		started = now;
		pauses++;
	}
	assert_in_range(last, IDLE_TURN_MOST_NS, IDLE_TURN_MOST_NS + 1000);
	/* In the next pause an application gets its chance, and drives. */
	do
		s = idle_after(&p, now += 1000, 1, false, TIMER_NEVER);
	while (!s.sleep);
	now += s.sleep;
	assert_true(idle_look(&p, now, IDLE_TRIAL_NS / IDLE_POLL_NS, false));
	assert_true(p.away);
	/* Turns are short again, as there is somebody. */
	assert_int_equal(p.turn, IDLE_TURN_NS);
}

static void beside_an_application_it_does_not_spin(void **state)
{
	struct idle p = {.tells = true, .next_trial = UINT64_MAX};
	struct idle_step s;

	assert_false(idle_look(&p, START, 1, false));
	s = idle_after(&p, START, 1, false, TIMER_NEVER);
	assert_true(s.wait_rx);
	/* An application may take what tells of a packet: it looks for that. */
	assert_int_equal(s.sleep, IDLE_AWAY_NS);
	assert_int_equal(idle_after(&p, START, IDLE_FULL_ROUND, false, TIMER_NEVER).sleep, 0);
	assert_int_equal(idle_after(&p, START + 1, 0, false, START + 2).sleep, IDLE_SHORT_NS);
	/* Nobody for a while: the core is its own. */
	assert_int_equal(idle_after(&p, START + IDLE_ALIVE_NS, 1, false, TIMER_NEVER).sleep, 0);
}

static void frames_that_wait_for_room_are_not_slept_on(void **state)
{
	struct idle p = {.tells = true};

	assert_int_equal(idle_after(&p, START, 0, true, TIMER_NEVER).sleep, IDLE_SHORT_NS);
	p.relaxed = true;
	assert_int_equal(idle_after(&p, START, 0, true, TIMER_NEVER).sleep, IDLE_SHORT_NS);
}

static void an_application_that_goes_to_sleep_is_served(void **state)
{
	struct idle p = {.tells = true};
	uint64_t visits = 0, now = go_away(&p, START, &visits);

	/* What it polled before does not count. */
	visits += 1000;
	idle_recall(&p, now, visits);
	assert_false(idle_look(&p, now, visits, false));
	sleeps_after_a_packet(&p, now);
	visits += 2;
	assert_false(idle_look(&p, now + 20000, visits, false));
}

/** It has the core now: to wait for packets would take that from it for each of them. */
static void an_application_that_was_woken_is_left_alone(void **state)
{
	struct idle p = {.tells = true, .next_trial = UINT64_MAX};
	uint64_t now = START, visits = 0;
	struct idle_step s;

	idle_look(&p, now, visits, false);
	s = idle_has_woken(&p, now);
	assert_int_equal(s.sleep, IDLE_TRIAL_NS);
	assert_false(s.wait_rx);
	/* It drives, and goes on doing so. */
	now += IDLE_TRIAL_NS;
	visits += IDLE_TRIAL_NS / IDLE_POLL_NS;
	assert_true(idle_look(&p, now, visits, false));
	assert_true(p.away);
	/* It sleeps, is woken again, and computes. */
	idle_recall(&p, now, visits);
	assert_false(idle_look(&p, now, visits, false));
	idle_has_woken(&p, now);
	now += IDLE_TRIAL_NS;
	assert_false(idle_look(&p, now, visits, false));
	s = idle_after(&p, now, 0, false, TIMER_NEVER);
	assert_true(s.wait_rx);
	/* Something had come for it, and more may: no short sleep as when nothing comes. */
	assert_int_equal(s.sleep, IDLE_AWAY_NS);
}

static void an_application_that_polls_now_and_then_is_helped(void **state)
{
	struct idle p = {.next_trial = UINT64_MAX};
	uint64_t now = START, visits = 0;

	idle_look(&p, now, visits, false);
	for (int i = 0; i < 20; i++) {
		now += 50000;
		visits += 3;
		assert_false(idle_look(&p, now, visits, false));
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
		struct idle_step s = idle_after(&p, now, 0, false, TIMER_NEVER);

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

/** Whoever has the engine may be waiting for the core that the thread takes by looking. */
static void who_has_the_engine_is_left_alone(void **state)
{
	struct idle p = {0};
	uint64_t last = 0, sum = 0, looks = 0;

	assert_int_equal(idle_tried(&p, true), 0);
	assert_int_equal(idle_tried(&p, false), IDLE_SHORT_NS);
	assert_int_equal(idle_tried(&p, true), 0);
	while (sum < 10000000) {
		uint64_t sleep = idle_tried(&p, false);

		assert_in_range(sleep, last ? last : IDLE_SHORT_NS, IDLE_MISSED_NS);
		sum += last = sleep;
		looks++;
	}
	assert_int_equal(last, IDLE_MISSED_NS);
	/* In 10 ms; without growing it would be a thousand. */
	assert_true(looks < 260);
	assert_int_equal(idle_tried(&p, true), 0);
	assert_int_equal(idle_tried(&p, false), IDLE_SHORT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_packet_goes_on_then_sleeps_briefly),
		cmocka_unit_test(idle_sleeps_grow_to_their_limit),
		cmocka_unit_test(a_port_that_tells_of_packets_is_waited_for),
		cmocka_unit_test(without_a_link_it_sleeps_until_something_comes),
		cmocka_unit_test(relaxed_without_a_link_too),
		cmocka_unit_test(a_deadline_ends_the_sleep),
		cmocka_unit_test(relaxed_it_lets_packets_gather),
		cmocka_unit_test(relaxed_it_waits_for_packets_when_there_are_none),
		cmocka_unit_test(a_descriptor_that_stays_silent_three_times_is_not_believed),
		cmocka_unit_test(a_descriptor_that_woke_us_is_believed_again),
		cmocka_unit_test(quiet_and_short_sleeps_say_nothing_about_the_descriptor),
		cmocka_unit_test(a_polling_application_is_left_alone),
		cmocka_unit_test(who_has_the_engine_at_the_end_of_a_watch_drives),
		cmocka_unit_test(an_application_that_spins_on_memory_is_helped),
		cmocka_unit_test(a_poller_that_is_robbed_of_each_packet_is_found_by_trial),
		cmocka_unit_test(a_thread_with_endless_work_pauses),
		cmocka_unit_test(beside_an_application_it_does_not_spin),
		cmocka_unit_test(frames_that_wait_for_room_are_not_slept_on),
		cmocka_unit_test(an_application_that_goes_to_sleep_is_served),
		cmocka_unit_test(an_application_that_was_woken_is_left_alone),
		cmocka_unit_test(an_application_that_polls_now_and_then_is_helped),
		cmocka_unit_test(who_has_the_engine_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
