/* SPDX-License-Identifier: BSD-2-Clause */
/* A memif's client ends its connection while the EAL's interrupt thread has an event of that
 * connection at hand (memif_driver_has_input()). That thread takes the events in this order: the
 * turn in which the port is stopped, ours, that of the connection. */
#define ALLOW_EXPERIMENTAL_API

#include "dpdk-port/eal.h"
#include "dpdk-port/memif_control.h"
#include "dpdk-port/memif_driver.h"
#include "dpdk-port/port_private.h"
#include "support/wrapped.h"

#include <poll.h>
#include <pthread.h>
#include <rte_interrupts.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define SOCKET "uiwarp-test-turn"

static int listener, timer;
static struct rte_intr_handle *hold, *look;
static sem_t held, go_on, looked;
/* Of the client, in the interrupt thread. */
static int channel;
static uint64_t connection;
static bool was_open;

static void take(const struct rte_intr_handle *handle)
{
	uint64_t n;

	assert_int_equal(read(rte_intr_fd_get(handle), &n, sizeof n), sizeof n);
}

static void interrupt(const struct rte_intr_handle *handle)
{
	uint64_t one = 1;

	assert_int_equal(write(rte_intr_fd_get(handle), &one, sizeof one), sizeof one);
}

static void await(sem_t *s)
{
	while (sem_wait(s))
		;
}

/** Until all events of the test's are there. */
static void hold_the_thread(void *arg)
{
	take(hold);
	sem_post(&held);
	await(&go_on);
}

/** Between the turn and the event of the connection. */
static void look_at_the_channel(void *arg)
{
	uint64_t now;

	take(look);
	was_open = memif_control_cookie(channel, &now) && now == connection;
	sem_post(&looked);
}

static void find_the_channel(void *port)
{
	channel = memif_driver_channel(((struct port *)port)->id);
	assert_true(memif_control_cookie(channel, &connection));
}

static void do_nothing(void *arg)
{
}

/** By which the EAL is told of turns. */
static int find_timer(void)
{
	static const char kind[] = "anon_inode:[timerfd]";
	char path[32], name[sizeof kind];

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, name, sizeof name) == sizeof kind - 1 &&
			!memcmp(name, kind, sizeof kind - 1))
			return fd;
	}
	return -1;
}

static bool has_input_always;

bool __real_memif_driver_has_input(uint16_t id);
WRAPPED bool __wrap_memif_driver_has_input(uint16_t id);

bool __wrap_memif_driver_has_input(uint16_t id)
{
	return has_input_always || __real_memif_driver_has_input(id);
}

static struct port *open_port(const char *device)
{
	struct port_config cfg = {.device = device, .memory_mib = 8};
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	return p;
}

/** interrupt() calls @p handler. */
static struct rte_intr_handle *on_interrupt(rte_intr_callback_fn handler)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);

	assert_int_equal(rte_intr_fd_set(handle, eventfd(0, EFD_NONBLOCK)), 0);
	assert_int_equal(rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT), 0);
	assert_int_equal(rte_intr_callback_register(handle, handler, NULL), 0);
	return handle;
}

static void end_interrupt(struct rte_intr_handle *handle, rte_intr_callback_fn handler)
{
	assert_int_equal(rte_intr_callback_unregister_sync(handle, handler, NULL), 1);
	close(rte_intr_fd_get(handle));
	rte_intr_instance_free(handle);
}

static void *close_it(void *port)
{
	port_close(port);
	return NULL;
}

/** Until it is started anew, as there is no link. */
static void *watch_it(void *port)
{
	for (unsigned i = 0; i < 20; i++)
		port_watch(port);
	return NULL;
}

/** @p end ends the connection, in a turn, after the server has. @return the port. */
static struct port *end_both(void *(*end)(void *port))
{
	struct port *client = open_port("net_memif1,role=client,socket=" SOCKET);
	struct pollfd due = {.fd = timer, .events = POLLIN};
	int peer = accept(listener, NULL, NULL);
	pthread_t thread;

	eal_call_in_turn(find_the_channel, client);
	interrupt(hold);
	await(&held);
	assert_int_equal(pthread_create(&thread, NULL, end, client), 0);
	assert_int_equal(poll(&due, 1, -1), 1);
	interrupt(look);
	close(peer);
	sem_post(&go_on);
	await(&looked);
	pthread_join(thread, NULL);
	return client;
}

static void a_port_that_is_closed(void **state)
{
	was_open = false;
	end_both(close_it);
	assert_true(was_open);
}

static void a_client_that_is_started_anew(void **state)
{
	struct port *client;

	was_open = false;
	client = end_both(watch_it);
	assert_true(was_open);
	port_close(client);
}

/** @return the client has closed the connection of which @p peer is the other end. */
static bool is_over(int peer)
{
	char octets[128];
	ssize_t n;

	do
		n = recv(peer, octets, sizeof octets, MSG_DONTWAIT);
	while (n > 0);
	return n == 0;
}

/** What the driver never takes does not keep a client from being started anew. */
static void a_client_whose_input_stays(void **state)
{
	struct port *client = open_port("net_memif2,role=client,socket=" SOCKET);
	int peer = accept(listener, NULL, NULL);
	bool over = false;

	has_input_always = true;
	for (unsigned i = 0; i < 20; i++)
		port_watch(client);
	assert_false(is_over(peer));
	for (unsigned watches = 0; watches < 1000 && !over; watches++) {
		port_watch(client);
		over = is_over(peer);
	}
	has_input_always = false;
	assert_true(over);
	close(peer);
	close(accept(listener, NULL, NULL));
	port_close(client);
}

static int setup(void **state)
{
	static const struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "\0" SOCKET};

	sem_init(&held, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&looked, 0, 0);
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(
		bind(listener, (const struct sockaddr *)&sun,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof SOCKET)),
		0);
	assert_int_equal(listen(listener, 4), 0);
	port_close(open_port("net_null0"));
	/* Where several events are new to that thread, they come as they were registered. */
	eal_call_in_turn(do_nothing, NULL);
	timer = find_timer();
	look = on_interrupt(look_at_the_channel);
	hold = on_interrupt(hold_the_thread);
	return timer < 0;
}

static int tear_down(void **state)
{
	end_interrupt(hold, hold_the_thread);
	end_interrupt(look, look_at_the_channel);
	close(listener);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_is_closed),
		cmocka_unit_test(a_client_that_is_started_anew),
		cmocka_unit_test(a_client_whose_input_stays),
	};

	return cmocka_run_group_tests(tests, setup, tear_down);
}
