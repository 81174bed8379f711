/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper over the host's own UDP, driven by the engine's thread. UDP port 3935 is one for
 * all of a host, so this is in a network namespace of its own, which has a loopback interface.
 */
#include "base/container_of.h"
#include "host/config_kernel.h"
#include "host/net.h"
#include "sock/address.h"
#include "support/limit.h"
#include "ud/net.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

#define SKIP   77
#define MAPPED 33781

static const char *const addresses[] = {"127.0.0.1", "::1", "fe80::1"};

#define ADDRESSES (sizeof addresses / sizeof *addresses)
#define INTERFACE 1 /* lo, the first of each network namespace */

struct asked {
	struct iwpm_query query;
	sem_t told;
	int outcome;
};

static struct net *n;

static void on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct asked *a = container_of(q, struct asked, query);

	/* Whoever is slow here is answered or told in the end. */
	if (outcome == IWPM_UNANSWERED)
		return;
	a->outcome = (int)outcome;
	sem_post(&a->told);
}

static struct ip_endpoint at(const char *address, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(address, &e.addr), 0);
	e.addr = ip_addr_with_scope(&e.addr, INTERFACE);
	return e;
}

/** A plain UDP socket. It does not wait for an answer for ever. */
static int plain(const char *address, uint16_t port)
{
	const struct timeval patience = {.tv_sec = LIMIT_S};
	struct ip_endpoint e = at(address, port);
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(&e, &sa);
	int fd = socket(sock_family(&e.addr), SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	return fd;
}

static void plain_connect(int fd, const char *address)
{
	struct ip_endpoint e = at(address, IWPM_PORT);
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(&e, &sa);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, len), 0);
}

/** From an address to itself: there is nobody else. */
static void ask_start(struct asked *a, const char *address)
{
	struct ip_endpoint local = at(address, 40000), remote = at(address, 7174);

	*a = (struct asked){.outcome = -1};
	assert_int_equal(sem_init(&a->told, 0, 0), 0);
	engine_lock(net_engine(n));
	iwpm_ask(net_mapper(n), &a->query, &local, &remote, on_outcome, net_engine(n)->now);
	engine_unlock(net_engine(n));
}

static void ask_expect(struct asked *a, enum iwpm_outcome outcome)
{
	while (sem_wait(&a->told) != 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(a->outcome, outcome);
}

static void listen_at(struct iwpm_listener *l, const char *address)
{
	struct ip_endpoint local = at(address, 7174);

	*l = (struct iwpm_listener){.mapper = NULL};
	engine_lock(net_engine(n));
	iwpm_listen(net_mapper(n), l, &local, false);
	engine_unlock(net_engine(n));
}

static void unlisten(struct iwpm_listener *l)
{
	engine_lock(net_engine(n));
	iwpm_unlisten(l);
	engine_unlock(net_engine(n));
}

static void nobody_is_there(void **state)
{
	struct asked a;

	for (unsigned i = 0; i < ADDRESSES; i++) {
		ask_start(&a, addresses[i]);
		ask_expect(&a, IWPM_ABSENT);
	}
}

static void somebody_answers(void **state)
{
	for (unsigned i = 0; i < ADDRESSES; i++) {
		int fd = plain(addresses[i], IWPM_PORT);
		struct sockaddr_storage from;
		socklen_t len = sizeof from;
		uint8_t data[IWPM_MESSAGE_MAX];
		struct ip_endpoint client;
		struct iwpm_message m;
		struct asked a;

		ask_start(&a, addresses[i]);
		assert_int_equal(recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &len),
			IWPM_MESSAGE_MAX);
		sock_address_get(&from, &client);
		assert_false(ud_port_is_reserved(net_config(n)->ud_port, client.port));
		assert_true(iwpm_message_get(&m, data, sizeof data));
		assert_int_equal(m.type, IWPM_REQUEST);
		assert_int_equal(m.accepting.port, 7174);
		m.type = IWPM_ACCEPT;
		m.accepting.port = MAPPED;
		iwpm_message_put(&m, data);
		assert_int_equal(
			sendto(fd, data, IWPM_ANSWER_LEN, 0, (struct sockaddr *)&from, len),
			IWPM_ANSWER_LEN);
		ask_expect(&a, IWPM_MAPPED);
		assert_int_equal(a.query.mapped.port, MAPPED);
		/* Behind what was asked again meanwhile, the acknowledgment. */
		do
			assert_true(recv(fd, data, sizeof data, 0) >= IWPM_ANSWER_LEN);
		while (iwpm_message_get(&m, data, sizeof data) && m.type == IWPM_REQUEST);
		assert_int_equal(m.type, IWPM_ACK);
		close(fd);
	}
}

/** @return what the mapper says of a port that no program of this process listens at. */
static enum iwpm_type answered(const char *address)
{
	struct ip_endpoint us = at(address, 40000);
	struct iwpm_message m = {.type = IWPM_REQUEST,
		.handle = 7,
		.accepting = at(address, 9),
		.connecting = us,
		.mapped = us};
	uint8_t data[IWPM_MESSAGE_MAX];
	int fd = plain(address, 0);

