/* SPDX-License-Identifier: BSD-2-Clause */
/** UDP of the host for services of the stack: addresses, errors, and ports that others have. */
#include "sock/udp.h"

#include "fixture.h"
#include "sock/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/** More than are taken in a round. */
#define MANY 100

struct service {
	struct fixture f;
	struct sock_udp *udp;
	struct ip_endpoint from, to, error_to;
	uint8_t data[SOCK_UDP_DATA_MAX];
	size_t len, error_len;
	unsigned n, errors;
};

static struct service v;

static void service_input(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	v.from = *from;
	v.to = *to;
	memcpy(v.data, data, len);
	v.len = len;
	v.n++;
}

static void service_error(
	void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	v.error_to = *to;
	memcpy(v.data, data, len);
	v.error_len = len;
	v.errors++;
}

static const struct sock_udp_user user = {.input = service_input, .error = service_error};

static void service_open(const struct sock_stack_config *cfg)
{
	memset(&v, 0, sizeof v);
	fixture_open(&v.f, cfg);
}

static bool came(struct fixture *f)
{
	return v.n != 0;
}

static bool failed(struct fixture *f)
{
	return v.errors != 0;
}

/** A plain UDP socket at @p address. @param[in,out] at its endpoint. */
static int plain(const char *address, struct ip_endpoint *at)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	*at = fixture_at(address, 0);
	fd = socket(sock_family(&at->addr), SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	len = sock_address_put(at, &sa);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(sock_address_local(fd, at), 0);
	return fd;
}

static void say(int fd, const struct ip_endpoint *to, const void *data, size_t len)
{
	struct sockaddr_storage sa;
	socklen_t sa_len = sock_address_put(to, &sa);

	assert_int_equal(sendto(fd, data, len, 0, (struct sockaddr *)&sa, sa_len), len);
}

/** A port that nobody has now, of both families. */
static uint16_t free_port(void)
{
	struct sock_udp *u;
	struct ip_endpoint at;

	for (unsigned i = 0; i < 100; i++) {
		close(plain("127.0.0.1", &at));
		if (sock_udp_open(v.f.s, at.port, &user, &u) == 0) {
			sock_udp_close(u);
			fixture_round(&v.f);
			return at.port;
		}
	}
	fail();
	return 0;
}

static void a_datagram_is_answered_from_where_it_went(void **state)
{
	static const char *const to[] = {"127.0.0.2", "::1"}, *const from[] = {"127.0.0.1", "::1"};
	uint16_t port;

	service_open(NULL);
	port = free_port();
	assert_int_equal(sock_udp_open(v.f.s, port, &user, &v.udp), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct ip_endpoint at, us = fixture_at(to[i], port), got;
		struct sockaddr_storage sa = {0};
		socklen_t len = sizeof sa;
		char answer[8];
		int fd = plain(from[i], &at);

		v.n = 0;
		say(fd, &us, "hello", 5);
		fixture_until(&v.f, came);
		assert_int_equal(v.len, 5);
		assert_memory_equal(v.data, "hello", 5);
		assert_true(ip_addr_equal(&v.to.addr, &us.addr) && v.to.port == port);
		assert_true(ip_addr_equal(&v.from.addr, &at.addr) && v.from.port == at.port);
		sock_udp_send(v.udp, &v.to.addr, &v.from, "hi", 2);
		assert_int_equal(
			recvfrom(fd, answer, sizeof answer, 0, (struct sockaddr *)&sa, &len), 2);
		sock_address_get(&sa, &got);
		assert_true(ip_addr_equal(&got.addr, &us.addr) && got.port == port);
		close(fd);
	}
	fixture_close(&v.f);
}

