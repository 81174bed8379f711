/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/tasks.h"

#include "support/child_fork.h"
#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child_begin(bool spins)
{
	pid_t pid = child_fork();

	if (pid != 0)
		return pid;
	/* As if it had ended, and slept. */
	prctl(PR_SET_NAME, "a) S (b");
	alarm(LIMIT_S);
	for (;;)
		if (!spins)
			pause();
}

static void child_end(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void one_that_spins_is_awake(void **state)
{
	pid_t pid = child_begin(true);

	for (unsigned i = 0; i < 1000; i++)
		assert_false(tasks_sleep(pid, 0));
	/* It has no others. */
	assert_true(tasks_sleep(pid, pid));
	child_end(pid);
}

static void one_that_is_stopped_sleeps(void **state)
{
	pid_t pid = child_begin(true);
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_true(tasks_sleep(pid, 0));
	child_end(pid);
}

static void one_that_waits_sleeps(void **state)
{
	pid_t pid = child_begin(false);

	/* As soon as it has begun to. */
	while (!tasks_sleep(pid, 0))
		;
	child_end(pid);
}

static void we_are_awake(void **state)
{
	assert_false(tasks_sleep(getpid(), 0));
	assert_true(tasks_sleep(getpid(), gettid()));
}

/** There is nothing to be said of it. */
static void one_that_has_gone_does_not_sleep(void **state)
{
	pid_t pid = child_begin(false);

	child_end(pid);
	assert_false(tasks_sleep(pid, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_spins_is_awake),
		cmocka_unit_test(one_that_is_stopped_sleeps),
		cmocka_unit_test(one_that_waits_sleeps),
		cmocka_unit_test(we_are_awake),
		cmocka_unit_test(one_that_has_gone_does_not_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
