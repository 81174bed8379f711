/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A stream over rsockets without an end of its own: one side sends, the other receives, neither
 * blocks. When the peer ends, each says what librdmacm told it and ends with status 3; anything
 * else that is no good ends it with 1.
 *
 *     rsocket_stream -p PORT send|receive            the server
 *     rsocket_stream -p PORT send|receive ADDRESS    the client
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rdma/rsocket.h>

#define PIECE     16384
#define ENDED     3
#define TELL_EACH 64 /* pieces */

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct addrinfo *resolve(const char *address, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *ai;

	hints.ai_flags |= address ? 0 : AI_PASSIVE;
	hints.ai_family = address ? AF_UNSPEC : AF_INET;
	if (getaddrinfo(address, port, &hints, &ai)) {
		fprintf(stderr, "%s: no such address\n", address ? address : port);
		exit(1);
	}
	return ai;
}

static void no_blocking(int fd)
{
	if (rfcntl(fd, F_SETFL, O_NONBLOCK))
		fail("rfcntl");
}

static short wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	if (rpoll(&p, 1, -1) != 1)
		fail("rpoll");
	return p.revents;
}

/** @return true: this client stays, see reach(). */
static bool is_greeted(int fd)
{
	char greeting;
	ssize_t n;

	while ((n = rrecv(fd, &greeting, 1, 0)) < 0 && errno == EAGAIN)
		wait_for(fd, POLLIN);
	return n == 1;
}

static int serve(const struct addrinfo *ai)
{
	int listener = rsocket(ai->ai_family, SOCK_STREAM, 0), fd;

	if (listener < 0 || rbind(listener, ai->ai_addr, ai->ai_addrlen) || rlisten(listener, 1))
		fail("rlisten");
	for (;;) {
		fd = raccept(listener, NULL, NULL);
		if (fd < 0)
			fail("raccept");
		no_blocking(fd);
		if (is_greeted(fd))
			return fd;
		rclose(fd);
	}
}

/** @return true: it is connected already, which a busy machine makes of an rconnect(). */
static bool reach_at_once(int fd, const struct addrinfo *ai)
{
	int error = 0;
	socklen_t len = sizeof error;

	no_blocking(fd);
	if (!rconnect(fd, ai->ai_addr, ai->ai_addrlen))
		return true;
	if (errno != EINPROGRESS)
		fail("rconnect");
	wait_for(fd, POLLOUT);
	if (rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
		fail("rgetsockopt");
	errno = error;
	if (error)
		fail("rconnect");
	return false;
}

/**
 * No thread of librdmacm's reads the end of what was connected at once (mended in 2024); such a
 * socket is not for this.
 */
static int reach(const struct addrinfo *ai)
{
	for (;;) {
		int fd = rsocket(ai->ai_family, SOCK_STREAM, 0);

		if (fd < 0)
			fail("rsocket");
		if (!reach_at_once(fd, ai)) {
			if (rsend(fd, "", 1, 0) != 1)
				fail("rsend");
			return fd;
		}
		printf("connected at once\n");
		fflush(stdout);
		rclose(fd);
	}
}

static int ended(const char *how)
{
	printf("the peer has ended: %s\n", how);
	return ENDED;
}

static int stream(int fd, bool sends)
{
	static char piece[PIECE];
	size_t moved = 0, told = 0;

	for (;;) {
		ssize_t n = sends ? rsend(fd, piece, PIECE, 0) : rrecv(fd, piece, PIECE, 0);

		if (n == 0)
			return ended("end of the stream");
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return ended(strerror(errno));
		if (n < 0)
			wait_for(fd, sends ? POLLOUT : POLLIN);
		else
			moved += (size_t)n;
		for (; moved - told >= TELL_EACH * PIECE; told += TELL_EACH * PIECE) {
			printf("moved\n");
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	bool sends = argc > 3 && !strcmp(argv[3], "send");
	struct addrinfo *ai;
	int fd;

	if (argc < 4 || argc > 5 || strcmp(argv[1], "-p") ||
		(!sends && strcmp(argv[3], "receive"))) {
		fprintf(stderr, "usage: rsocket_stream -p PORT send|receive [ADDRESS]\n");
		return 1;
	}
	ai = resolve(argc == 5 ? argv[4] : NULL, argv[2]);
	fd = argc == 5 ? reach(ai) : serve(ai);
	freeaddrinfo(ai);
	return stream(fd, sends);
}
