/* SPDX-License-Identifier: BSD-2-Clause */
/* A host on DPDK's null port: what an open one tells. */
#include "host/net_priv.h"
#include "ip/udp.h"
#include "ud/net.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>
/* And that. */
#include "net_fixture.h"
#include "support/wrapped.h"

static bool drawing; /**< of ports, not at random */
static uint32_t drawn;

ssize_t __real_getrandom(void *buf, size_t len, unsigned flags);
WRAPPED ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);

static void test_start_on_a_core_that_is_not_there(void **state)
{
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	struct config c;

	net_fixture_null(&c);
	c.progress_dedicated = true;
	c.progress_core = 1023;
	assert_int_equal(net_open(&c, &n, &e), 0);
	assert_int_equal(net_start(n, NULL, &e), -EINVAL);
	assert_string_equal(e.text, "progress = dedicated:1023: this process cannot run on that "
				    "core: Invalid argument");
	net_close(n);
}

/** Each in its turn of the ports that UD QPs may need, and one above, as of the mapper's. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
	uint32_t v = 61525 - 49152 + drawn;

	if (!drawing || len != sizeof v)
		return __real_getrandom(buf, len, flags);
	drawn = (drawn + 1) % (UD_PORTS + 1);
	memcpy(buf, &v, sizeof v);
	return sizeof v;
}

/* The mapper's own port is drawn before UD's are open. */
static void test_ports_of_ud_stay_free(void **state)
{
	const struct udp_user nobody = {.input = NULL};
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	struct config c;

	net_fixture_null(&c);
	c.port_mapper = PORT_MAPPER_AUTO;
	drawing = true;
	assert_int_equal(net_open(&c, &n, &e), 0);
	drawing = false;
	assert_non_null(net_mapper(n));
	assert_int_equal(net_config(n)->ud_port, 61525);
	assert_int_equal(udp_open(net_ip(n), 61525 + UD_PORTS, &nobody), -EADDRINUSE);
	for (uint16_t port = 61525; port < 61525 + UD_PORTS; port++) {
		assert_int_equal(udp_open(net_ip(n), port, &nobody), 0);
		udp_close(net_ip(n), port);
	}
	net_close(n);
}

static void test_open_host(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	uint8_t used[6];
	struct config c;
	uint64_t before;

	net_fixture_null(&c);
	memcpy(c.mac, mac, sizeof mac);
	assert_int_equal(net_open(&c, &n, &e), 0);
	/* Its own copy. */
	assert_ptr_not_equal(net_config(n), &c);
	assert_string_equal(net_config(n)->port, "net_null0");
	assert_int_equal(net_log(n)->max_level, LOG_LEVEL_ERROR);
	net_mac(n, used);
	assert_memory_equal(used, mac, sizeof mac);
	assert_in_range(net_mtu(n), 1280, UINT16_MAX);
	assert_true(ip_addr_is_local(net_ip(n), &c.address[0].addr));
	assert_non_null(net_tcp(n));
	assert_int_equal(net_start(n, NULL, &e), 0);
	before = net_now(n);
	assert_true(net_now(n) >= before);
	assert_false(net_is_stuck(n));
	/* In the hands of a thread that does not let go, as this one. */
	engine_lock(net_engine(n));
	assert_true(net_is_stuck(n));
	engine_unlock(net_engine(n));
	assert_false(net_is_stuck(n));
	net_linger(n); /* nothing is connected: there is nothing to wait for */
	net_stop(n);
	net_close(n);
}

static _Atomic unsigned told, looks;
static const struct net_ops *real;

static void count_jumps(void *ctx, enum log_level level, const char *text)
{
	if (strstr(text, "time stamp counter has jumped"))
		atomic_fetch_add(&told, 1);
}

static void count_looks(struct net *n)
{
	real->housekeeping(n);
	atomic_fetch_add(&looks, 1);
}

static void test_a_counter_that_has_jumped_is_told_of_once(void **state)
{
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	struct config c;
	struct net_ops ops;

	net_fixture_null(&c);
	assert_int_equal(config_set(&c, "--set", "log=warning", &e), 0);
	assert_int_equal(net_open(&c, &n, &e), 0);
	if (!n->poller.clock.mult) { /* there is no counter to go by */
		net_close(n);
		skip();
	}
	n->log.sink.line = count_jumps;
	real = n->ops;
	ops = *real;
	ops.housekeeping = count_looks;
	n->ops = &ops;
	n->poller.clock.base.tsc += UINT64_C(1) << 40; /* minutes */
	assert_int_equal(net_start(n, NULL, &e), 0);
	while (atomic_load(&looks) < 3)
		sched_yield();
	net_stop(n);
	assert_int_equal(atomic_load(&told), 1);
	net_close(n);
}

/* The counter has jumped, and who has the engine does not look: the process ends all the same. */
static void test_the_end_goes_by_the_kernels_clock(void **state)
{
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	struct config c;
	uint64_t mult;

	net_fixture_null(&c);
	assert_int_equal(net_open(&c, &n, &e), 0);
	mult = n->poller.clock.mult;
	if (!mult) {
		net_close(n);
		skip();
	}
	assert_int_equal(net_start(n, NULL, &e), 0);
	engine_lock(net_engine(n));
	n->poller.clock.mult = 1; /* it stands still */
	net_end(n);
	n->poller.clock.mult = mult;
	engine_unlock(net_engine(n));
	net_stop(n);
	net_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_on_a_core_that_is_not_there),
		cmocka_unit_test(test_ports_of_ud_stay_free),
		cmocka_unit_test(test_open_host),
		cmocka_unit_test(test_a_counter_that_has_jumped_is_told_of_once),
		cmocka_unit_test(test_the_end_goes_by_the_kernels_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
