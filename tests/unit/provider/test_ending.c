/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a process with a stack; what its peers hear of it is in test_stack.c. */
#include "support/child.h"

#include <infiniband/verbs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
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

/** What the program that this one starts does, with a stack of its own. */
static int be(const char *how)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

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
	if (strcmp(how, "again") == 0 &&
		(signal(SIGTERM, handler) != SIG_DFL || signal(SIGTERM, SIG_DFL) != handler ||
			!action_is(SIGTERM, SIG_DFL)))
		return 93;
	if (strcmp(how, "child") == 0 && fork() != 0) {
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

static void test_a_child_dies_alone(void **state)
{
	assert_int_equal(run("child"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dies_by_the_signal),
		cmocka_unit_test(test_handlers_are_the_program_s),
		cmocka_unit_test(test_a_child_dies_alone),
	};

	alarm(60);
	if (argc > 1)
		return be(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
