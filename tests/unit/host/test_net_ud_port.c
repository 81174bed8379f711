/* SPDX-License-Identifier: BSD-2-Clause */
/* More UDP ports for UD queue pairs, over both kinds of port: to and fro, ICMP, who is let in. */
#include "host/net_ud_port.h"

#include "host/net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#include "net_fixture.h"

static struct {
	struct ip_endpoint from, to;
	uint8_t data[UD_PORT_MAX];
	size_t len;
	unsigned n, errors;
} got;

static void input(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len)
{
	assert_ptr_equal(ctx, &got);
	got.from = *from;
	got.to = *to;
	memcpy(got.data, data, len);
	got.len = len;
	got.n++;
}

static void error(void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len)
{
	assert_ptr_equal(ctx, &got);
	got.to = *to;
	assert_true(len >= 5);
	assert_memory_equal(data, "hello", 5);
	got.errors++;
}

static const struct ud_port_user user = {.input = input, .error = error, .ctx = &got};

static struct ip_endpoint at(const char *text, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(text, &e.addr), 0);
	return e;
}

static struct net *start(const char *const *set, unsigned n)
{
	memset(&got, 0, sizeof got);
	return net_fixture_open(set, n);
}

static int port_try(struct net *n, uint16_t number, struct ud_port **p)
{
	int rc;

	engine_lock(net_engine(n));
	rc = net_ud(n)->port_open(net_ud(n)->ctx, number, &user, p);
	engine_unlock(net_engine(n));
	assert_true(rc == 0 || rc == -EADDRINUSE);
	return rc;
}

static void say(struct net *n, struct ud_port *p, const struct ip_endpoint *from,
	const struct ip_endpoint *to)
{
	engine_lock(net_engine(n));
	net_ud(n)->port_send(p, &from->addr, to, "hello", 5);
	engine_unlock(net_engine(n));
}

static void port_close(struct net *n, struct ud_port *p)
{
	engine_lock(net_engine(n));
	net_ud(n)->port_close(p);
	engine_unlock(net_engine(n));
}

/* Two ports next to each other that are free now, and one behind them that nobody has; the host's
 * are not ours alone. */
static uint16_t free_ports(struct net *n, struct ud_port *p[2])
{
	struct ud_port *third;

	for (uint16_t first = (uint16_t)(20000 + getpid() % 8000);; first++) {
		if (port_try(n, first, &p[0]))
			continue;
		if (!port_try(n, first + 1, &p[1])) {
			if (!port_try(n, first + 2, &third)) {
				port_close(n, third);
				return first;
			}
			port_close(n, p[1]);
		}
		port_close(n, p[0]);
	}
}

/* From one port to the other, and to one that nobody has, of an address of ours. */
static void to_and_fro(struct net *n, const char *own)
{
	struct ud_port *p[2], *third;
	uint16_t port = free_ports(n, p);
	struct ip_endpoint a = at(own, port), b = at(own, port + 1), nobody = at(own, port + 2);

	assert_int_equal(port_try(n, port, &third), -EADDRINUSE);
	got.n = got.errors = 0;
	say(n, p[0], &a, &b);
	while (!got.n)
		(void)engine_drive(net_engine(n));
	assert_true(ip_addr_equal(&got.from.addr, &a.addr) && got.from.port == port);
	assert_true(ip_addr_equal(&got.to.addr, &b.addr) && got.to.port == port + 1);
	assert_int_equal(got.len, 5);
	assert_memory_equal(got.data, "hello", 5);
	/* There are few ICMP errors, and none in the first moment. */
	while (!got.errors) {
		say(n, p[0], &a, &nobody);
		(void)engine_drive(net_engine(n));
	}
	assert_int_equal(got.to.port, port + 2);
	assert_int_equal(got.n, 1);
	port_close(n, p[0]);
	port_close(n, p[1]);
}

static void test_port(void **state)
{
	static const char *const set[] = {"port=net_null0,no-rx=1", "address=10.0.0.1/24",
		"address=fd00::1/64", "memory=16", "log=error"};
	struct net *n = start(set, 5);

	to_and_fro(n, "10.0.0.1");
	to_and_fro(n, "fd00::1");
	net_close(n);
}

static void test_kernel(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/8", "log=error"};
	struct net *n = start(set, 3);

	to_and_fro(n, "127.0.0.1");
	net_close(n);
}

/* As for the datagrams of the queue pairs themselves. */
static void test_strangers(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/32", "log=error"};
	struct net *n = start(set, 3);
	const struct ud_path stranger = {
		.local = at("127.0.0.1", 0).addr, .remote = at("192.0.2.1", 0).addr};
	const struct ud_path self = {.local = stranger.local, .remote = stranger.local};
	uint64_t refused = net_ud(n)->refused;

	assert_true(net_ud_lets_in(n, &self));
	assert_false(net_ud_lets_in(n, &stranger));
	assert_int_equal(net_ud(n)->refused, refused + 1);
	net_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
