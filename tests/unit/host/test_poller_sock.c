/* SPDX-License-Identifier: BSD-2-Clause */
/* An engine over the kernel's sockets, which this thread drives. */
#include "host/poller.h"

#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

/** More than a listener accepts in a round. */
#define PEERS 40

static struct engine engine;
static struct poller poller;
static const struct log_sink no_log = {.max_level = LOG_LEVEL_ERROR};
static unsigned accepts;

static void random_fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x35, len);
}

static const struct random_source not_random = {.fill = random_fill};

/** The stack resets it. */
static int refuse(void *user, struct llp *l)
{
	accepts++;
	return -1;
}

static int setup(void **state)
{
	const struct sock_stack_config cfg = {
		.wheel = &engine.wheel, .log = &no_log, .random = &not_random};

	accepts = 0;
	if (poller_init_sock(&poller, &engine))
		return -1;
	return sock_stack_create(&cfg, engine.now, &poller.sock);
}

static int teardown(void **state)
{
	sock_stack_destroy(poller.sock);
	poller_fini(&poller);
	return 0;
}

/* ---- before there are sockets, and when they are gone --------------------------------------- */

static void without_sockets_it_has_time_and_timers(void **state)
{
	struct sock_stack *sock = poller.sock;

	poller.sock = NULL;
	assert_int_equal(poller.source->fd(&poller), -1);
	assert_int_equal(poller.source->received(&poller), 0);
	assert_int_equal(engine_drive(&engine), 0);
	assert_true(engine.now > 0);
	assert_true(atomic_load(&engine.deadline) == TIMER_NEVER);
	poller.sock = sock;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static bool has_fired;

static void fire(struct timer *t, uint64_t now)
{
	has_fired = true;
}

static void timers_run_in_a_round(void **state)
{
	struct timer t;

	has_fired = false;
	timer_init(&t, fire);
	engine_lock(&engine);
	timer_start(&engine.wheel, &t, engine.now);
	engine_unlock(&engine);
	while (!has_fired)
		engine_drive(&engine);
}

static int plain_connect(const struct ip_endpoint *to)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(to->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	return fd;
}

static struct llp_listener *listen_at(struct ip_endpoint *at)
{
	struct llp_stack *llp = sock_llp_stack(poller.sock);
	struct llp_listener *l = NULL;

	assert_int_equal(ip_addr_parse("127.0.0.1", &at->addr), 0);
	engine_lock(&engine);
	assert_int_equal(llp_port_reserve(llp, at, 0), 0);
	assert_int_equal(llp_listen(llp, at, PEERS, refuse, NULL, &l), 0);
	engine_unlock(&engine);
	return l;
}

/** What is left for the next round makes that one due: its descriptor does not tell again. */
static void what_is_left_makes_the_next_round_due(void **state)
{
	struct ip_endpoint at = {.port = 0};
	struct pollfd p = {.fd = poller.source->fd(&poller), .events = POLLIN};
	struct llp_listener *l;
	int fd[PEERS];

	assert_int_equal(p.fd, sock_fd(poller.sock));
	l = listen_at(&at);
	assert_int_equal(engine_drive(&engine), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	for (unsigned i = 0; i < PEERS; i++)
		fd[i] = plain_connect(&at);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(engine_drive(&engine), 1);
	assert_in_range(accepts, 1, PEERS - 1);
	while (accepts < PEERS) {
		assert_true(atomic_load(&engine.deadline) <= engine.now);
		assert_true(engine_drive(&engine) > 0);
	}
	/* And nothing is, when there is nothing more. */
	while (engine_drive(&engine) > 0)
		;
	assert_true(atomic_load(&engine.deadline) > engine.now);
	for (unsigned i = 0; i < PEERS; i++)
		close(fd[i]);
	engine_lock(&engine);
	llp_unlisten(sock_llp_stack(poller.sock), l);
	engine_unlock(&engine);
}

/** The sockets have the time of the round, which never goes back. */
static void the_time_of_a_round_is_that_of_its_sockets(void **state)
{
	uint64_t ahead;

	ahead = poller_sock_ops.clock(&poller);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t now = poller_sock_ops.clock(&poller);

		assert_true(now >= ahead && now == poller.last);
		ahead = now;
	}
	assert_true(poller_sock_ops.clock_unlocked(&poller) >= ahead);
}

/* ---- what the engine's thread asks ---------------------------------------------------------- */

static void its_descriptor_tells_always(void **state)
{
	assert_false(poller.source->is_interrupt(&poller));
	assert_false(poller.source->has_backlog(&poller));
	assert_null(poller.source->watch);
}

static void wake_up_is_seen_and_cleared(void **state)
{
	struct pollfd p = {.fd = poller.wake_fd, .events = POLLIN};

	poller_sock_ops.wake(&poller);
	poller_sock_ops.wake(&poller);
	assert_int_equal(poll(&p, 1, 0), 1);
	poller_wake_clear(&poller);
	assert_int_equal(poll(&p, 1, 0), 0);
}

#define WITH_SOCKETS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SOCKETS(without_sockets_it_has_time_and_timers),
		WITH_SOCKETS(timers_run_in_a_round),
		WITH_SOCKETS(what_is_left_makes_the_next_round_due),
		WITH_SOCKETS(the_time_of_a_round_is_that_of_its_sockets),
		WITH_SOCKETS(its_descriptor_tells_always),
		WITH_SOCKETS(wake_up_is_seen_and_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
