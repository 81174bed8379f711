/* SPDX-License-Identifier: BSD-2-Clause */
/** Datagrams of programs over the host's UDP: many in one call, what does not fit, both families.
 */
#include "sock/datagrams.h"

#include "fixture.h"

#include <errno.h>
#include <string.h>

#define MAX  2000
#define MANY 200

static struct {
	struct fixture f;
	struct sock_datagrams *a, *b;
	uint16_t port[2];
	unsigned n;
	struct sock_datagrams_path path;
	uint8_t first[MANY * 2];
	size_t len;
} v;

static void on_datagram(
	void *ctx, const struct sock_datagrams_path *path, const uint8_t *data, size_t len)
{
	assert_true(v.n < sizeof v.first);
	v.first[v.n++] = len != 0 ? data[0] : 0;
	v.path = *path;
	v.len = len;
}

/** Two ports, of which each was free a moment ago. */
static struct sock_datagrams *open_any(uint16_t *port)
{
	struct sock_datagrams *d;
	int rc = -EADDRINUSE;

	for (*port = 20000; rc == -EADDRINUSE && *port < 30000; *port += 7)
		rc = sock_datagrams_open(v.f.s, *port, MAX, on_datagram, NULL, &d);
	assert_int_equal(rc, 0);
	*port -= 7;
	return d;
}

static int setup(void **state)
{
	memset(&v, 0, sizeof v);
	fixture_open(&v.f, NULL);
	v.a = open_any(&v.port[0]);
	v.b = open_any(&v.port[1]);
	return 0;
}

static int teardown(void **state)
{
	sock_datagrams_close(v.a);
	sock_datagrams_close(v.b);
	fixture_close(&v.f);
	return 0;
}

static int say(const char *from, const char *to, uint8_t first, size_t len)
{
	struct sock_datagrams_path path = {
		.remote = fixture_at(to, v.port[1]), .tos = 0x48, .ttl = 9};
	uint8_t *room;
	int rc;

	path.local = fixture_at(from, 0).addr;
	rc = sock_datagrams_begin(v.a, &path, len, &room);
	if (!rc) {
		memset(room, first, len);
		sock_datagrams_commit(v.a);
	}
	return rc;
}

static bool came(struct fixture *f)
{
	return v.n != 0;
}

static void what_is_told(void **state)
{
	static const char *const address[] = {"127.0.0.1", "::1"};

	for (unsigned i = 0; i < 2; i++) {
		struct ip_addr own = fixture_at(address[i], 0).addr;

		v.n = 0;
		assert_int_equal(say(address[i], address[i], 5, MAX), 0);
		assert_true(sock_datagrams_flush(v.a));
		fixture_until(&v.f, came);
		assert_int_equal(v.len, MAX);
		assert_true(ip_addr_equal(&v.path.local, &own));
		assert_true(ip_addr_equal(&v.path.remote.addr, &own));
		assert_int_equal(v.path.remote.port, v.port[0]);
		assert_int_equal(v.path.tos, 0x48);
		assert_int_equal(v.path.ttl, 9);
	}
	assert_int_equal(say("127.0.0.1", "127.0.0.1", 5, MAX + 1), -EMSGSIZE);
}

static bool all_came(struct fixture *f)
{
	return v.n == 2 * MANY;
}

/** More than a call takes, and of two families by turns: in order, and none is lost. */
static void many(void **state)
{
	for (unsigned i = 0; i < 2 * MANY; i++) {
		const char *at = i / 20 % 2 == 0 ? "127.0.0.1" : "::1";

		while (say(at, at, (uint8_t)i, 40) == -EAGAIN)
			fixture_round(&v.f);
		if (i % 50 == 49) {
			(void)sock_datagrams_flush(v.a);
			fixture_round(&v.f);
		}
	}
	while (!sock_datagrams_flush(v.a))
		fixture_round(&v.f);
	fixture_until(&v.f, all_came);
}

/** What is longer than asked for is dropped, and what comes behind it is not. */
static void too_long(void **state)
{
	struct sock_datagrams *small;
	uint16_t port = (uint16_t)(v.port[1] + 1);
	int rc = -EADDRINUSE;

	for (; rc == -EADDRINUSE; port++)
		rc = sock_datagrams_open(v.f.s, port, 10, on_datagram, NULL, &small);
	assert_int_equal(rc, 0);
	v.port[1] = (uint16_t)(port - 1);
	assert_int_equal(say("127.0.0.1", "127.0.0.1", 1, 11), 0);
	assert_int_equal(say("127.0.0.1", "127.0.0.1", 2, 10), 0);
	assert_true(sock_datagrams_flush(v.a));
	fixture_until(&v.f, came);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.first[0], 2);
	sock_datagrams_close(small);
}

static void taken_port(void **state)
{
	struct sock_datagrams *d;

	assert_int_equal(
		sock_datagrams_open(v.f.s, v.port[0], MAX, on_datagram, NULL, &d), -EADDRINUSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(many, setup, teardown),
		cmocka_unit_test_setup_teardown(too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_port, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
