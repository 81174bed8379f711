/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/port_private.h"
#include "host/idle.h"
#include "host/thread.h"
#include "support/wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/** Cycles that the counter jumps ahead behind the next round that is no housekeeping. */
static uint64_t jump;
static bool jump_waits;

static void on_housekeeping(void *ctx)
{
	jump_waits = true;
	atomic_fetch_add(&housekeepings, 1);
}

static void leave_and_jump(void *ctx)
{
	poller_ops.leave(ctx);
	if (!jump_waits) {
		poller.clock.base.tsc -= jump;
		jump = 0;
	}
	jump_waits = false;
}

static _Atomic uint64_t longest_sleep;

int __real_ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);
WRAPPED int __wrap_ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	uint64_t ns = (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;

	if (ns > atomic_load(&longest_sleep))
		atomic_store(&longest_sleep, ns);
	return __real_ppoll(fds, n, timeout, mask);
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

/** Set a deadline, and wait for it: @p n times. */
static void let_timer_fire(unsigned n)
{
	struct timer timer;

	timer_init(&timer, on_timer);
	for (unsigned i = 0; i < n; i++) {
		unsigned before = atomic_load(&fired);

		engine_lock(&engine);
		timer_start(&engine.wheel, &timer, engine.now + 1000000);
		engine_unlock(&engine);
		while (atomic_load(&fired) == before)
			sched_yield();
	}
}

/** Deadlines are met though nobody polls, and one that is set while the thread sleeps too. */
static void timers_fire_without_the_application(void **state)
{
	struct engine_thread *t = start(false, -1);

	let_timer_fire(5);
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

/** A counter that jumps ahead, as by a migration, is left: nothing waits for as long. */
static void housekeeping_goes_on_when_the_counter_jumps(void **state)
{
	const unsigned __int128 ahead = (unsigned __int128)UINT64_C(120000000000) << 32;
	const struct engine_ops *before = engine.ops;
	const struct port_clock clock = poller.clock;
	struct engine_ops ops = *before;

	/* The counter begins with the machine. */
	if (!clock.mult || clock.base.tsc < (uint64_t)(ahead / clock.mult))
		skip();
	ops.leave = leave_and_jump;
	engine.ops = &ops;
	for (unsigned dedicated = 0; dedicated < 2; dedicated++) {
		struct engine_thread *t;

		jump = (uint64_t)(ahead / clock.mult);
		jump_waits = true; /* the thread's start */
		atomic_store(&housekeepings, 0);
		t = start(dedicated, dedicated ? 0 : -1);
		while (atomic_load(&housekeepings) < 4)
			sched_yield();
		engine_thread_stop(t);
		assert_int_equal(jump, 0);
		assert_int_equal(poller.clock.mult, 0);
		poller.clock = clock;
	}
	engine.ops = before;
}

/** One frame to the port, which net_ring hands back to it. */
static void send_a_frame(void)
{
	struct rte_mbuf *m;

	engine_lock(&engine);
	m = rte_pktmbuf_alloc(port_pool(port));
	assert_non_null(m);
	assert_non_null(rte_pktmbuf_append(m, 60));
	port_tx(port, m);
	port_flush(port);
	engine_unlock(&engine);
}

#define LAST_WORDS 100

static _Atomic uint64_t received_before_watch;

static bool watch_a_peer_that_ended(struct poller *p)
{
	if (!atomic_load(&received_before_watch))
		atomic_store(&received_before_watch, p->source->received(p) + 1);
	return true;
}

/** When it is found to have ended, what it sent before cannot be read any more. */
static void what_a_peer_sent_is_taken_before_it_is_found_to_have_ended(void **state)
{
	const struct poller_source *before = poller.source;
	struct poller_source source = *before;
	struct engine_thread *t;
	uint64_t had = port_get_stats(port)->rx_packets;

	source.watch = watch_a_peer_that_ended;
	poller.source = &source;
	for (unsigned i = 0; i < LAST_WORDS; i++)
		send_a_frame();
	t = start(false, -1);
	while (!atomic_load(&received_before_watch))
		sched_yield();
	engine_thread_stop(t);
	poller.source = before;
	assert_int_equal(atomic_load(&received_before_watch), had + LAST_WORDS + 1);
}

static bool watch_a_link_that_is_down(struct poller *p)
{
	return false;
}

static bool carries_nothing(const struct poller *p)
{
	return false;
}

static uint64_t sleeps_until(const struct engine_thread *t, unsigned n)
{
	while (atomic_load(&housekeepings) < n)
		sched_yield();
	return engine_thread_stats(t).sleeps;
}

/** Nothing tells of packets, but none can come. */
static void a_port_without_a_link_is_not_looked_at_all_the_time(void **state)
{
	const struct poller_source *before = poller.source;
	struct poller_source source = *before;
	struct engine_thread *t;
	uint64_t sleeps;

	assert_int_equal(port_rx_fd(port), -1);
	source.watch = watch_a_link_that_is_down;
	source.carries = carries_nothing;
	poller.source = &source;
	atomic_store(&housekeepings, 0);
	t = start(false, -1);
	sleeps = sleeps_until(t, 3);
	sleeps = sleeps_until(t, 8) - sleeps;
	engine_thread_stop(t);
	poller.source = before;
	assert_in_range(sleeps, 1, 5 * 4);
}

/** A link that has changed is told to be down, but packets may come. */
static void a_port_whose_link_has_changed_is_looked_at(void **state)
{
	const struct poller_source *before = poller.source;
	struct poller_source source = *before;
	struct engine_thread *t;

	assert_int_equal(port_rx_fd(port), -1);
	source.watch = watch_a_link_that_is_down;
	poller.source = &source;
	atomic_store(&housekeepings, 0);
	atomic_store(&longest_sleep, 0);
	t = start(false, -1);
	sleeps_until(t, 3);
	engine_thread_stop(t);
	poller.source = before;
	assert_in_range(atomic_load(&longest_sleep), 1, IDLE_BLIND_NS);
}

static void a_polling_application_is_left_alone(void **state)
{
	struct engine_thread *t = start(false, -1);

	while (engine_thread_stats(t).away < 3)
		for (int i = 0; i < 100; i++)
			engine_drive(&engine);
	engine_thread_stop(t);
}

/** It polls, so that the thread is away, and then goes to sleep: the thread drives at once. */
static void an_application_that_goes_to_sleep_is_served(void **state)
{
	struct engine_thread *t = start(false, -1);
	uint64_t rounds;

	for (unsigned i = 0; i < 3; i++) {
		while (!atomic_load(&engine.away))
			for (int j = 0; j < 100; j++)
				engine_drive(&engine);
		rounds = engine_thread_stats(t).rounds;
		engine_hand_over(&engine);
		while (atomic_load(&engine.handed_over) || engine_thread_stats(t).rounds == rounds)
			sched_yield();
	}
	engine_thread_stop(t);
}

static void serve_a_wake_up(struct engine_doorbell *d)
{
	engine_has_woken(&engine);
}

static struct engine_doorbell wake_up = {.serve = serve_a_wake_up};

static void on_timer_wake(struct timer *t, uint64_t now)
{
	engine_wake_after(&engine, &wake_up);
}

/** No application has come by: that it was woken is enough to leave the core to it. */
static void an_application_that_was_woken_is_left_alone(void **state)
{
	struct engine_thread *t = start(false, -1);
	static struct timer timer;
	uint64_t away;

	/* What applications of other tests did it has seen by then. */
	while (engine_thread_stats(t).looks < 3)
		sched_yield();
	away = engine_thread_stats(t).away;
	timer_init(&timer, on_timer_wake);
	engine_lock(&engine);
	timer_start(&engine.wheel, &timer, engine.now + 1000000);
	engine_unlock(&engine);
	while (engine_thread_stats(t).away == away)
		sched_yield();
	engine_thread_stop(t);
}

#define LATER 20

/** It computes: the thread serves it as before, instead of looking again and again whether it
 * drives. */
static void one_wake_up_is_one_absence(void **state)
{
	static struct timer wake, later[LATER];
	struct engine_thread *t = start(false, -1);
	uint64_t away;

	while (engine_thread_stats(t).looks < 3)
		sched_yield();
	away = engine_thread_stats(t).away;
	atomic_store(&fired, 0);
	timer_init(&wake, on_timer_wake);
	engine_lock(&engine);
	timer_start(&engine.wheel, &wake, engine.now + 1000000);
	for (unsigned i = 0; i < LATER; i++) {
		timer_init(&later[i], on_timer);
		timer_start(&engine.wheel, &later[i], engine.now + (2 + i) * 1000000);
	}
	engine_unlock(&engine);
	while (atomic_load(&fired) < LATER)
		sched_yield();
	away = engine_thread_stats(t).away - away;
	engine_thread_stop(t);
	assert_in_range(away, 1, LATER / 2);
}

static bool may_wait(void *ctx)
{
	return true;
}

static bool has_come(const void *arg)
{
	return true;
}

/** It polls, so that the thread is away, takes what it waited for and computes: the round ends. */
static void a_round_left_open_is_ended(void **state)
{
	const struct engine_ops *before = engine.ops;
	struct engine_ops ops = *before;
	struct engine_thread *t;

	ops.flush_may_wait = may_wait;
	engine.ops = &ops;
	t = start(false, -1);
	for (unsigned i = 0; i < 3; i++) {
		while (!atomic_load(&engine.away))
			for (int j = 0; j < 100; j++)
				engine_drive(&engine);
		engine_drive_for(&engine, has_come, NULL);
		while (engine_is_expectant(&engine))
			sched_yield();
	}
	engine_thread_stop(t);
	engine.ops = before;
}

static unsigned doubts;
static char doubt[256];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	doubts++;
	snprintf(doubt, sizeof doubt, "%d %s", (int)level, text);
}

/** The fault of an interrupt that never comes, made of a descriptor that nobody writes to. */
static void an_interrupt_that_never_comes_is_not_waited_for(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_WARNING};
	const struct log_sink *before = port->log;
	struct engine_thread *t;
	int fd = eventfd(0, EFD_NONBLOCK);
	unsigned frames = 0;
	uint64_t had;
	bool believed;

	assert_true(fd >= 0);
	port->rx_fd = fd;
	port->rx_event = port->legacy_helps = true;
	port->log = &sink;
	t = start(false, -1);
	do {
		uint64_t sleeps = engine_thread_stats(t).sleeps;

		assert_in_range(++frames, 1, 200);
		while (engine_thread_stats(t).sleeps == sleeps)
			sched_yield();
		engine_lock(&engine);
		had = port_get_stats(port)->rx_packets;
		engine_unlock(&engine);
		send_a_frame();
		do {
			sched_yield();
			engine_lock(&engine);
			believed = port_rx_fd(port) >= 0;
			sleeps = port_get_stats(port)->rx_packets;
			engine_unlock(&engine);
		} while (sleeps == had);
	} while (believed);
	engine_thread_stop(t);
	port->log = before;
	close(fd);
	assert_int_equal(doubts, 1);
	assert_string_equal(doubt,
		"1 port net_ring0: net_ring offers a receive interrupt that does not come; packets "
		"are looked for every 2 ms from now on, unless \"eal = --vfio-intr=legacy\" makes "
		"it come");
	assert_false(port_get_caps(port)->rx_interrupt);
}

