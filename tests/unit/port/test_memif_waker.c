/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_waker.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

/** More than a context has room for the results of. */
#define MANY 1000

static uint64_t count_of(int fd)
{
	uint64_t n = 0;

	assert_int_equal(read(fd, &n, sizeof n), sizeof n);
	return n;
}

static void each_wakes_once(struct memif_waker *w)
{
	int fd = eventfd(0, 0);

	for (unsigned i = 0; i < MANY; i++)
		memif_waker_wake(w, fd);
	assert_int_equal(count_of(fd), MANY);
	close(fd);
}

/** An eventfd that write() would wait for. */
static void a_full_one_does_not_wait(struct memif_waker *w)
{
	uint64_t full = UINT64_MAX - 1;
	int fd = eventfd(0, 0);

	assert_int_equal(write(fd, &full, sizeof full), sizeof full);
	for (unsigned i = 0; i < 3; i++)
		memif_waker_wake(w, fd);
	assert_true(count_of(fd) >= full);
	/* It is of use again. */
	memif_waker_wake(w, fd);
	assert_int_equal(count_of(fd), 1);
	close(fd);
}

static void by_the_kernel_s_requests(void **state)
{
	struct memif_waker w = {0};

	assert_int_equal(memif_waker_open(&w), 0);
	if (w.writes)
		skip();
	assert_int_equal(memif_waker_open(&w), 0);
	each_wakes_once(&w);
	a_full_one_does_not_wait(&w);
	memif_waker_close(&w);
	assert_int_equal(w.context, 0);
	memif_waker_close(&w);
}

static void where_there_are_none_by_write(void **state)
{
	struct memif_waker w = {.writes = true};

	assert_int_equal(memif_waker_open(&w), 0);
	each_wakes_once(&w);
	a_full_one_does_not_wait(&w);
	memif_waker_close(&w);
	assert_false(w.writes);
}

static void who_is_not_open_wakes_nobody(void **state)
{
	struct memif_waker w = {0};
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t n;

	memif_waker_wake(&w, fd);
	assert_int_equal(read(fd, &n, sizeof n), -1);
	memif_waker_close(&w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_kernel_s_requests),
		cmocka_unit_test(where_there_are_none_by_write),
		cmocka_unit_test(who_is_not_open_wakes_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
