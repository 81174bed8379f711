/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/exit_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void a_wait_has_an_end(void **state)
{
	uint64_t now = exit_clock();
	int fd[2], rc;

	assert_int_equal(pipe(fd), 0);
	while ((rc = exit_wait(now, fd[0])) == 0)
		;
	assert_int_equal(rc, -EIO);
	assert_int_equal(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	/* However slow this machine: it has yet to begin. */
	assert_int_equal(exit_wait(exit_clock() + UINT64_C(60000000000), fd[0]), -EAGAIN);
	assert_int_equal(exit_wait(now - EXIT_PATIENCE_NS, fd[0]), -EIO);
	close(fd[0]);
	close(fd[1]);
	/* Another thread has closed it: there is no wait for more. */
	assert_int_equal(exit_wait(now - EXIT_PATIENCE_NS, fd[0]), -EIO);
}

static void a_lock_that_is_held_is_given_up(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	assert_true(exit_lock(&lock));
	assert_false(exit_lock(&lock));
	assert_int_equal(pthread_mutex_unlock(&lock), 0);
	assert_true(exit_lock(&lock));
	assert_int_equal(pthread_mutex_unlock(&lock), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_has_an_end),
		cmocka_unit_test(a_lock_that_is_held_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
