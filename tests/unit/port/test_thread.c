/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct port *port;
static struct engine engine;
static struct poller poller;

static _Atomic unsigned fired, links, housekeepings;
static char thread_name[32];
static sigset_t thread_mask;

static void on_timer(struct timer *t, uint64_t now)
{
	pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
	pthread_sigmask(SIG_SETMASK, NULL, &thread_mask);
	atomic_fetch_add(&fired, 1);
}

static void on_link(void *ctx, bool up)
{
	atomic_fetch_add(&links, up ? 1 : 1000);
}

static void on_housekeeping(void *ctx)
{
	atomic_fetch_add(&housekeepings, 1);
}

static struct engine_thread *start(bool dedicated, int core)
{
	struct engine_thread_config cfg = {.poller = &poller,
		.dedicated = dedicated,
		.core = core,
		.link_changed = on_link,
		.housekeeping = on_housekeeping};
	struct engine_thread *t = NULL;

	assert_int_equal(engine_thread_start(&cfg, &t), 0);
	return t;
}

/** Deadlines are met though nobody polls, and one that is set while the thread sleeps too. */
static void timers_fire_without_the_application(void **state)
{
	struct engine_thread *t = start(false, -1);
	struct timer timer;

	timer_init(&timer, on_timer);
	for (unsigned i = 0; i < 5; i++) {
		unsigned before = atomic_load(&fired);

		engine_lock(&engine);
		timer_start(&engine.wheel, &timer, engine.now + 1000000);
		engine_unlock(&engine);
		while (atomic_load(&fired) == before)
			sched_yield();
	}
	assert_true(engine_thread_stats(t).rounds >= 5);
	assert_true(engine_thread_stats(t).sleeps >= 1);
	engine_thread_stop(t);
	assert_string_equal(thread_name, "uiwarp-engine");
	assert_int_equal(sigismember(&thread_mask, SIGTERM), 1);
	assert_int_equal(sigismember(&thread_mask, SIGUSR1), 1);
}

static void the_link_is_told_and_housekeeping_done(void **state)
{
	struct engine_thread *t;

	atomic_store(&links, 0);
	atomic_store(&housekeepings, 0);
	t = start(false, -1);
	while (atomic_load(&housekeepings) < 3)
		sched_yield();
	engine_thread_stop(t);
	assert_int_equal(atomic_load(&links), 1);
}

static void a_polling_application_is_left_alone(void **state)
{
	struct engine_thread *t = start(false, -1);

	while (engine_thread_stats(t).away < 3)
		for (int i = 0; i < 100; i++)
			engine_drive(&engine);
	engine_thread_stop(t);
}

static void dedicated_polls_without_a_pause(void **state)
{
	struct engine_thread *t = start(true, 0);

	while (engine_thread_stats(t).rounds < 10000)
		sched_yield();
	assert_int_equal(engine_thread_stats(t).sleeps, 0);
	engine_thread_stop(t);
}

static void a_core_that_is_not_there_is_refused(void **state)
{
	struct engine_thread_config cfg = {.poller = &poller, .dedicated = true, .core = 1000};
	struct engine_thread *t = NULL;

	assert_int_equal(engine_thread_start(&cfg, &t), -EINVAL);
	cfg.core = 100000;
	assert_int_equal(engine_thread_start(&cfg, &t), -EINVAL);
	engine_thread_stop(NULL);
}

static int setup(void **state)
{
	struct port_config pc = {.device = "net_ring0", .memory_mib = 8};
	struct port_error e;

	return port_open(&pc, &port, &e) || poller_init(&poller, &engine, port);
}

static int teardown(void **state)
{
	poller_fini(&poller);
	port_close(port);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_fire_without_the_application),
		cmocka_unit_test(the_link_is_told_and_housekeeping_done),
		cmocka_unit_test(a_polling_application_is_left_alone),
		cmocka_unit_test(dedicated_polls_without_a_pause),
		cmocka_unit_test(a_core_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
