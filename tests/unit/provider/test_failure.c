/* SPDX-License-Identifier: BSD-2-Clause */
/* The one sentence that says why a peer was not reached, over the kernel's sockets. */
#include "provider/failure.h"

#include "host/config_kernel.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct net *n;

static void expect_of(struct rnic_failure f, const char *sentence)
{
	char text[FAILURE_MAX];

	f.remote.port = 7174;
	assert_int_equal(ip_addr_parse("192.0.2.7", &f.remote.addr), 0);
	engine_lock(net_engine(n));
	failure_explain(n, &f, text);
	engine_unlock(net_engine(n));
	assert_string_equal(text, sentence);
}

static void expect(int status, enum rnic_failure_mapper mapper, const char *sentence)
{
	expect_of((struct rnic_failure){.status = status, .mapper = mapper}, sentence);
}

static void what_tcp_says(void **state)
{
	expect(-ECONNREFUSED, RNIC_MAPPER_NONE,
		"192.0.2.7 refuses: no program listens there at port 7174");
	expect(-ECONNRESET, RNIC_MAPPER_NONE,
		"192.0.2.7 reset the connection to port 7174: no RDMA program listens there, or it "
		"has ended, or one end has \"tls\" and the other has not");
	expect(-ETIMEDOUT, RNIC_MAPPER_NONE,
		"192.0.2.7 does not answer at port 7174: its host or program is down, or "
		"something on the way drops the packets");
	expect(-ENETUNREACH, RNIC_MAPPER_NONE,
		"the host has no route to 192.0.2.7 (\"ip route get\" tells more)");
	expect(-EHOSTUNREACH, RNIC_MAPPER_NONE,
		"192.0.2.7 cannot be reached: it answers neither ARP nor ND (\"ip neigh\" tells "
		"more), or a router on the way says so");
	expect(-EPROTO, RNIC_MAPPER_NONE,
		"what port 7174 of 192.0.2.7 answers is not understood: no RDMA program listens "
		"there, or one end has \"tls\" and the other has not");
	expect(-EKEYREJECTED, RNIC_MAPPER_NONE,
		"192.0.2.7, port 7174, and this host do not believe each other: the line of "
		"\"tls\" before this one says why");
}

/** Not that no program listens at the port: it has not been tried. */
static void what_the_port_mapper_says(void **state)
{
	expect(-ECONNREFUSED, RNIC_MAPPER_ABSENT,
		"192.0.2.7 has no port mapper: nothing is at its UDP port 3935, and port_mapper is "
		"\"required\"");
	expect(-ECONNREFUSED, RNIC_MAPPER_REJECTS,
		"the port mapper of 192.0.2.7 does not know port 7174: no program listens there");
	expect(-ETIMEDOUT, RNIC_MAPPER_SILENT,
		"the port mapper of 192.0.2.7 does not answer at UDP port 3935: there is none, or "
		"something on the way drops the packets");
}

static void what_is_no_address_is_named(void **state)
{
	struct rnic_failure f = {.status = -EADDRNOTAVAIL};

	assert_int_equal(ip_addr_parse("192.0.2.9", &f.local), 0);
	expect_of(f, "192.0.2.7 is reached from 192.0.2.9, which is no \"address\" of the "
		     "configuration: UD queue pairs send from those alone");
	expect(-EADDRNOTAVAIL, RNIC_MAPPER_NONE,
		"no local port is left for 192.0.2.7, port 7174, or the local address is gone");
}

static int setup(void **state)
{
	struct config_error e;
	struct config c;

	config_init(&c);
	c.log = LOG_LEVEL_ERROR;
	return config_kernel_addresses(&c, &e) || net_open(&c, &n, &e);
}

static int teardown(void **state)
{
	net_close(n);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tcp_says),
		cmocka_unit_test(what_the_port_mapper_says),
		cmocka_unit_test(what_is_no_address_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
