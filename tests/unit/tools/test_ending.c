/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a command, and what is left of them where they cannot be taken. */
#include "tools/ending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static bool is_blocked(int sig)
{
	sigset_t now;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	return sigismember(&now, sig) == 1;
}

static void signals_are_taken_and_given_back(void **state)
{
	int fd = ending_take();

	assert_true(fd >= 0);
	assert_true(is_blocked(SIGINT) && is_blocked(SIGTERM));
	ending_give_back(fd);
	assert_false(is_blocked(SIGINT) || is_blocked(SIGTERM));
}

/** Without a descriptor they still end the process. */
static void what_cannot_be_taken_is_as_it_was(void **state)
{
	struct rlimit was, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(ending_take(), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_false(is_blocked(SIGHUP) || is_blocked(SIGINT) || is_blocked(SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_taken_and_given_back),
		cmocka_unit_test(what_cannot_be_taken_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
