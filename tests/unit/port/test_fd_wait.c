/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/fd_wait.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct rlimit before;
static unsigned told;

static void give_one(void)
{
	told++;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void tell(void)
{
	told++;
	errno = EPERM;
}

static void take_all(void)
{
	struct rlimit none;
	int lowest = dup(STDERR_FILENO);

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	told = 0;
}

static void it_helps_where_descriptors_lack(void **state)
{
	assert_true(fd_wait_helps(EMFILE));
	assert_true(fd_wait_helps(ENFILE));
	assert_false(fd_wait_helps(EAGAIN));
	assert_false(fd_wait_helps(ECONNABORTED));
}

static void a_wait_keeps_errno(void **state)
{
	told = 0;
	errno = EMFILE;
	fd_wait(tell);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(told, 1);
}

static void a_message_waits_for_a_descriptor(void **state)
{
	take_all();
	errno = ENOTTY;
	fd_wait_for_one(STDERR_FILENO, give_one);
	assert_int_equal(told, 1);
	assert_int_equal(errno, ENOTTY);
}

static void a_message_does_not_wait_without_end(void **state)
{
	take_all();
	fd_wait_for_one(STDERR_FILENO, tell);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(told, FD_WAIT_LOOKS);
}

static void one_that_cannot_accept_waits_and_is_told(void **state)
{
	told = 0;
	errno = EMFILE;
	assert_int_equal(fd_wait_accepted(-1, tell), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(told, 1);
	errno = ECONNABORTED;
	assert_int_equal(fd_wait_accepted(-1, tell), -1);
	errno = EMFILE;
	assert_int_equal(fd_wait_accepted(7, tell), 7);
	assert_int_equal(told, 1);
}

static void an_epoll_comes_when_there_is_a_descriptor(void **state)
{
	int fd;

	take_all();
	fd = fd_wait_epoll_create(epoll_create, 1, give_one);
	assert_true(fd >= 0);
	assert_int_equal(told, 1);
	close(fd);
	assert_int_equal(fd_wait_epoll_create(epoll_create, 0, tell), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(told, 1);
}

static void with_descriptors_nothing_waits(void **state)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	told = 0;
	fd_wait_for_one(STDERR_FILENO, tell);
	fd_wait_for_one(-1, tell);
	assert_int_equal(told, 0);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

static void messages_of_memif_take_one(void **state)
{
	char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	struct sockaddr_in6 from;
	struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};

	assert_true(fd_wait_takes_one(&m));
	m.msg_name = &from;
	assert_false(fd_wait_takes_one(&m));
	m = (struct msghdr){.msg_controllen = 0};
	assert_false(fd_wait_takes_one(&m));
	assert_false(fd_wait_takes_one(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_helps_where_descriptors_lack),
		cmocka_unit_test(a_wait_keeps_errno),
		cmocka_unit_test(a_message_waits_for_a_descriptor),
		cmocka_unit_test(a_message_does_not_wait_without_end),
		cmocka_unit_test(one_that_cannot_accept_waits_and_is_told),
		cmocka_unit_test(an_epoll_comes_when_there_is_a_descriptor),
		cmocka_unit_test(with_descriptors_nothing_waits),
		cmocka_unit_test(messages_of_memif_take_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