	plain_connect(fd, address);
	assert_int_equal(send(fd, data, iwpm_message_put(&m, data), 0), IWPM_MESSAGE_MAX);
	assert_int_equal(recv(fd, data, sizeof data, 0), IWPM_ANSWER_LEN);
	assert_true(iwpm_message_get(&m, data, IWPM_ANSWER_LEN));
	assert_int_equal(m.accepting.port, 9);
	close(fd);
	return m.type;
}

/** Others of this host may listen there, of whom we do not know: their ports are what they are. */
static void peers_are_answered_while_there_is_a_listener(void **state)
{
	struct iwpm_listener one, other;
	struct asked a;

	listen_at(&one, "127.0.0.1");
	listen_at(&other, "::1");
	for (unsigned i = 0; i < ADDRESSES; i++)
		assert_int_equal(answered(addresses[i]), IWPM_ACCEPT);
	unlisten(&one);
	assert_int_equal(answered("127.0.0.1"), IWPM_ACCEPT);
	unlisten(&other);
	ask_start(&a, "127.0.0.1");
	ask_expect(&a, IWPM_ABSENT);
	/* And again. */
	listen_at(&one, "127.0.0.1");
	assert_int_equal(answered("::1"), IWPM_ACCEPT);
	unlisten(&one);
}

/** As iwpmd's: then it answers for the host, and we listen all the same; when it goes, we answer.
 */
static void the_port_may_be_anothers(void **state)
{
	int fd = plain("127.0.0.1", IWPM_PORT);
	struct iwpm_listener l, other;
	uint8_t data[IWPM_MESSAGE_MAX];
	struct asked a;

	listen_at(&l, "127.0.0.1");
	ask_start(&a, "127.0.0.1");
	assert_int_equal(recv(fd, data, sizeof data, 0), IWPM_MESSAGE_MAX);
	engine_lock(net_engine(n));
	iwpm_cancel(&a.query);
	engine_unlock(net_engine(n));
	close(fd);
	listen_at(&other, "127.0.0.1");
	assert_int_equal(answered("127.0.0.1"), IWPM_ACCEPT);
	unlisten(&other);
	assert_int_equal(answered("127.0.0.1"), IWPM_ACCEPT);
	unlisten(&l);
}

static int open_with(enum config_port_mapper mapper)
{
	struct config_error e;
	struct config c;

	config_init(&c);
	c.log = LOG_LEVEL_ERROR;
	c.port_mapper = mapper;
	return config_kernel_addresses(&c, &e) || net_open(&c, &n, &e) || net_start(n, NULL, &e);
}

static int teardown(void **state)
{
	net_linger(n);
	net_close(n);
	return 0;
}

static int setup(void **state)
{
	return open_with(PORT_MAPPER_AUTO);
}

static int setup_off(void **state)
{
	return open_with(PORT_MAPPER_OFF);
}

static void there_is_none_when_it_is_off(void **state)
{
	assert_null(net_mapper(n));
}

/** @return false: we may not tell it. */
static bool kernel_draws_ports(unsigned from, unsigned to)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");

	if (!f)
		return false;
	fprintf(f, "%u %u", from, to);
	return fclose(f) == 0;
}

/** The kernel's own choice is a port of UD QPs from now on, where we may tell it. */
static void kernel_draws_ud_ports(void)
{
	struct config c;

	config_init(&c);
	(void)kernel_draws_ports(c.ud_port, c.ud_port + UD_PORTS - 1u);
}

/** Ports before @p port are for who has CAP_NET_BIND_SERVICE, as we have not any more. */
static bool kernel_refuses_ports_before(unsigned port)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3];
	FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "w");

	if (!f)
		return false;
	fprintf(f, "%u", port);
	if (fclose(f) != 0 || syscall(SYS_capget, &h, have) != 0)
		return false;
	have[0].effective &= ~(1u << CAP_NET_BIND_SERVICE);
	return syscall(SYS_capset, &h, have) == 0;
}

/** The last: nothing is as it was behind it. */
static void the_client_may_not_name_its_port(void **state)
{
	struct asked a;

	if (!kernel_draws_ports(65500, 65535) || !kernel_refuses_ports_before(65500))
		skip();
	assert_int_equal(open_with(PORT_MAPPER_AUTO), 0);
	ask_start(&a, "127.0.0.1");
	ask_expect(&a, IWPM_ABSENT);
	teardown(state);
}

/** @return false: this user cannot have one. */
static bool enter_a_network_of_our_own(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct in6_ifreq link_local = {.ifr6_addr = {.s6_addr = {0xfe, 0x80, [15] = 1}},
		.ifr6_prefixlen = 64,
		.ifr6_ifindex = INTERFACE};
	int v4, v6, rc;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	v6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	rc = ioctl(v4, SIOCSIFFLAGS, &lo) || ioctl(v6, SIOCSIFADDR, &link_local);
	close(v4);
	close(v6);
	return rc == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(somebody_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(
			peers_are_answered_while_there_is_a_listener, setup, teardown),
		cmocka_unit_test_setup_teardown(the_port_may_be_anothers, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_none_when_it_is_off, setup_off, teardown),
		cmocka_unit_test(the_client_may_not_name_its_port),
	};

	if (!enter_a_network_of_our_own()) {
		printf("no network namespace\n");
		return SKIP;
	}
	kernel_draws_ud_ports();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
