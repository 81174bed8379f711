/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is hooked for DPDK's drivers alone (provider/shim/driver.c), called by a program: it is that
 * of libc, with a configuration and without.
 */
#include "support/in_syscall.h"
#include "support/limit.h"
#include "unit/provider/preloaded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BACKLOG 1

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
	};
	socklen_t len;
};

/** In no file; @p name tells it from others. */
static struct address unix_address(char name)
{
	struct address a = {.un = {.sun_family = AF_UNIX}, .len = sizeof a.un};

	snprintf(a.un.sun_path + 1, sizeof a.un.sun_path - 1, "uiwarp-test-driver-%d-%c",
		(int)getpid(), name);
	return a;
}

/** Nobody else has its address, and nobody who listens. */
static int bound(struct address *a, int type)
{
	int fd = socket(a->any.sa_family, type, 0);

	assert_int_equal(bind(fd, &a->any, a->len), 0);
	assert_int_equal(getsockname(fd, &a->any, &a->len), 0);
	return fd;
}

static int listener(struct address *a, int type)
{
	int fd = bound(a, type);

	assert_int_equal(listen(fd, BACKLOG), 0);
	return fd;
}

static struct address loopback(void)
{
	return (struct address){
		.in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
		.len = sizeof(struct sockaddr_in)};
}

/** @param fd, @param twin two of the same kind. Both are closed. */
static void assert_connects_as_the_kernel(int fd, int twin, const struct address *a)
{
	int expected, rc, error;

	errno = ERANGE;
	expected = (int)syscall(SYS_connect, twin, &a->any, a->len);
	error = errno;
	errno = ERANGE;
	rc = connect(fd, &a->any, a->len);
	if (rc != expected || errno != error)
		fail_msg("connect(%d) = %d, errno %d, not %d", fd, rc, errno, error);
	if (fd >= 0) {
		assert_int_equal(fcntl(fd, F_GETFL), fcntl(twin, F_GETFL));
		close(fd);
		close(twin);
	}
}

static void connect_is_that_of_libc(void **state)
{
	static const int types[] = {SOCK_SEQPACKET, SOCK_STREAM, SOCK_DGRAM};
	struct address nobody = unix_address('-');

	assert_connects_as_the_kernel(-1, -1, &nobody);
	assert_connects_as_the_kernel(
		open("/dev/null", O_RDWR), open("/dev/null", O_RDWR), &nobody);
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		int type = types[i];

		assert_connects_as_the_kernel(
			socket(AF_UNIX, type, 0), socket(AF_UNIX, type, 0), &nobody);
	}
	for (size_t i = 0; i < 2; i++) {
		struct address a = unix_address('a');
		int fd = listener(&a, types[i]);

		assert_connects_as_the_kernel(
			socket(AF_UNIX, types[i], 0), socket(AF_UNIX, types[i], 0), &a);
		close(fd);
	}
}

static void tcp_is_connected(void **state)
{
	struct address a = loopback();
	int fd = listener(&a, SOCK_STREAM), client, error = -1;
	socklen_t len = sizeof error;
	struct pollfd p;

	assert_connects_as_the_kernel(
		socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), &a);
	close(accept(fd, NULL, NULL));
	close(accept(fd, NULL, NULL));
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(client, &a.any, a.len))
		assert_int_equal(errno, EINPROGRESS);
	p = (struct pollfd){.fd = client, .events = POLLOUT};
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	assert_int_equal(getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &len), 0);
	assert_int_equal(error, 0);
	close(client);
	close(fd);
	a = loopback();
	fd = bound(&a, SOCK_STREAM);
	assert_connects_as_the_kernel(
		socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), &a);
	close(fd);
}

/* ---- a server that accepts nobody ------------------------------------------------------------ */

struct server {
	struct address address;
	int type, fd, client[8];
	unsigned n;
};

/** Nobody is asked to wait; who would have to is told so. */
static void start_full_server(struct server *s, int type)
{
	*s = (struct server){.address = unix_address('f'), .type = type};
	s->fd = listener(&s->address, type);
	do {
		assert_true(s->n < 8);
		s->client[s->n] = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
	} while (connect(s->client[s->n++], &s->address.any, s->address.len) == 0);
	assert_int_equal(errno, EAGAIN);
}

static void stop_server(struct server *s)
{
	while (s->n)
		close(s->client[--s->n]);
	close(s->fd);
}

struct client {
	const struct server *server;
	pthread_t thread;
	_Atomic pid_t tid;
	int fd, rc;
};

static void *connect_to_it(void *arg)
{
	struct client *c = arg;

	c->tid = gettid();
	c->rc = connect(c->fd, &c->server->address.any, c->server->address.len);
	return c;
}

static void start_client(struct client *c, const struct server *s)
{
	*c = (struct client){.server = s, .rc = -1, .fd = socket(AF_UNIX, s->type, 0)};
	assert_int_equal(pthread_create(&c->thread, NULL, connect_to_it, c), 0);
	wait_until_in_syscall(&c->tid, SYS_connect);
}

static void is_waited_for(int type)
{
	struct server s;
	struct client c;

	start_full_server(&s, type);
	start_client(&c, &s);
	for (unsigned i = 0; i < s.n; i++)
		close(accept(s.fd, NULL, NULL));
	assert_int_equal(pthread_join(c.thread, NULL), 0);
	assert_int_equal(c.rc, 0);
	close(c.fd);
	stop_server(&s);
}

static void a_server_is_waited_for(void **state)
{
	is_waited_for(SOCK_STREAM);
	is_waited_for(SOCK_SEQPACKET);
}

static void is_no_longer_waited_for(int type)
{
	struct server s;
	struct client c;
	void *result;

	start_full_server(&s, type);
	start_client(&c, &s);
	assert_int_equal(pthread_cancel(c.thread), 0);
	assert_int_equal(pthread_join(c.thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	close(c.fd);
	stop_server(&s);
}

__attribute__((unused)) static void who_waits_can_be_cancelled(void **state)
{
	is_no_longer_waited_for(SOCK_STREAM);
	is_no_longer_waited_for(SOCK_SEQPACKET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connect_is_that_of_libc),
		cmocka_unit_test(tcp_is_connected),
		cmocka_unit_test(a_server_is_waited_for),
#ifndef NO_CANCELLING
		cmocka_unit_test(who_waits_can_be_cancelled),
#endif
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
