/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_eventfd.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void other_descriptors_are_told_from_an_eventfd(void **state)
{
	int ends[2], fd = eventfd(0, 0), other[4];

	assert_int_equal(pipe(ends), 0);
	other[0] = ends[0];
	other[1] = ends[1];
	other[2] = epoll_create1(0);
	/* Its link reads "/memfd:...", whatever its name is. */
	other[3] = memfd_create("anon_inode:[eventfd]", 0);
	assert_int_equal(memif_eventfd_check(fd), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(memif_eventfd_check(other[i]), -EBADFD);
		close(other[i]);
	}
	assert_int_equal(memif_eventfd_check(other[0]), -ENOSYS);
	close(fd);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/** Of a blocking eventfd, which the peer empties: no call waits, and each write is told once. */
static void each_write_is_told_once(void **state)
{
	int fd = eventfd(0, 0), watch = memif_eventfd_watch(fd);
	uint64_t n = 1;

	assert_return_code(watch, 0);
	memif_eventfd_take(watch);
	for (unsigned i = 0; i < 3; i++) {
		assert_false(is_readable(watch));
		assert_int_equal(write(fd, &n, sizeof n), sizeof n);
		assert_true(is_readable(watch));
		assert_true(is_readable(watch));
		memif_eventfd_take(watch);
	}
	assert_int_equal(write(fd, &n, sizeof n), sizeof n);
	assert_int_equal(read(fd, &n, sizeof n), sizeof n);
	assert_int_equal(n, 4);
	assert_false(is_readable(watch));
	memif_eventfd_take(watch);
	close(watch);
	close(fd);
}

static void what_cannot_be_watched_leaves_nothing(void **state)
{
	int next = dup(0);

	close(next);
	assert_int_equal(memif_eventfd_watch(-1), -EBADF);
	assert_int_equal(dup(0), next);
	close(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_descriptors_are_told_from_an_eventfd),
		cmocka_unit_test(each_write_is_told_once),
		cmocka_unit_test(what_cannot_be_watched_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
