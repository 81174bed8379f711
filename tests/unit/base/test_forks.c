/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/forks.h"

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
	pid_t pid = fork();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_has_another_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