static _Atomic unsigned naps;

/** In place of libc's: sleeps that no descriptor ends are counted. */
int nanosleep(const struct timespec *t, struct timespec *left)
{
	atomic_fetch_add(&naps, 1);
	return (int)syscall(SYS_nanosleep, t, left);
}

/** A descriptor that was open once. */
static int closed_fd(void)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 500);

	assert_true(fd >= 500);
	close(fd);
	return fd;
}

/** As closefrom() leaves it: a poll that ends at once is no sleep, and timers go on. */
static void a_program_may_close_our_descriptors(void **state)
{
	const int wake_fd = poller.wake_fd, rx_fd = port->rx_fd;

	for (unsigned which = 0; which < 2; which++) {
		struct engine_thread *t;
		uint64_t sleeps;

		if (which == 0)
			poller.wake_fd = closed_fd();
		else
			port->rx_fd = closed_fd();
		atomic_store(&naps, 0);
		t = start(false, -1);
		let_timer_fire(3);
		while (engine_thread_stats(t).sleeps < 20)
			sched_yield();
		sleeps = engine_thread_stats(t).sleeps;
		engine_thread_stop(t);
		poller.wake_fd = wake_fd;
		port->rx_fd = rx_fd;
		/* It does not always wait for packets. */
		assert_true(atomic_load(&naps) >= (which == 0 ? sleeps : sleeps / 2));
	}
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
		cmocka_unit_test(housekeeping_goes_on_when_the_counter_jumps),
		cmocka_unit_test(what_a_peer_sent_is_taken_before_it_is_found_to_have_ended),
		cmocka_unit_test(a_port_without_a_link_is_not_looked_at_all_the_time),
		cmocka_unit_test(a_port_whose_link_has_changed_is_looked_at),
		cmocka_unit_test(a_polling_application_is_left_alone),
		cmocka_unit_test(an_application_that_goes_to_sleep_is_served),
		cmocka_unit_test(an_application_that_was_woken_is_left_alone),
		cmocka_unit_test(one_wake_up_is_one_absence),
		cmocka_unit_test(a_round_left_open_is_ended),
		cmocka_unit_test(an_interrupt_that_never_comes_is_not_waited_for),
		cmocka_unit_test(a_program_may_close_our_descriptors),
		cmocka_unit_test(dedicated_polls_without_a_pause),
		cmocka_unit_test(a_core_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
