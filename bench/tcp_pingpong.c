/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's TCP does with small messages, to compare with: a ping-pong, and a stream of
 * small sends. Both ends poll, as ib_send_lat's do. The client prints one line of JSON.
 *
 *     tcp_pingpong -s [-p PORT]                        serve one client
 *     tcp_pingpong [-p PORT] [-r] [-l BYTES] [-n COUNT] HOST
 */
#include "base/number.h"
#include "sample.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_SIZE 65536
#define WARM_UP  1000

struct job {
	uint32_t rate; /**< 1: a stream of messages; 0: ping-pong */
	uint32_t size; /**< bytes of each */
	uint32_t count;
};

static uint8_t buffer[MAX_SIZE];

static void die(const char *what)
{
	fprintf(stderr, "tcp_pingpong: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void send_all(int fd, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n) {
		ssize_t done = send(fd, b, n, MSG_NOSIGNAL);

		if (done < 0)
			die("send");
		b += done;
		n -= (size_t)done;
	}
}

static void recv_all(int fd, void *p, size_t n)
{
	uint8_t *b = p;

	while (n) {
		ssize_t done = recv(fd, b, n, MSG_DONTWAIT);

		if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (done <= 0)
			die("recv");
		b += done;
		n -= (size_t)done;
	}
}

static void set_nodelay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
		die("TCP_NODELAY");
}

static void echo(int fd, const struct job *j)
{
	set_nodelay(fd);
	for (uint32_t i = 0; i < j->count + WARM_UP; i++) {
		recv_all(fd, buffer, j->size);
		send_all(fd, buffer, j->size);
	}
}

static void drain(int fd, const struct job *j)
{
	uint64_t left = (uint64_t)j->count * j->size;

	while (left) {
		size_t n = left < sizeof buffer ? (size_t)left : sizeof buffer;
		ssize_t done = recv(fd, buffer, n, 0);

		if (done <= 0)
			die("recv");
		left -= (uint64_t)done;
	}
	send_all(fd, buffer, 1);
}

static void serve(uint16_t port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int on = 1, listener = socket(AF_INET6, SOCK_STREAM, 0), fd;
	struct job j;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
		bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1))
		die("listen");
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	recv_all(fd, &j, sizeof j);
	if (!j.size || j.size > MAX_SIZE) {
		errno = EINVAL;
		die("job");
	}
	if (j.rate)
		drain(fd, &j);
	else
		echo(fd, &j);
	close(fd);
	close(listener);
}

static int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	int fd, err = getaddrinfo(host, port, &hints, &list);

	if (err) {
		fprintf(stderr, "tcp_pingpong: %s: %s\n", host, gai_strerror(err));
		exit(1);
	}
	fd = socket(list->ai_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, list->ai_addr, list->ai_addrlen))
		die("connect");
	freeaddrinfo(list);
	return fd;
}

static void ping(int fd, const struct job *j)
{
	uint64_t *t = malloc(j->count * sizeof *t);

	if (!t)
		die("malloc");
	set_nodelay(fd);
	for (uint32_t i = 0; i < j->count + WARM_UP; i++) {
		uint64_t begin = sample_now_ns();

		send_all(fd, buffer, j->size);
		recv_all(fd, buffer, j->size);
		if (i >= WARM_UP)
			t[i - WARM_UP] = sample_now_ns() - begin;
	}
	sample_sort(t, j->count);
	printf("{\"size\": %u, \"count\": %u, \"rtt_us_min\": %.3f, \"rtt_us_p50\": %.3f, "
	       "\"rtt_us_p99\": %.3f}\n",
		j->size, j->count, (double)t[0] / 1e3, (double)t[j->count / 2] / 1e3,
		(double)t[(uint64_t)j->count * 99 / 100] / 1e3);
	free(t);
}

/* With Nagle's algorithm on, which is the kernel's best for this. */
static void stream(int fd, const struct job *j)
{
	uint64_t begin = sample_now_ns();
	double seconds;

	for (uint32_t i = 0; i < j->count; i++)
		send_all(fd, buffer, j->size);
	recv_all(fd, buffer, 1);
	seconds = (double)(sample_now_ns() - begin) / 1e9;
	printf("{\"size\": %u, \"count\": %u, \"mmsg_s\": %.4f, \"gbit_s\": %.4f}\n", j->size,
		j->count, j->count / seconds / 1e6, 8.0 * j->count * j->size / seconds / 1e9);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: tcp_pingpong -s [-p PORT]\n"
		"       tcp_pingpong [-p PORT] [-r] [-l BYTES] [-n COUNT] HOST\n"
		"BYTES from 1 to %u\n",
		MAX_SIZE);
	exit(2);
}

static uint32_t number(const char *text, uint32_t max)
{
	uint64_t n = 0;

	if (!number_parse(text, 1, max, &n))
		usage();
	return (uint32_t)n;
}

int main(int argc, char **argv)
{
	struct job j = {.size = 8, .count = 20000};
	const char *port = "7471";
	bool server = false;
	int c, fd;

	while ((c = getopt(argc, argv, "srp:l:n:")) != -1) {
		switch (c) {
		case 's':
			server = true;
			break;
		case 'r':
			j.rate = 1;
			break;
		case 'p':
			port = optarg;
			break;
		case 'l':
			j.size = number(optarg, MAX_SIZE);
			break;
		case 'n':
			j.count = number(optarg, UINT32_MAX);
			break;
		default:
			usage();
		}
	}
	if (server) {
		serve((uint16_t)number(port, UINT16_MAX));
		return 0;
	}
	if (optind != argc - 1)
		usage();
	fd = connect_to(argv[optind], port);
	send_all(fd, &j, sizeof j);
	if (j.rate)
		stream(fd, &j);
	else
		ping(fd, &j);
	close(fd);
	return 0;
}
