/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static uint8_t first[100], second[28];
static struct iovec pieces[] = {{first, sizeof first}, {second, sizeof second}};
static const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};

/* One end of a pair whose other end is gone. */
static int left_alone(int type)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, type, 0, fd), 0);
	close(fd[1]);
	return fd[0];
}

static ssize_t told(int fd)
{
	return memif_send_told(fd, &message, sendmsg(fd, &message, MSG_NOSIGNAL));
}

static void a_channel_whose_peer_is_gone_took_it(void **state)
{
	int fd = left_alone(SOCK_SEQPACKET);

	assert_int_equal(sendmsg(fd, &message, MSG_NOSIGNAL), -1);
	assert_int_equal(told(fd), 128);
	close(fd);
}

static void other_failures_are_told(void **state)
{
	int fd = left_alone(SOCK_STREAM), pair[2];

	assert_int_equal(told(fd), -1);
	assert_int_equal(errno, EPIPE);
	close(fd);
	assert_int_equal(told(fd), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	while (sendmsg(pair[0], &message, 0) == 128)
		;
	assert_int_equal(told(pair[0]), -1);
	assert_int_equal(errno, EAGAIN);
	close(pair[0]);
	close(pair[1]);
}

static void what_was_sent_was_sent(void **state)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(told(pair[0]), 128);
	close(pair[0]);
	close(pair[1]);
}

static void memif_s_messages_have_one_length(void **state)
{
	struct iovec whole = {first, MEMIF_SEND_OCTETS};
	struct msghdr m = {.msg_iov = &whole, .msg_iovlen = 1};

	assert_true(memif_send_is_message(&m));
	whole.iov_len--;
	assert_false(memif_send_is_message(&m));
	m.msg_iov = NULL;
	assert_false(memif_send_is_message(&m));
	assert_false(memif_send_is_message(&message));
	assert_false(memif_send_is_message(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_channel_whose_peer_is_gone_took_it),
		cmocka_unit_test(other_failures_are_told),
		cmocka_unit_test(what_was_sent_was_sent),
		cmocka_unit_test(memif_s_messages_have_one_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
