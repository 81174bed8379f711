/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that sockets get, as the kernel has them then. */
#include "sock/option.h"

#include "base/fd_room.h"
#include "sock/stack.h"
#include "support/limit.h"
#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
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
		{10000, 999, 10, 1, 1},
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

/* ---- what is set on its own ------------------------------------------------------------------
 */

/* The lower two bits are the kernel's (ECN). 0 is left as it is. */
static void types_of_service(void **state)
{
	static const struct {
		uint8_t tos;
		int is;
	} rows[] = {{0x68, 0x68}, {0, 0x68}, {0x6b, 0x68}, {0xff, 0xfc}, {0x04, 0x04}};

	fixture_open(&f, NULL);
	for (unsigned i = 0; i < 2; i++) {
		int fd = sock_open(f.s, families[i]);

		for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
			sock_option_tos(fd, families[i], rows[k].tos);
			assert_int_equal(i == 0 ? value_of(fd, IPPROTO_IP, IP_TOS)
						: value_of(fd, IPPROTO_IPV6, IPV6_TCLASS),
				rows[k].is);
		}
		close(fd);
	}
	fixture_close(&f);
}

/* Names are the configuration's; what the kernel does not have is told of once. */
static void congestion_controls(void **state)
{
	static const struct {
		const char *name;
		unsigned lines; /* by then */
	} rows[] = {
		{NULL, 0},
		{"newreno", 0},
		{"reno", 0},
		{"bbr-of-tomorrow", 1},
		{"cubic-of-tomorrow", 1},
		{"newreno", 1},
	};
	int fd;

	fixture_open(&f, NULL);
	fd = sock_open(f.s, AF_INET);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		char is[16] = "";
		socklen_t len = sizeof is;

		sock_option_congestion_control(f.s, fd, rows[i].name);
		assert_int_equal(f.lines, rows[i].lines);
		assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, is, &len), 0);
		if (i != 0)
			assert_memory_equal(is, "reno", 4);
	}
	assert_non_null(strstr(f.log, "\"bbr-of-tomorrow\""));
	close(fd);
	fixture_close(&f);
}

/* The kernel has twice of what it is asked for, or says less, and then so do we, once. */
static void buffers_that_are_cut_down_are_told_of(void **state)
{
	static const struct {
		uint32_t out, in;
		const char *key, *sysctl; /* that it tells of */
	} rows[] = {
		{0, 0, NULL, NULL},
		{65536, 32768, NULL, NULL},
		{1023 << 20, 32768, "makes send_buffer", "net.core.wmem_max"},
		{65536, 1023 << 20, "makes receive_buffer", "net.core.rmem_max"},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct sock_stack_config cfg = {
			.send_buffer = rows[i].out, .receive_buffer = rows[i].in};
		int fd[2];

		fixture_open(&f, &cfg);
		for (unsigned k = 0; k < 2; k++)
			fd[k] = sock_open(f.s, AF_INET6);
		assert_int_equal(f.lines, rows[i].key != NULL);
		if (rows[i].key) {
			assert_non_null(strstr(f.log, rows[i].key));
			assert_non_null(strstr(f.log, rows[i].sysctl));
		}
		if (rows[i].out == 65536)
			assert_int_equal(value_of(fd[1], SOL_SOCKET, SO_SNDBUF), 2 * 65536);
		if (rows[i].in == 32768)
			assert_int_equal(value_of(fd[1], SOL_SOCKET, SO_RCVBUF), 2 * 32768);
		close(fd[0]);
		close(fd[1]);
		fixture_close(&f);
	}
}

/* ---- what goes wrong -------------------------------------------------------------------------
 */

static void no_descriptors_are_told_of(void **state)
{
	struct rlimit was, none;
	int rc;

	fixture_open(&f, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = sock_open(f.s, AF_INET);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(rc, -EMFILE);
	assert_int_equal(f.s->stats.no_descriptor, 1);
	assert_int_equal(f.lines, 1);
	assert_non_null(strstr(f.log, "ulimit -n"));
	assert_int_equal(sock_open(f.s, AF_MAX), -EAFNOSUPPORT);
	assert_int_equal(f.s->stats.no_descriptor, 1);
	assert_int_equal(f.lines, 1);
	fixture_close(&f);
}

/* Nothing is known of what is no socket, and that is taken for little. */
static void what_is_no_socket(void **state)
{
	int fd[2];
	uint32_t n = 7;

	assert_int_equal(pipe(fd), 0);
	close(fd[1]);
	for (unsigned i = 0; i < 2; i++) {
		int no_socket = i == 0 ? -1 : fd[0], error = i == 0 ? -EBADF : -ENOTSOCK;

		assert_int_equal(sock_option(no_socket, IPPROTO_TCP, TCP_NODELAY, 1), error);
		assert_int_equal(sock_option_error(no_socket), error);
		assert_int_equal(sock_option_mss(no_socket), 536);
		assert_false(sock_option_outq(no_socket, &n));
		assert_int_equal(n, 7);
		assert_int_equal(sock_option_unacked(no_socket), 0);
		sock_option_disconnect(no_socket);
	}
	close(fd[0]);
}

/* A refused connection is told of once; one that was ended resets its peer. */
static void errors_and_ends(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0), one, other;
	uint8_t byte;
	uint32_t n = 7;

	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	/* Nobody listens there yet. */
	assert_int_equal(connect(one, (struct sockaddr *)&at, len), -1);
	assert_int_equal(poll(&(struct pollfd){.fd = one, .events = POLLOUT}, 1, LIMIT_MS), 1);
	assert_int_equal(sock_option_error(one), -ECONNREFUSED);
	assert_int_equal(sock_option_error(one), 0);
	close(one);
	assert_int_equal(listen(listener, 1), 0);
	one = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(one, (struct sockaddr *)&at, len), 0);
	other = accept(listener, NULL, NULL);
	assert_true(other >= 0);
	assert_in_range(sock_option_mss(one), 537, 65535);
	assert_true(sock_option_outq(one, &n));
	assert_int_equal(n, 0);
	sock_option_disconnect(one);
	assert_int_equal(read(other, &byte, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	close(one);
	close(other);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_have_the_options_of_every_connection),
		cmocka_unit_test(a_silent_peer_is_asked),
		cmocka_unit_test(types_of_service),
		cmocka_unit_test(congestion_controls),
		cmocka_unit_test(buffers_that_are_cut_down_are_told_of),
		cmocka_unit_test(no_descriptors_are_told_of),
		cmocka_unit_test(what_is_no_socket),
		cmocka_unit_test(errors_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
