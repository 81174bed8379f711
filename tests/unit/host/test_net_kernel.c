/* SPDX-License-Identifier: BSD-2-Clause */
/* A host over the kernel's sockets: no EAL, and its thread does the work. */
#include "dpdk-port/eal.h"
#include "host/config_kernel.h"
#include "host/net.h"
#include "host/slot.h"
#include "host/telemetry.h"
#include "host/telemetry_socket.h"
#include "llp/llp.h"
#include "support/wrapped.h"
#include "ud/net.h"

#include <errno.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

/** Descriptors that this process may have. */
#define FILES 600

static sem_t accepted, connected, closed;
static struct net *n;
static _Atomic bool looking;   /**< looks are counted */
static _Atomic unsigned looks; /**< at the host's interfaces */

int __real_getifaddrs(struct ifaddrs **list);
WRAPPED int __wrap_getifaddrs(struct ifaddrs **list);

static void on_connected(void *user)
{
	sem_post(&connected);
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned pieces, size_t total, size_t *need)
{
	return total;
}

static void on_eof(void *user)
{
}

static void on_closed(void *user, int error)
{
	sem_post(&closed);
}

static const struct llp_user_ops ops = {
	.connected = on_connected, .readable = on_readable, .eof = on_eof, .closed = on_closed};

static int on_accept(void *user, struct llp *l)
{
	sem_post(&accepted);
	llp_set_user(l, &ops, NULL);
	return 0;
}

/** Once, and no more. */
static void await(sem_t *what)
{
	int more;

	while (sem_wait(what) != 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(sem_getvalue(what, &more), 0);
	assert_int_equal(more, 0);
}

/** Nobody drives but the thread, which sleeps in the kernel until there is something. */
static void its_thread_serves_connections(void **state)
{
	struct llp_connect_params p = {0};
	struct llp_listener *l;
	struct ip_addr any = {{0}};
	struct llp *conn;

	engine_lock(net_engine(n));
	p.remote.addr = any;
	assert_int_equal(ip_addr_parse("127.0.0.1", &p.remote.addr), 0);
	assert_int_equal(llp_port_reserve(net_llp(n), &p.remote, 0), 0);
	assert_int_equal(sem_init(&accepted, 0, 0), 0);
	assert_int_equal(sem_init(&connected, 0, 0), 0);
	assert_int_equal(sem_init(&closed, 0, 0), 0);
	assert_int_equal(llp_listen(net_llp(n), &p.remote, 4, on_accept, NULL, &l), 0);
	assert_int_equal(llp_connect(net_llp(n), &p, &ops, NULL, &conn), 0);
	engine_unlock(net_engine(n));
	await(&accepted);
	await(&connected);
	engine_lock(net_engine(n));
	llp_abort(conn);
	llp_unlisten(net_llp(n), l);
	engine_unlock(net_engine(n));
	await(&closed);
}

/** Nothing but what comes wakes it: neither a clock nor a link that has to be looked at. */
static void an_idle_one_sleeps_on(void **state)
{
	while (atomic_load(&net_engine(n)->sleeping_until) < net_now(n) + UINT64_C(1000000000))
		sched_yield();
	its_thread_serves_connections(state);
}

static void it_is_a_host_without_a_port(void **state)
{
	uint8_t mac[6], again[6];

	assert_null(net_ip(n));
	assert_null(net_tcp(n));
	assert_null(eal_clock_sample()); /* no EAL */
	assert_true(net_link(n, NULL));
	assert_in_range(net_mtu(n), 68, UINT16_MAX);
	net_mac(n, mac);
	net_mac(n, again);
	assert_memory_equal(mac, again, 6);
	assert_int_equal(mac[0] & 3, 2); /* local, of one station */
	assert_false(net_is_stuck(n));
}

int __wrap_getifaddrs(struct ifaddrs **list)
{
	if (atomic_load(&looking)) {
		atomic_fetch_add(&looks, 1);
		/* The engine's thread holds it for moments only. */
		assert_false(net_is_stuck(n));
	}
	return __real_getifaddrs(list);
}

/** It waits for who configures interfaces, and others have the engine meanwhile. */
static void the_host_is_asked_without_the_engine(void **state)
{
	const struct ud_net *ud = net_ud(n);
	struct ip_addr group, any = {{0}};
	uint32_t speed;

	assert_int_equal(ip_addr_parse("239.1.2.3", &group), 0);
	atomic_store(&looking, true);
	assert_true(net_link(n, &speed));
	assert_int_equal(atomic_exchange(&looks, 0), 1);
	ud->prepare(ud->ctx, &group);
	assert_true(atomic_exchange(&looks, 0) != 0);
	engine_lock(net_engine(n));
	(void)ud->join(ud->ctx, &group, &any); /* a host may be without a link for groups */
	ud->close(ud->ctx);
	engine_unlock(net_engine(n));
	assert_int_equal(atomic_load(&looks), 0);
	atomic_store(&looking, false);
}

/** Of the limit that setup() has set. */
static void strangers_leave_descriptors_to_others(void **state)
{
	assert_int_equal(net_config(n)->patience.max_startups, FILES / 2);
}

/** Somebody else's thread is told of what runs; nothing of it remains when it ends. */
static void it_shows_what_runs(void **state)
{
	char directory[CONFIG_MAX_PATH], text[TELEMETRY_OUTPUT];
	const char *name = telemetry_name(net_telemetry(n));
	ssize_t len;
	int fd;

	assert_int_equal(slot_directory(directory, sizeof directory), 0);
	fd = telemetry_socket_connect(directory, name);
	assert_true(fd >= 0);
	assert_true(recv(fd, text, sizeof text, 0) > 0);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const request[] = {"/uiwarp/info", "/uiwarp/connections",
			"/uiwarp/stats", "/uiwarp/config", "/uiwarp/log,info",
			"/uiwarp/capture,0,1,/tmp/x"};
		json_t *j, *answer;

		assert_true(send(fd, request[i], strlen(request[i]), 0) > 0);
		len = recv(fd, text, sizeof text, 0);
		assert_true(len > 0);
		j = json_loadb(text, (size_t)len, 0, NULL);
		assert_non_null(j);
		answer = json_object_iter_value(json_object_iter(j));
		/* There is nothing to capture over the kernel's sockets. */
		assert_int_equal(json_object_get(answer, "error") != NULL, i == 5);
		if (i == 0)
			assert_string_equal(
				json_string_value(json_object_get(answer, "port")), "kernel");
		if (i == 2)
			assert_non_null(json_object_get(answer, "sock"));
		if (i == 4)
			assert_string_equal(
				json_string_value(json_object_get(answer, "level")), "info");
		json_decref(j);
	}
	close(fd);
}

static int setup(void **state)
{
	struct rlimit files;
	struct config_error e;
	struct config c;

	config_init(&c);
	c.log = LOG_LEVEL_ERROR;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return -1;
	files.rlim_cur = FILES;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		return -1;
	return config_kernel_addresses(&c, &e) || net_open(&c, &n, &e) || net_start(n, NULL, &e);
}

static int teardown(void **state)
{
	net_linger(n);
	net_close(n);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_host_without_a_port),
		cmocka_unit_test(strangers_leave_descriptors_to_others),
		cmocka_unit_test(it_shows_what_runs),
		cmocka_unit_test(the_host_is_asked_without_the_engine),
		cmocka_unit_test(its_thread_serves_connections),
		cmocka_unit_test(an_idle_one_sleeps_on),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
