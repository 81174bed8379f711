/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a process with a stack; what its peers hear of it is in test_stack.c. */
#include "must.h"
#include "setters.h"
#include "support/as_init.h"
#include "support/child.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static volatile sig_atomic_t calls;

static void handler(int sig)
{
	calls++;
}

/** Is the action what the program has set? */
static int action_is(int sig, void (*fn)(int))
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == fn;
}

/* ---- out of a verb, and never back ----------------------------------------------------------- */

#define JUMPS 200

static sigjmp_buf out;
static volatile sig_atomic_t jumps;

static void jump_out(int sig)
{
	jumps++;
	siglongjmp(out, 1);
}

static void leave_all(int sig)
{
	exit(7);
}

/**
 * SIGPROF comes again and again, by @p fn, while this thread polls, most of it under the lock.
 * @param flags SA_NODEFER where @p fn jumps; an exit() within an exit() would be undefined.
 */
static void poll_until(void (*fn)(int), int flags, struct ibv_device **list)
{
	struct sigaction a = {.sa_handler = fn, .sa_flags = flags};
	struct itimerval often = {{0, 1700}, {0, 1700}}, never = {{0, 0}, {0, 0}};
	struct ibv_cq *cq = ibv_create_cq(ibv_open_device(list[0]), 4, NULL, NULL, 0);
	struct ibv_wc wc;

	if (cq == NULL || sigaction(SIGPROF, &a, NULL) != 0)
		_exit(91);
	sigsetjmp(out, 1);
	if (jumps == 0)
		setitimer(ITIMER_PROF, &often, NULL);
	while (jumps < JUMPS)
		ibv_poll_cq(cq, 1, &wc);
	setitimer(ITIMER_PROF, &never, NULL);
}

static void handler_of_info(int sig, siginfo_t *info, void *context)
{
	calls += sig == SIGINT && info->si_pid == getpid() && context != NULL ? 10 : 100;
}

