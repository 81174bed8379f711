/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fd_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int lowest_free(void)
{
	int fd = 0;

	while (is_open(fd))
		fd++;
	return fd;
}

static void test_keeps_low_numbers(void **state)
{
	int before = lowest_free();
	struct fd_room r;
	int fd;

	fd_room_keep(&r);
	fd = eventfd(0, 0);
	assert_true(fd >= (int)FD_ROOM);
	for (unsigned i = 0; i < r.count; i++)
		assert_int_equal(fcntl(r.fd[i], F_GETFD), FD_CLOEXEC);
	errno = ENOTTY;
	fd_room_give_back(&r);
	assert_int_equal(errno, ENOTTY);
	assert_true(is_open(fd));
	assert_int_equal(lowest_free(), before);
	close(fd);
}

/* What the program has open already is not touched. */
static void test_leaves_what_is_open(void **state)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD, 20);
	struct fd_room r;

	fd_room_keep(&r);
	for (unsigned i = 0; i < r.count; i++)
		assert_int_not_equal(r.fd[i], fd);
	fd_room_give_back(&r);
	assert_true(is_open(fd));
	close(fd);
}

/* The number that the stack's first descriptor gets at a limit. */
static int first_at(rlim_t limit)
{
	struct rlimit old, few = {.rlim_cur = limit};
	struct fd_room r;
	int fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	fd_room_keep(&r);
	fd = eventfd(0, 0);
	fd_room_give_back(&r);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	close(fd);
	return fd;
}

static void test_few_descriptors(void **state)
{
	int before = lowest_free();

	assert_int_equal(first_at(100), 50);
	assert_int_equal(first_at(80), 40);
	assert_int_equal(first_at(60), 20);
	assert_int_equal(first_at(40), before);
	assert_int_equal(first_at(20), before);
}

static void test_no_descriptors(void **state)
{
	int before = lowest_free();
	struct rlimit old, none = {.rlim_cur = 0};
	struct fd_room r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd_room_keep(&r);
	assert_int_equal(r.count, 0);
	fd_room_give_back(&r);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(lowest_free(), before);
}

static void test_move_up(void **state)
{
	int closing = eventfd(0, EFD_CLOEXEC);
	int staying = eventfd(0, 0);
	int a = fd_move_up(closing);
	int b = fd_move_up(staying);

	assert_true(a >= (int)FD_ROOM && b >= (int)FD_ROOM);
	assert_false(is_open(closing) || is_open(staying));
	assert_int_equal(fcntl(a, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(b, F_GETFD), 0);
	assert_int_equal(fd_move_up(a), a);
	close(a);
	close(b);
}

static void test_cannot_move_up(void **state)
{
	struct rlimit old, few = {.rlim_cur = 40};
	int fd = eventfd(0, 0);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(fd_move_up(fd), fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_true(is_open(fd));
	close(fd);
	assert_int_equal(fd_move_up(-1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_low_numbers),
		cmocka_unit_test(test_leaves_what_is_open),
		cmocka_unit_test(test_few_descriptors),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_move_up),
		cmocka_unit_test(test_cannot_move_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