/** The socket that a child has from before it executes its program. */
static void what_a_child_holds_is_not_told_of(void **state)
{
	struct ip_endpoint at, us;
	pid_t child;
	int fd;

	service_open(NULL);
	us = fixture_at("127.0.0.1", free_port());
	assert_int_equal(sock_udp_open(v.f.s, us.port, &user, &v.udp), 0);
	child = fixture_child();
	sock_udp_close(v.udp);
	fixture_round(&v.f);
	fd = plain("127.0.0.1", &at);
	say(fd, &us, "late", 4);
	fixture_assert_untold(&v.f);
	fixture_end_child(child);
	close(fd);
	fixture_close(&v.f);
}

/** The kernel says what ICMP has said, with the datagram that it was about. */
static void a_closed_port_is_told(void **state)
{
	static const char *const address[] = {"127.0.0.1", "::1"};

	service_open(NULL);
	assert_int_equal(sock_udp_open(v.f.s, 0, &user, &v.udp), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct ip_endpoint at;

		close(plain(address[i], &at));
		v.errors = 0;
		sock_udp_send(v.udp, &at.addr, &at, "hello", 5);
		fixture_until(&v.f, failed);
		assert_true(
			ip_addr_equal(&v.error_to.addr, &at.addr) && v.error_to.port == at.port);
		assert_int_equal(v.error_len, 5);
		assert_memory_equal(v.data, "hello", 5);
	}
	assert_int_equal(v.n, 0);
	fixture_close(&v.f);
}

static void a_port_belongs_to_one(void **state)
{
	struct sock_udp *second;
	uint16_t port;

	service_open(NULL);
	port = free_port();
	assert_int_equal(sock_udp_open(v.f.s, port, &user, &v.udp), 0);
	assert_int_equal(sock_udp_open(v.f.s, port, &user, &second), -EADDRINUSE);
	sock_udp_close(v.udp);
	sock_udp_close(NULL);
	assert_int_equal(sock_udp_open(v.f.s, port, &user, &second), 0);
	fixture_close(&v.f);
}

/** Too long a datagram, and one to an address that is not among those of the configuration. */
static void some_are_not_taken(void **state)
{
	static const uint8_t large[SOCK_UDP_DATA_MAX + 1];
	struct ip_addr ours = fixture_at("127.0.0.3", 0).addr;
	const struct sock_stack_config cfg = {.addresses = &ours, .num_addresses = 1};
	struct ip_endpoint at, us, not_ours;
	uint16_t port;
	int fd;

	service_open(&cfg);
	port = free_port();
	assert_int_equal(sock_udp_open(v.f.s, port, &user, &v.udp), 0);
	us = fixture_at("127.0.0.3", port);
	not_ours = fixture_at("127.0.0.4", port);
	fd = plain("127.0.0.1", &at);
	say(fd, &us, large, sizeof large);
	say(fd, &not_ours, "no", 2);
	say(fd, &us, "yes", 3);
	fixture_until(&v.f, came);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.len, 3);
	close(fd);
	fixture_close(&v.f);
}

static bool all_came(struct fixture *f)
{
	return v.n == MANY;
}

/** Epoll tells once, and others have their turn in between. Nothing comes behind these. */
static void all_that_wait_are_taken(void **state)
{
	struct ip_endpoint at, us;
	int fd;

	service_open(NULL);
	us = fixture_at("127.0.0.1", free_port());
	assert_int_equal(sock_udp_open(v.f.s, us.port, &user, &v.udp), 0);
	fd = plain("127.0.0.1", &at);
	for (unsigned i = 0; i < MANY; i++)
		say(fd, &us, "hello", 5);
	fixture_round(&v.f);
	assert_in_range(v.n, 1, MANY - 1);
	fixture_until(&v.f, all_came);
	fixture_assert_untold(&v.f);
	close(fd);
	fixture_close(&v.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_is_answered_from_where_it_went),
		cmocka_unit_test(what_a_child_holds_is_not_told_of),
		cmocka_unit_test(a_closed_port_is_told),
		cmocka_unit_test(a_port_belongs_to_one),
		cmocka_unit_test(some_are_not_taken),
		cmocka_unit_test(all_that_wait_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