/** Each is called for one time, and then the kernel has our action again, and the next one ends. */
static int be_called_once(struct ibv_device **list)
{
	struct sigaction a = {
		.sa_sigaction = handler_of_info, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
	struct sigaction b;
	void *ours;

	MUST(ibv_alloc_pd(ibv_open_device(list[0])) != NULL);
	ours = setters_kernel_action(SIGTERM);
	MUST(ours != (void *)SIG_DFL);
	MUST(__sysv_signal(SIGTERM, handler) == SIG_DFL && action_is(SIGTERM, handler));
	MUST(__sysv_signal(SIGTERM, handler) == handler);
	raise(SIGTERM);
	MUST(calls == 1 && action_is(SIGTERM, SIG_DFL));
	MUST(setters_kernel_action(SIGTERM) == ours);
	MUST(sigaction(SIGINT, &a, NULL) == 0 && sigaction(SIGINT, NULL, &b) == 0);
	MUST(b.sa_sigaction == handler_of_info && (b.sa_flags & SETTERS_FLAGS) == a.sa_flags);
	raise(SIGINT);
	MUST(calls == 11 && action_is(SIGINT, SIG_DFL));
	MUST(setters_kernel_action(SIGINT) == ours);
	raise(SIGTERM);
	return 88;
}

static void handler_for_one(int sig)
{
	if (calls++ != 0)
		_exit(86);
}

/**
 * Two signals that are pending, of the thread and of the process, come to a handler that does not
 * block them at once: the second is on its way when the first is in the handler.
 */
static int be_called_once_for_two(struct ibv_device **list)
{
	struct sigaction a = {
		.sa_handler = handler_for_one, .sa_flags = SA_NODEFER | (int)SA_RESETHAND};
	sigset_t term;

	MUST(ibv_alloc_pd(ibv_open_device(list[0])) != NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	MUST(sigaction(SIGTERM, &a, NULL) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &term, NULL) == 0);
	MUST(pthread_kill(pthread_self(), SIGTERM) == 0 && kill(getpid(), SIGTERM) == 0);
	MUST(pthread_sigmask(SIG_UNBLOCK, &term, NULL) == 0);
	return 87;
}

/** SIGTERM would end it by default, and so does nothing. */
static int live_as_init(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_pd *pd = list == NULL ? NULL : ibv_alloc_pd(ibv_open_device(list[0]));

	if (pd == NULL)
		return 90;
	raise(SIGTERM);
	if (signal(SIGTERM, handler) != SIG_DFL || signal(SIGTERM, SIG_DFL) != handler)
		return 89;
	raise(SIGTERM);
	/* The RNIC goes on as well. */
	return ibv_dealloc_pd(pd);
}

/** What the program that this one starts does, with a stack of its own. */
static int be(const char *how)
{
	struct ibv_device **list;

	if (strcmp(how, "init") == 0)
		as_init(live_as_init);
	list = ibv_get_device_list(NULL);
	if (list == NULL)
		return 98;
	if (!action_is(SIGTERM, SIG_DFL) || !action_is(SIGINT, SIG_DFL))
		return 97;
	if (strcmp(how, "handled") == 0) {
		if (signal(SIGTERM, handler) != SIG_DFL || !action_is(SIGTERM, handler))
			return 96;
		raise(SIGTERM);
		if (calls != 1 || signal(SIGTERM, SIG_IGN) != handler)
			return 95;
		raise(SIGTERM);
		return calls == 1 ? 0 : 94;
	}
	if (strcmp(how, "set") == 0) {
		void *ours;

		MUST(ibv_alloc_pd(ibv_open_device(list[0])) != NULL);
		ours = setters_kernel_action(SIGTERM);
		MUST(ours != (void *)SIG_DFL);
		setters_agree(SIGTERM);
		setters_stand_behind(SIGTERM, ours, SIG_DFL);
		return 0;
	}
	if (strcmp(how, "once") == 0)
		return be_called_once(list);
	if (strcmp(how, "twice") == 0)
		return be_called_once_for_two(list);
	if (strcmp(how, "jump") == 0)
		poll_until(jump_out, SA_NODEFER, list);
	if (strcmp(how, "exit") == 0)
		poll_until(leave_all, 0, list);
	if (strcmp(how, "again") == 0 &&
		(signal(SIGTERM, handler) != SIG_DFL || signal(SIGTERM, SIG_DFL) != handler ||
			!action_is(SIGTERM, SIG_DFL)))
		return 93;
	if (strcmp(how, "child") == 0 && child_fork() != 0) {
		int status;

		wait(&status);
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 92;
	}
	raise(SIGTERM);
	for (;;)
		pause();
}

static int run(const char *how)
{
	const char *const argv[] = {"/proc/self/exe", how, NULL};
	static struct child c;

	child_run(&c, argv, NULL);
	return c.status;
}

static void test_dies_by_the_signal(void **state)
{
	assert_int_equal(run("default"), SIGTERM);
	assert_int_equal(run("again"), SIGTERM);
}

static void test_handlers_are_the_program_s(void **state)
{
	assert_int_equal(run("handled"), 0);
}

/* By whatever function the default is set. */
static void test_setters(void **state)
{
	assert_int_equal(run("set"), 0);
}

static void test_handlers_for_one_time(void **state)
{
	assert_int_equal(run("once"), SIGTERM);
	assert_int_equal(run("twice"), SIGTERM);
}

static void test_a_child_dies_alone(void **state)
{
	assert_int_equal(run("child"), 0);
}

/* As many programs in containers are. */
static void test_process_1_lives(void **state)
{
	int status = run("init");

	if (status == AS_INIT_REFUSED << 8)
		skip();
	assert_int_equal(status, 0);
}

/* The engine's lock is held for ever, by a thread that is elsewhere. */
static void test_dies_out_of_a_verb(void **state)
{
	assert_int_equal(run("jump"), SIGTERM);
}

/* As programs do it in their handlers, whatever they have interrupted. */
static void test_exits_inside_a_verb(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(run("exit"), 7 << 8);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dies_by_the_signal),
		cmocka_unit_test(test_handlers_are_the_program_s),
		cmocka_unit_test(test_setters),
		cmocka_unit_test(test_handlers_for_one_time),
		cmocka_unit_test(test_a_child_dies_alone),
		cmocka_unit_test(test_process_1_lives),
		cmocka_unit_test(test_dies_out_of_a_verb),
		cmocka_unit_test(test_exits_inside_a_verb),
	};

	alarm(LIMIT_S);
	if (argc > 1)
		return be(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
