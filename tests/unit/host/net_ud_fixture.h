/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net_ud_fixture.h
 * Hosts whose datagrams of UD queue pairs a test sends and gets. Include it after cmocka.h.
 */
#ifndef TESTS_UNIT_HOST_NET_UD_FIXTURE_H
#define TESTS_UNIT_HOST_NET_UD_FIXTURE_H

#include "base/digest.h"
#include "ud/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_fixture.h"

/** Where groups are heard: not where another run of the test does. */
#define GROUP_PORT ((uint16_t)(21000 + getpid() % 9000))

/** The last that came, and how many have. */
static struct {
	struct ud_path path;
	uint8_t data[UD_DATAGRAM_MAX];
	size_t len;
	unsigned n;
} got;

static inline void input(void *user, const struct ud_path *path, const uint8_t *data, size_t len)
{
	assert_ptr_equal(user, &got);
	got.path = *path;
	memcpy(got.data, data, len);
	got.len = len;
	got.n++;
}

static inline struct net *start(const char *const *set, unsigned n)
{
	memset(&got, 0, sizeof got);
	return net_fixture_open(set, n);
}

static inline struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/* @return as ud_net.begin(). */
static inline int say(struct net *n, const char *from, const char *to, uint16_t port,
	const void *text, size_t len)
{
	const struct ud_net *ud = net_ud(n);
	const struct ud_path path = {
		.local = addr(from), .remote = addr(to), .tos = 0x20, .ttl = 7};
	struct digest d = {.crc = 0};
	uint8_t *room;
	int rc;

	engine_lock(net_engine(n));
	rc = ud->begin(ud->ctx, &path, port, len, &room);
	if (!rc) {
		memcpy(room, text, len);
		digest_add(&d, DIGEST_SUM, text, len);
		ud->commit(ud->ctx, digest_fold(d.sum));
		assert_true(ud->flush(ud->ctx));
	}
	engine_unlock(net_engine(n));
	return rc;
}

static inline void open_at(struct net *n, uint16_t port)
{
	const struct ud_net *ud = net_ud(n);
	int rc;

	engine_lock(net_engine(n));
	rc = ud->open(ud->ctx, port, GROUP_PORT, input, &got);
	engine_unlock(net_engine(n));
	assert_int_equal(rc, 0);
}

static inline void finish(struct net *n)
{
	const struct ud_net *ud = net_ud(n);

	engine_lock(net_engine(n));
	ud->close(ud->ctx);
	engine_unlock(net_engine(n));
	net_close(n);
}

static inline void expect_ttl(
	struct net *n, const char *from, const char *to, const char *text, uint8_t ttl)
{
	struct ip_addr f = addr(from), t = addr(to);

	while (!got.n)
		(void)engine_drive(net_engine(n));
	assert_int_equal(got.n, 1);
	assert_int_equal(got.len, strlen(text));
	assert_memory_equal(got.data, text, got.len);
	assert_true(ip_addr_equal(&got.path.remote, &f));
	assert_true(ip_addr_equal(&got.path.local, &t));
	assert_int_equal(got.path.tos, 0x20);
	assert_int_equal(got.path.ttl, ttl);
	got.n = 0;
}

static inline void expect(struct net *n, const char *from, const char *to, const char *text)
{
	expect_ttl(n, from, to, text, 7);
}

/* The host's sockets. @return one that is bound to @p from, and the port that is open. */
static inline int stranger(const char *from, uint16_t *port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof sin;

	assert_int_equal(inet_pton(AF_INET, from, &sin.sin_addr), 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof sin), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*port = ntohs(sin.sin_port);
	return fd;
}

/* @p port: one that was free a moment ago. */
static inline struct net *start_kernel(const char *const *set, unsigned n, uint16_t *port)
{
	struct net *net = start(set, n);
	const struct ud_net *ud = net_ud(net);
	int rc = -EADDRINUSE;

	for (unsigned i = 0; i < 100 && rc == -EADDRINUSE; i++) {
		close(stranger("127.0.0.1", port));
		engine_lock(net_engine(net));
		rc = ud->open(ud->ctx, *port, GROUP_PORT, input, &got);
		engine_unlock(net_engine(net));
	}
	assert_int_equal(rc, 0);
	return net;
}

#endif
