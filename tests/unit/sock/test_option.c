/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that sockets get, as the kernel has them then. */
#include "sock/option.h"

#include "base/fd_room.h"
#include "sock/stack.h"
#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fixture f;
static const int families[] = {AF_INET, AF_INET6};

static int value_of(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof value;

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void sockets_have_the_options_of_every_connection(void **state)
{
	fixture_open(&f, NULL);
	for (unsigned i = 0; i < 2; i++) {
		int fd = sock_open(f.s, families[i]);
		struct linger l = {.l_onoff = 0, .l_linger = 9};
		socklen_t len = sizeof l;

		assert_true(fd >= (int)FD_ROOM);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		assert_int_equal(value_of(fd, SOL_SOCKET, SO_DOMAIN), families[i]);
		assert_int_equal(value_of(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
		assert_true(value_of(fd, IPPROTO_TCP, TCP_NODELAY));
		assert_true(value_of(fd, SOL_SOCKET, SO_OOBINLINE));
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len), 0);
		assert_true(l.l_onoff);
		assert_int_equal(l.l_linger, 0);
		sock_option_reset_on_close(fd, false);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len), 0);
		assert_false(l.l_onoff);
		close(fd);
	}
	fixture_close(&f);
}

/* As our own TCP does it, in whole seconds: three times within the user timeout, if that is long.
 */
static void a_silent_peer_is_asked(void **state)
{
	static const struct {
		uint32_t keepalive_ms, user_timeout_ms;
		int idle, interval, probes; /* idle 0: not at all */
	} rows[] = {
		{0, 30000, 0, 0, 0},
		{10000, 30000, 10, 10, 3}, /* as it is by default */
		{10000, 29999, 10, 9, 3},
		{10000, 300000, 10, 10, 9},
		{100000, 300000, 100, 75, 4},
		{100000, 86400000, 100, 75, 9},
		{1001, 30000, 2, 2, 9},
		{1, 30000, 1, 1, 9},
		/* The user timeout is shorter. */
		{10000, 9000, 10, 3, 3},
		{10000, 3000, 10, 1, 3},
		{10000, 2000, 10, 1, 2},
		{10000, 1000, 10, 1, 1},
		/* The kernel takes no more. */
		{32767000, 30000, 32767, 10, 3},
		{32768000, 30000, 32767, 10, 3},
		{86400000, 86400000, 32767, 75, 9},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct sock_stack_config cfg = {.keepalive_ms = rows[i].keepalive_ms,
			.user_timeout_ms = rows[i].user_timeout_ms};
		int fd;

		fixture_open(&f, &cfg);
		fd = sock_open(f.s, AF_INET);
		assert_int_equal(value_of(fd, SOL_SOCKET, SO_KEEPALIVE) != 0, rows[i].idle != 0);
		if (rows[i].idle) {
			assert_int_equal(value_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), rows[i].idle);
			assert_int_equal(
				value_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), rows[i].interval);
			assert_int_equal(value_of(fd, IPPROTO_TCP, TCP_KEEPCNT), rows[i].probes);
		}
		close(fd);
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_have_the_options_of_every_connection),
		cmocka_unit_test(a_silent_peer_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
