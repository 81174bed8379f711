/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may bind and listen where, for UD queue pairs. */
#include "rnic/sidr.h"

#include "rnic/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sidr_wire.h"

#include <sys/mman.h>
#include <unistd.h>

#define PORT 7000

static struct pair *const pair = &sidr_wire.pair;

static int setup(void **state)
{
	sidr_wire_init(NULL);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(sidr_wire_fini(), 0);
	return 0;
}

static struct ip_endpoint at(const char *text, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(text, &e.addr), 0);
	return e;
}

struct binding {
	const char *addr;
	bool reuse, v6only;
};

static struct rnic_ep *bind(const struct binding *b, uint16_t port, int rc)
{
	struct ip_endpoint e = at(b->addr, port);
	struct rnic_ep *ep;

	assert_int_equal(rnic_ep_create_ud(pair->a.rnic, pair_ep_event, &pair->a, &ep), 0);
	assert_int_equal(rnic_ep_bind(ep, &e, b->reuse, b->v6only), rc);
	return ep;
}

static void conflicts(void **state)
{
	static const struct {
		struct binding first, second;
		int bind, listen;
	} cases[] = {
		{{.addr = "10.0.0.1"}, {.addr = "10.0.0.1"}, -EADDRINUSE, 0},
		{{.addr = "0.0.0.0"}, {.addr = "10.0.0.1"}, -EADDRINUSE, 0},
		{{.addr = "10.0.0.1"}, {.addr = "0.0.0.0"}, -EADDRINUSE, 0},
		{{.addr = "::"}, {.addr = "10.0.0.1"}, -EADDRINUSE, 0},
		{{.addr = "::"}, {.addr = "0.0.0.0"}, -EADDRINUSE, 0},
		{{.addr = "::", .v6only = true}, {.addr = "10.0.0.1"}, 0, 0},
		{{.addr = "0.0.0.0"}, {.addr = "::", .v6only = true}, 0, 0},
		{{.addr = "10.0.0.1", .reuse = true}, {.addr = "10.0.0.1"}, -EADDRINUSE, 0},
		{{.addr = "10.0.0.1", .reuse = true}, {.addr = "10.0.0.1", .reuse = true}, 0,
			-EADDRINUSE},
		{{.addr = "0.0.0.0", .reuse = true}, {.addr = "10.0.0.1", .reuse = true}, 0,
			-EADDRINUSE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rnic_ep *first = bind(&cases[i].first, PORT, 0);
		struct rnic_ep *second = bind(&cases[i].second, PORT, cases[i].bind);

		assert_int_equal(rnic_ep_listen(first, 0), 0);
		if (!cases[i].bind)
			assert_int_equal(rnic_ep_listen(second, 0), cases[i].listen);
		rnic_ep_destroy(second);
		rnic_ep_destroy(first);
		assert_int_equal(sidr_wire.open, 0);
	}
}

/* Who listens cannot be joined, however both are bound. */
static void after_listening(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1", .reuse = true};
	struct rnic_ep *first = bind(&b, PORT, 0), *second;

	assert_int_equal(rnic_ep_listen(first, 0), 0);
	second = bind(&b, PORT, -EADDRINUSE);
	rnic_ep_destroy(second);
	rnic_ep_destroy(first);
}

static void not_ours(void **state)
{
	static const struct binding b = {.addr = "192.0.2.1"};

	rnic_ep_destroy(bind(&b, PORT, -EADDRNOTAVAIL));
}

static void any_port(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1"};
	struct rnic_ep *first = bind(&b, 0, 0), *second = bind(&b, 0, 0);
	struct ip_endpoint one, two, remote;

	rnic_ep_addresses(first, &one, &remote);
	rnic_ep_addresses(second, &two, &remote);
	assert_true(one.port >= 49152 && two.port >= 49152);
	assert_int_not_equal(one.port, two.port);
	rnic_ep_destroy(first);
	rnic_ep_destroy(second);
}

/** Each in its turn of those that UD QPs may need, and one above, if any. */
static void draw_ud_ports(void *ctx, void *buf, size_t len)
{
	uint32_t *drawn = ctx, v = 61525 - 49152 + (*drawn)++ % (UD_PORTS + 1);

	assert_int_equal(len, sizeof v);
	memcpy(buf, &v, sizeof v);
}

/* They are opened with the first UD QP, perhaps later. */
static void any_port_but_those_of_ud_qps(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1"};
	struct ip_endpoint local, remote;
	struct rnic_ep *ep;
	uint32_t drawn = 0;

	pair->a.rnic->random = (struct random_source){draw_ud_ports, &drawn};
	ep = bind(&b, 0, 0);
	rnic_ep_addresses(ep, &local, &remote);
	assert_int_equal(local.port, 61525 + UD_PORTS);
	rnic_ep_destroy(ep);
	pair->a.rnic->random = (struct random_source){pair_random, pair};
}

static void rebinding(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1"},
				    reusing = {.addr = "10.0.0.1", .reuse = true};
	struct rnic_ep *first = bind(&b, PORT, 0), *second;

	assert_int_equal(rnic_ep_rebind(first, true, false), 0);
	second = bind(&reusing, PORT, 0);
	assert_int_equal(rnic_ep_rebind(first, false, false), -EADDRINUSE);
	rnic_ep_destroy(second);
	assert_int_equal(rnic_ep_rebind(first, false, false), 0);
	rnic_ep_destroy(first);
}

/* Another process of the host has UDP's port. */
static void taken_elsewhere(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1"};
	struct rnic_ep *ep = bind(&b, PORT, 0);

	sidr_wire.open_rc = -EADDRINUSE;
	assert_int_equal(rnic_ep_listen(ep, 0), -EADDRINUSE);
	sidr_wire.open_rc = 0;
	assert_int_equal(rnic_ep_listen(ep, 0), 0);
	rnic_ep_destroy(ep);
}

/* Two listeners at one port by address: each has its own requests. */
static void the_most_specific(void **state)
{
	static const struct binding v4 = {.addr = "0.0.0.0"}, v6 = {.addr = "::", .v6only = true};
	struct rnic_ep *first = bind(&v4, PORT, 0), *second = bind(&v6, PORT, 0);
	struct ip_endpoint here = at("10.0.0.1", PORT), there = at("fd00::1", PORT);

	assert_int_equal(rnic_ep_listen(first, 0), 0);
	assert_int_equal(rnic_ep_listen(second, 0), 0);
	assert_int_equal(sidr_wire.open, 1);
	assert_ptr_equal(sidr_listener(pair->a.rnic, &here), first);
	assert_ptr_equal(sidr_listener(pair->a.rnic, &there), second);
	here.port++;
	assert_null(sidr_listener(pair->a.rnic, &here));
	rnic_ep_destroy(second);
	assert_int_equal(sidr_wire.open, 1);
	assert_null(sidr_listener(pair->a.rnic, &there));
	rnic_ep_destroy(first);
}

/* Strangers ask, and there may be many endpoints: those that listen alone are looked at. */
static void looks_at_listeners_alone(void **state)
{
	static const struct binding b = {.addr = "10.0.0.1"};
	struct rnic_ep *listener = bind(&b, PORT, 0), *other, *last = listener;
	struct ip_endpoint here = at("10.0.0.1", PORT), free = at("10.0.0.1", PORT + 1);
	long page = sysconf(_SC_PAGESIZE);

	assert_true(page >= (long)sizeof *other);
	other = mmap(
		NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(other, MAP_FAILED);
	assert_int_equal(rnic_ep_listen(listener, 0), 0);
	while (LIST_NEXT(last, link))
		last = LIST_NEXT(last, link);
	LIST_INSERT_AFTER(last, other, link);
	assert_int_equal(mprotect(other, (size_t)page, PROT_NONE), 0);
	assert_ptr_equal(sidr_listener(pair->a.rnic, &here), listener);
	assert_null(sidr_listener(pair->a.rnic, &free));
	assert_int_equal(mprotect(other, (size_t)page, PROT_READ | PROT_WRITE), 0);
	LIST_REMOVE(other, link);
	munmap(other, (size_t)page);
	rnic_ep_destroy(listener);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(conflicts),
		TEST(after_listening),
		TEST(not_ours),
		TEST(any_port),
		TEST(any_port_but_those_of_ud_qps),
		TEST(rebinding),
		TEST(taken_elsewhere),
		TEST(the_most_specific),
		TEST(looks_at_listeners_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
