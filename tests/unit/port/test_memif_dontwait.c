/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_dontwait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define SOCKET "uiwarp-test-dontwait"

static uint8_t octets[MEMIF_SEND_OCTETS];
static struct iovec whole = {octets, sizeof octets};

static void pair_of(int type, int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, type, 0, pair), 0);
}

static void close_both(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

/** Who is not read is told so at once, though its socket waits. */
static void a_channel_does_not_wait_to_send(void **state)
{
	struct msghdr m = {.msg_iov = &whole, .msg_iovlen = 1};
	int pair[2];

	pair_of(SOCK_SEQPACKET, pair);
	while (sendmsg(pair[0], &m, memif_dontwait_flags(pair[0], 0)) == MEMIF_SEND_OCTETS)
		;
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(memif_dontwait_flags(pair[0], MSG_NOSIGNAL), MSG_NOSIGNAL | MSG_DONTWAIT);
	close_both(pair);
}

static void other_sockets_wait(void **state)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), inet = socket(AF_INET, SOCK_DGRAM, 0);

	errno = ENOENT;
	assert_int_equal(memif_dontwait_flags(fd, 0), 0);
	assert_int_equal(memif_dontwait_flags(inet, MSG_OOB), MSG_OOB);
	assert_int_equal(memif_dontwait_flags(-1, 0), 0);
	assert_int_equal(errno, ENOENT);
	close(fd);
	close(inet);
}

static ssize_t receive(int fd, struct msghdr *m)
{
	return recvmsg(fd, m, memif_dontwait_flags(fd, 0));
}

/** The driver is told of a message that changes nothing, and that no descriptor came with. */
static void a_channel_to_which_nothing_has_come(void **state)
{
	uint64_t control[16];
	struct msghdr m = {.msg_iov = &whole,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	const uint16_t ack = MEMIF_DONTWAIT_ACK;
	int pair[2];

	pair_of(SOCK_SEQPACKET, pair);
	memset(octets, 0xff, sizeof octets);
	assert_true(memif_dontwait_is_idle(pair[0], &m, receive(pair[0], &m)));
	assert_memory_equal(octets, &ack, sizeof ack);
	for (size_t i = sizeof ack; i < sizeof octets; i++)
		assert_int_equal(octets[i], 0);
	assert_null(CMSG_FIRSTHDR(&m));
	close_both(pair);
}

static void what_has_come_is_told_as_it_is(void **state)
{
	struct msghdr m = {.msg_iov = &whole, .msg_iovlen = 1};
	int pair[2];

	pair_of(SOCK_SEQPACKET, pair);
	memset(octets, 0xff, sizeof octets);
	assert_int_equal(send(pair[1], octets, sizeof octets, 0), sizeof octets);
	assert_false(memif_dontwait_is_idle(pair[0], &m, receive(pair[0], &m)));
	assert_int_equal(octets[0], 0xff);
	/* Its end, too. */
	close(pair[1]);
	assert_false(memif_dontwait_is_idle(pair[0], &m, receive(pair[0], &m)));
	close(pair[0]);
	assert_false(memif_dontwait_is_idle(pair[0], &m, receive(pair[0], &m)));
	assert_int_equal(errno, EBADF);
	/* And what is no channel. */
	pair_of(SOCK_DGRAM | SOCK_NONBLOCK, pair);
	assert_false(memif_dontwait_is_idle(pair[0], &m, receive(pair[0], &m)));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(octets[0], 0xff);
	close_both(pair);
}

/** A socket of @p type that listens, with room for few. */
static int listener(int type)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "\0" SOCKET};
	int fd = socket(AF_UNIX, type, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int connecting(int fd)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "\0" SOCKET};

	return memif_dontwait_connect(connect, fd, (struct sockaddr *)&sun, sizeof sun);
}

static void a_server_that_accepts_nobody_is_not_waited_for(void **state)
{
	int fd = listener(SOCK_SEQPACKET), client[8];
	unsigned n = 0;

	do
		client[n] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	while (connecting(client[n++]) == 0 && n < 8);
	assert_int_equal(errno, EAGAIN);
	/* It still waits in other calls. */
	assert_int_equal(fcntl(client[n - 1], F_GETFL) & O_NONBLOCK, 0);
	close(accept(fd, NULL, NULL));
	assert_int_equal(connecting(client[n - 1]), 0);
	assert_int_equal(fcntl(client[n - 1], F_GETFL) & O_NONBLOCK, 0);
	while (n)
		close(client[--n]);
	close(fd);
}

static void other_connections_are_made_as_ever(void **state)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), server;

	assert_int_equal(connecting(fd), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
	assert_int_equal(connecting(-1), -1);
	assert_int_equal(errno, EBADF);
	server = listener(SOCK_STREAM);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connecting(fd), 0);
	close(fd);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_channel_does_not_wait_to_send),
		cmocka_unit_test(other_sockets_wait),
		cmocka_unit_test(a_channel_to_which_nothing_has_come),
		cmocka_unit_test(what_has_come_is_told_as_it_is),
		cmocka_unit_test(a_server_that_accepts_nobody_is_not_waited_for),
		cmocka_unit_test(other_connections_are_made_as_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
