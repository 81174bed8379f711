/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/spawn.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void *own_mask(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return NULL;
}

static sigset_t mask_of_a_thread(void)
{
	pthread_t t;
	sigset_t mask;

	assert_int_equal(spawn_thread(&t, NULL, own_mask, &mask), 0);
	pthread_join(t, NULL);
	return mask;
}

static void the_programs_signals_are_not_for_it(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGUSR1, SIGPIPE};
	sigset_t mask = mask_of_a_thread();

	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
		assert_int_equal(sigismember(&mask, signals[i]), 1);
	assert_int_equal(sigismember(&mask, SIGRTMIN), 1);
}

static void its_own_faults_are(void **state)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t mask = mask_of_a_thread();

	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
		assert_int_equal(sigismember(&mask, signals[i]), 0);
}

static void the_caller_keeps_its_mask(void **state)
{
	sigset_t before, after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	mask_of_a_thread();
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGUSR2), 1);
	assert_int_equal(sigismember(&after, SIGTERM), 0);
}

static void what_cannot_be_made_is_said(void **state)
{
	cpu_set_t none;
	pthread_attr_t attr;
	pthread_t t;

	CPU_ZERO(&none);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof none, &none);
	assert_int_equal(spawn_thread(&t, &attr, own_mask, NULL), -EINVAL);
	pthread_attr_destroy(&attr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_programs_signals_are_not_for_it),
		cmocka_unit_test(its_own_faults_are),
		cmocka_unit_test(the_caller_keeps_its_mask),
		cmocka_unit_test(what_cannot_be_made_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
