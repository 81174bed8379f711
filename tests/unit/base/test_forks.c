/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/forks.h"
#include "support/child_fork.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

/** @return what a child counts, or the child's child, ... */
static unsigned count_in_child(unsigned generations)
{
	pid_t pid = child_fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit((int)(generations > 1 ? count_in_child(generations - 1) : forks_count()));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (unsigned)WEXITSTATUS(status);
}

static void a_child_has_another_count(void **state)
{
	forks_watch();
	forks_watch(); /* and counts once */
	assert_int_equal(forks_count(), 0);
	assert_int_equal(count_in_child(1), 1);
	assert_int_equal(count_in_child(2), 2);
	assert_int_equal(forks_count(), 0);
}

/** It would keep the pipe of who reads the output of a test that has failed. */
static void a_child_of_tests_does_not_outlive_them(void **state)
{
	int ready[2], ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(ends), 0);
	pid = child_fork();
	if (pid == 0) {
		if (child_fork() == 0 && write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(read(ready[0], &byte, 1) != 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ends[0]);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_has_another_count),
		cmocka_unit_test(a_child_of_tests_does_not_outlive_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
