/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/conn.h"
#include "sock/listen.h"

#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct fixture f;
/** No descriptor is left, and with one that is freed there is no memory. */
static bool accept_fails;
static unsigned accept_calls;

/* The libc's, for what this program links. */
int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	if (!accept_fails)
		return (int)syscall(SYS_accept4, fd, addr, len, flags);
	errno = accept_calls++ % 2 ? ENOMEM : EMFILE;
	return -1;
}

static int count(void *user, struct llp *l)
{
	struct fixture *x = user;

	x->accepts++;
	if (x->accept_result)
		return x->accept_result;
	llp_set_user(l, &seen_ops, &x->seen);
	return 0;
}

static bool has_two(struct fixture *x)
{
	return x->accepts == 2;
}

static bool has_one(struct fixture *x)
{
	return x->accepts == 1;
}

static void it_accepts(void **state)
{
	struct ip_endpoint local, remote;

	fixture_open(&f, NULL);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &local, &remote);
	assert_true(ip_addr_is_v4(&local.addr));
	assert_true(llp_emss(f.seen.llp) >= 536);
	assert_int_equal(sock_stack_stats(f.s)->accepts, 1);
	fixture_close(&f);
}

static void the_wildcard_takes_both_families(void **state)
{
	struct ip_endpoint at = fixture_at("::", 0), v4, v6;
	int a, b;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	v4 = fixture_at("127.0.0.1", at.port);
	v6 = fixture_at("::1", at.port);
	a = fixture_plain_connect(&v4);
	b = fixture_plain_connect(&v6);
	assert_true(a >= 0 && b >= 0);
	fixture_until(&f, has_two);
	close(a);
	close(b);
	fixture_close(&f);
}

static int keep(void *user, struct llp *l)
{
	struct fixture *x = user;

	x->seen.llp = l;
	return count(user, l);
}

static int tos_of(int level, int name)
{
	const struct sock_conn *c = sock_conn_of(f.seen.llp);
	int value = -1;
	socklen_t len = sizeof value;

	assert_int_equal(getsockopt(c->source.fd, level, name, &value, &len), 0);
	return value;
}

/* Of each family, from the one socket that takes both; the ECN bits are the kernel's. */
static void what_it_accepts_takes_a_type_of_service(void **state)
{
	struct ip_endpoint at = fixture_at("::", 0), v4, v6;
	int a, b;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, keep, &f, &f.listener), 0);
	v4 = fixture_at("127.0.0.1", at.port);
	a = fixture_plain_connect(&v4);
	fixture_until(&f, has_one);
	llp_set_tos(f.seen.llp, 0x6b);
	assert_int_equal(tos_of(IPPROTO_IP, IP_TOS) & 0xfc, 0x68);
	v6 = fixture_at("::1", at.port);
	b = fixture_plain_connect(&v6);
	fixture_until(&f, has_two);
	llp_set_tos(f.seen.llp, 0x2b);
	assert_int_equal(tos_of(IPPROTO_IPV6, IPV6_TCLASS) & 0xfc, 0x28);
	close(a);
	close(b);
	fixture_close(&f);
}

static void a_wildcard_of_ipv6_alone_does_not(void **state)
{
	struct ip_endpoint at = fixture_at("::", 0), v4;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, LLP_PORT_V6ONLY), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	v4 = fixture_at("127.0.0.1", at.port);
	assert_int_equal(fixture_plain_connect(&v4), -ECONNREFUSED);
	fixture_close(&f);
}

static void a_refused_one_is_reset(void **state)
{
	char byte;

	fixture_open(&f, NULL);
	f.accept_result = -ENOMEM;
	fixture_accept(&f, "127.0.0.1");
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	fixture_close(&f);
}

static void to_an_address_that_is_not_ours_nobody_connects(void **state)
{
	const struct ip_addr ours[2] = {
		fixture_at("127.0.0.2", 0).addr, fixture_at("127.0.0.3", 0).addr};
	const struct sock_stack_config cfg = {.addresses = ours, .num_addresses = 2};
	struct ip_endpoint at = fixture_at("::", 0), wrong, right;
	char byte;

	fixture_open(&f, &cfg);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	wrong = fixture_at("127.0.0.1", at.port);
	right = fixture_at("127.0.0.2", at.port);
	f.peer_fd = fixture_plain_connect(&wrong);
	f.listen_fd = fixture_plain_connect(&right);
	assert_true(f.peer_fd >= 0 && f.listen_fd >= 0);
	fixture_until(&f, has_one);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	fixture_close(&f);
}

/** More than one turn's worth wait: all are accepted, though epoll tells of them once. */
static void a_full_backlog_is_accepted_in_turns(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);
	int fd[50];

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 64, count, &f, &f.listener), 0);
	for (unsigned i = 0; i < 50; i++) {
		fd[i] = fixture_plain_connect(&at);
		assert_true(fd[i] >= 0);
	}
	for (unsigned i = 0; i < 8; i++)
		fixture_round(&f);
	assert_int_equal(f.accepts, 50);
	for (unsigned i = 0; i < 50; i++)
		close(fd[i]);
	fixture_close(&f);
}

/** A peer of a process without descriptors is not left waiting, and nobody asks for more of them.
 */
