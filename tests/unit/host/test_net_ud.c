/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams of UD queue pairs over both kinds of port, and from where they are taken. */
#include "host/net.h"

#include "base/digest.h"
#include "ud/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#include "net_fixture.h"

static struct {
	struct ud_path path;
	uint8_t data[UD_DATAGRAM_MAX];
	size_t len;
	unsigned n;
} got;

static void input(void *user, const struct ud_path *path, const uint8_t *data, size_t len)
{
	assert_ptr_equal(user, &got);
	got.path = *path;
	memcpy(got.data, data, len);
	got.len = len;
	got.n++;
}

static struct net *start(const char *const *set, unsigned n)
{
	memset(&got, 0, sizeof got);
	return net_fixture_open(set, n);
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/* @return as ud_net.begin(). */
static int say(struct net *n, const char *from, const char *to, uint16_t port, const void *text,
	size_t len)
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

static void open_at(struct net *n, uint16_t port)
{
	const struct ud_net *ud = net_ud(n);
	int rc;

	engine_lock(net_engine(n));
	rc = ud->open(ud->ctx, port, input, &got);
	engine_unlock(net_engine(n));
	assert_int_equal(rc, 0);
}

static void finish(struct net *n)
{
	const struct ud_net *ud = net_ud(n);

	engine_lock(net_engine(n));
	ud->close(ud->ctx);
	engine_unlock(net_engine(n));
	net_close(n, false);
}

static void expect(struct net *n, const char *from, const char *to, const char *text)
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
	assert_int_equal(got.path.ttl, 7);
	got.n = 0;
}

/* A port of our own, to itself; both families. */
static void test_port(void **state)
{
	static const char *const set[] = {"port=net_null0,no-rx=1", "address=10.0.0.1/24",
		"address=fd00::1/64", "memory=16", "log=error"};
	static const uint8_t text[UD_DATAGRAM_MAX];
	struct net *n = start(set, 5);

	assert_int_equal(net_ud(n)->max_message, 1024);
	open_at(n, 61525);
	assert_int_equal(say(n, "10.0.0.1", "10.0.0.1", 61525, "over IPv4", 9), 0);
	expect(n, "10.0.0.1", "10.0.0.1", "over IPv4");
	assert_int_equal(say(n, "fd00::1", "fd00::1", 61525, "over IPv6", 9), 0);
	expect(n, "fd00::1", "fd00::1", "over IPv6");
	/* Nobody has that address, and none of ours is this. */
	assert_int_equal(say(n, "10.0.0.1", "192.0.2.1", 61525, "x", 1), -ENETUNREACH);
	assert_int_equal(say(n, "10.0.0.9", "10.0.0.2", 61525, "x", 1), -EADDRNOTAVAIL);
	assert_int_equal(say(n, "10.0.0.1", "10.0.0.1", 61525, text, sizeof text), -EMSGSIZE);
	engine_lock(net_engine(n));
	net_ud(n)->prepare(net_ud(n)->ctx, &(struct ip_addr){.b = {0xfd, [15] = 9}});
	engine_unlock(net_engine(n));
	finish(n);
}

/* The host's sockets. @return one that is bound to @p from, and the port that is open. */
static int stranger(const char *from, uint16_t *port)
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
static struct net *start_kernel(const char *const *set, unsigned n, uint16_t *port)
{
	struct net *net = start(set, n);
	const struct ud_net *ud = net_ud(net);
	int rc = -EADDRINUSE;

	for (unsigned i = 0; i < 100 && rc == -EADDRINUSE; i++) {
		close(stranger("127.0.0.1", port));
		engine_lock(net_engine(net));
		rc = ud->open(ud->ctx, *port, input, &got);
		engine_unlock(net_engine(net));
	}
	assert_int_equal(rc, 0);
	return net;
}

static void stranger_says(int fd, uint16_t port, const char *text)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};
	int tos = 0x20, ttl = 7;

	assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TTL, &ttl, sizeof ttl), 0);
	inet_pton(AF_INET, "127.0.0.1", &sin.sin_addr);
	assert_int_equal(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&sin, sizeof sin),
		strlen(text));
}

/* What comes from another subnet is dropped: a later one, from ours, is the first that is seen. */
static void test_subnet(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=error"};
	uint16_t port, other;
	struct net *n = start_kernel(set, 3, &port);
	int far = stranger("127.9.9.9", &other);

	stranger_says(far, port, "far");
	assert_int_equal(say(n, "127.0.0.1", "127.0.0.1", port, "near", 4), 0);
	expect(n, "127.0.0.1", "127.0.0.1", "near");
	assert_int_equal(net_ud(n)->refused, 1);
	close(far);
	finish(n);
}

static void test_on(void **state)
{
	static const char *const set[] = {
		"port=kernel", "address=127.0.0.1/31", "ud=on", "log=error"};
	uint16_t port, other;
	struct net *n = start_kernel(set, 4, &port);
	int far = stranger("127.9.9.9", &other);

	stranger_says(far, port, "far");
	expect(n, "127.9.9.9", "127.0.0.1", "far");
	assert_int_equal(net_ud(n)->refused, 0);
	close(far);
	finish(n);
}

static void test_off(void **state)
{
	static const char *const off[] = {
		"port=kernel", "address=127.0.0.1/8", "ud=off", "log=error"};
	static const char *const cm[] = {
		"port=kernel", "address=127.0.0.1/8", "connect_mode=rdma_cm", "log=error"};
	struct net *n = start(off, 4);

	assert_null(net_ud(n));
	net_close(n, false);
	n = start(cm, 4);
	assert_null(net_ud(n));
	net_close(n, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subnet),
		cmocka_unit_test(test_on),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