static void without_descriptors_a_peer_is_reset(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);
	struct rlimit before, full;
	char byte;
	int lowest;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	f.peer_fd = fixture_plain_connect(&at);
	lowest = dup(f.peer_fd);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	full = before;
	full.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	while (!sock_stack_stats(f.s)->no_descriptor)
		fixture_round(&f);
	fixture_round(&f);
	assert_false(sock_flush(f.s));
	assert_int_equal(sock_stack_stats(f.s)->no_descriptor, 1);
	assert_int_equal(fixture_begin(&f, at), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(f.accepts, 0);
	assert_non_null(strstr(f.log, "ulimit -n"));
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	fixture_close(&f);
}

/**
 * Another thread has the one that is kept for that, too: the peer waits, the listener does not
 * spin, and takes it as soon as there is a descriptor.
 */
static void without_a_spare_one_a_peer_waits(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);
	struct rlimit before, none;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	f.peer_fd = fixture_plain_connect(&at);
	f.listen_fd = fixture_plain_connect(&at);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* With the first the one that was kept is gone. */
	while (sock_stack_stats(f.s)->no_descriptor < 2)
		fixture_round(&f);
	assert_false(sock_flush(f.s));
	assert_int_equal(f.accepts, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	fixture_until(&f, has_two);
	fixture_close(&f);
}

/** Nor does it where the one that is kept for that does not help. */
static void without_memory_to_refuse_a_peer_waits(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	f.peer_fd = fixture_plain_connect(&at);
	accept_fails = true;
	while (!timer_running(&f.listener->again)) {
		assert_true(TAILQ_EMPTY(&f.s->accepting));
		fixture_round(&f);
	}
	assert_false(sock_flush(f.s));
	assert_int_equal(sock_stack_stats(f.s)->no_descriptor, 1);
	accept_fails = false;
	fixture_until(&f, has_one);
	fixture_close(&f);
}

/** accept() fails, though epoll has told of something: the listener does not spin. */
static void one_that_cannot_accept_looks_now_and_then(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	assert_int_equal(shutdown(f.listener->source.fd, SHUT_RD), 0);
	while (!timer_running(&f.listener->again)) {
		assert_true(TAILQ_EMPTY(&f.s->accepting));
		fixture_round(&f);
	}
	assert_false(sock_flush(f.s));
	fixture_close(&f);
}

static void it_stops(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	llp_unlisten(f.llp, f.listener);
	f.listener = NULL;
	fixture_round(&f);
	assert_int_equal(fixture_plain_connect(&at), -ECONNREFUSED);
	fixture_close(&f);
}

/** What new sockets have. */
static void default_congestion_control(char name[16])
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = 16;

	assert_true(fd >= 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
	close(fd);
}

static void what_it_accepts_has_the_congestion_control(void **state)
{
	struct sock_stack_config cfg = {.congestion_control = "newreno"};
	const char *expected = "reno";
	char name[16] = "";
	socklen_t len = sizeof name;

	default_congestion_control(name);
	if (!strcmp(name, "reno"))
		cfg.congestion_control = expected = "cubic";
	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	if (f.lines) {
		fixture_close(&f);
		skip(); /* the kernel has but one */
	}
	assert_int_equal(getsockopt(sock_conn_of(f.seen.llp)->source.fd, IPPROTO_TCP,
				 TCP_CONGESTION, name, &len),
		0);
	assert_string_equal(name, expected);
	fixture_close(&f);
}

static void a_congestion_control_that_is_not_there_is_told_of(void **state)
{
	const struct sock_stack_config cfg = {.congestion_control = "none such"};

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	assert_int_equal(f.lines, 1);
	assert_non_null(strstr(f.log, "\"none such\""));
	fixture_close(&f);
}

/** A child that has yet to execute its program holds the listener, and a connection for it. */
static void it_stops_while_a_child_holds_it(void **state)
{
	struct ip_endpoint at = fixture_at("127.0.0.1", 0);
	pid_t child;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, count, &f, &f.listener), 0);
	child = fixture_child();
	f.peer_fd = fixture_plain_connect(&at);
	assert_true(f.peer_fd >= 0);
	llp_unlisten(f.llp, f.listener);
	f.listener = NULL;
	fixture_assert_untold(&f);
	assert_int_equal(fixture_plain_connect(&at), -ECONNREFUSED);
	fixture_assert_untold(&f);
	fixture_end_child(child);
	assert_int_equal(f.accepts, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_accepts),
		cmocka_unit_test(the_wildcard_takes_both_families),
		cmocka_unit_test(what_it_accepts_takes_a_type_of_service),
		cmocka_unit_test(a_wildcard_of_ipv6_alone_does_not),
		cmocka_unit_test(a_refused_one_is_reset),
		cmocka_unit_test(to_an_address_that_is_not_ours_nobody_connects),
		cmocka_unit_test(a_full_backlog_is_accepted_in_turns),
		cmocka_unit_test(without_descriptors_a_peer_is_reset),
		cmocka_unit_test(without_a_spare_one_a_peer_waits),
		cmocka_unit_test(what_it_accepts_has_the_congestion_control),
		cmocka_unit_test(a_congestion_control_that_is_not_there_is_told_of),
		cmocka_unit_test(without_memory_to_refuse_a_peer_waits),
		cmocka_unit_test(one_that_cannot_accept_looks_now_and_then),
		cmocka_unit_test(it_stops),
		cmocka_unit_test(it_stops_while_a_child_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
