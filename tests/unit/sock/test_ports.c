/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <unistd.h>

static struct fixture f, other;

static int refuse(void *user, struct llp *l)
{
	return -ECONNABORTED;
}

/** Two stacks stand for two processes. */
static void setup_two(void)
{
	fixture_open(&f, NULL);
	fixture_open(&other, NULL);
}

static void teardown_two(void)
{
	fixture_close(&f);
	fixture_close(&other);
}

static void an_ephemeral_port_is_chosen(void **state)
{
	struct ip_endpoint a = fixture_at("127.0.0.1", 0), b = a;

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &a, 0), 0);
	assert_int_equal(llp_port_reserve(f.llp, &b, 0), 0);
	assert_int_not_equal(a.port, 0);
	assert_int_not_equal(a.port, b.port);
	llp_port_release(f.llp, &a);
	llp_port_release(f.llp, &b);
	fixture_close(&f);
}

static void a_port_is_ones_own_in_all_processes(void **state)
{
	struct ip_endpoint a = fixture_at("127.0.0.1", 0), reuse;

	setup_two();
	assert_int_equal(llp_port_reserve(f.llp, &a, 0), 0);
	assert_int_equal(llp_port_reserve(f.llp, &a, 0), -EADDRINUSE);
	assert_int_equal(llp_port_reserve(other.llp, &a, 0), -EADDRINUSE);
	assert_int_equal(llp_port_reserve(other.llp, &a, LLP_PORT_REUSE), -EADDRINUSE);
	llp_port_release(f.llp, &a);
	assert_int_equal(llp_port_reserve(other.llp, &a, 0), 0);
	llp_port_release(other.llp, &a);
	/* Those who all say so may share it, as long as none listens. */
	reuse = a;
	assert_int_equal(llp_port_reserve(f.llp, &reuse, LLP_PORT_REUSE), 0);
	assert_int_equal(llp_port_reserve(other.llp, &reuse, LLP_PORT_REUSE), 0);
	teardown_two();
}

static void a_listener_shares_its_port_with_none(void **state)
{
	struct ip_endpoint a = fixture_at("127.0.0.1", 0);
	struct llp_listener *second;

	setup_two();
	assert_int_equal(llp_port_reserve(f.llp, &a, LLP_PORT_REUSE), 0);
	assert_int_equal(llp_listen(f.llp, &a, 8, refuse, NULL, &f.listener), 0);
	assert_int_equal(llp_port_reserve(other.llp, &a, LLP_PORT_REUSE), -EADDRINUSE);
	assert_int_equal(llp_listen(other.llp, &a, 8, refuse, NULL, &second), -EADDRINUSE);
	teardown_two();
}

/** What was ours is free for us, though a child has yet to let go of its copies. */
static void a_child_keeps_no_port_from_us(void **state)
{
	struct ip_endpoint a = fixture_at("127.0.0.1", 0);
	pid_t child;

	setup_two();
	for (unsigned listens = 0; listens < 2; listens++) {
		assert_int_equal(llp_port_reserve(f.llp, &a, 0), 0);
		if (listens)
			assert_int_equal(llp_listen(f.llp, &a, 8, refuse, NULL, &f.listener), 0);
		child = fixture_child();
		if (listens)
			llp_unlisten(f.llp, f.listener);
		f.listener = NULL;
		llp_port_release(f.llp, &a);
		assert_int_equal(llp_port_reserve(other.llp, &a, 0), 0);
		llp_port_release(other.llp, &a);
		fixture_end_child(child);
	}
	teardown_two();
}

static void a_foreign_address_has_no_ports(void **state)
{
	struct ip_endpoint a = fixture_at("192.0.2.254", 0);

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &a, 0), -EADDRNOTAVAIL);
	fixture_close(&f);
}

static bool nothing_is_open(struct fixture *x)
{
	return sock_stack_stats(x->s)->connections == 0;
}

/** A server that ends with connections open can be started again at once. */
static void time_wait_keeps_no_server_waiting(void **state)
{
	struct ip_endpoint local, remote, at;
	char byte;

	fixture_open(&f, NULL);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &local, &remote);
	/* Ours is the end that closes first, and so the one in TIME-WAIT. */
	llp_release(f.seen.llp);
	fixture_round(&f);
	assert_int_equal(read(f.peer_fd, &byte, 1), 0);
	close(f.peer_fd);
	f.peer_fd = -1;
	fixture_until(&f, nothing_is_open);
	fixture_close(&f);
	at = local;
	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &at, 0), 0);
	assert_int_equal(llp_listen(f.llp, &at, 8, refuse, NULL, &f.listener), 0);
	fixture_close(&f);
}

static void a_reserved_port_is_connected_from(void **state)
{
	struct llp_connect_params p = {.local = fixture_at("127.0.0.1", 0)};
	struct ip_endpoint local, remote;
	struct llp *twice;

	fixture_open(&f, NULL);
	p.remote = fixture_at("127.0.0.1", fixture_peer_listens(&f, "127.0.0.1"));
	assert_int_equal(llp_port_reserve(f.llp, &p.local, 0), 0);
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &f.seen.llp), 0);
	llp_endpoints(f.seen.llp, &local, &remote);
	assert_int_equal(local.port, p.local.port);
	/* That pair of endpoints exists. */
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &twice), -EADDRINUSE);
	fixture_close(&f);
}

/** Bound to a port of all addresses, and connected from there. */
static void a_port_of_all_addresses_is_connected_from(void **state)
{
	struct llp_connect_params p = {.local = fixture_at("0.0.0.0", 0)};
	struct ip_endpoint local, remote;

	fixture_open(&f, NULL);
	p.remote = fixture_at("127.0.0.1", fixture_peer_listens(&f, "127.0.0.1"));
	assert_int_equal(llp_port_reserve(f.llp, &p.local, 0), 0);
	p.local.addr = p.remote.addr;
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &f.seen.llp), 0);
	llp_endpoints(f.seen.llp, &local, &remote);
	assert_int_equal(local.port, p.local.port);
	fixture_close(&f);
}

/** All addresses are that one, where only one is ours: the port of others is not taken. */
static void all_addresses_are_those_of_the_configuration(void **state)
{
	const struct ip_addr two = fixture_at("127.0.0.2", 0).addr;
	const struct ip_addr three = fixture_at("127.0.0.3", 0).addr;
	const struct sock_stack_config cfg = {.addresses = &two, .num_addresses = 1};
	const struct sock_stack_config other_cfg = {.addresses = &three, .num_addresses = 1};
	struct ip_endpoint a = fixture_at("0.0.0.0", 0), b, six;
	int fd;

	fixture_open(&f, &cfg);
	fixture_open(&other, &other_cfg);
	assert_int_equal(llp_port_reserve(f.llp, &a, 0), 0);
	b = a;
	assert_int_equal(llp_port_reserve(other.llp, &b, 0), 0);
	assert_int_equal(llp_listen(f.llp, &a, 8, refuse, NULL, &f.listener), 0);
	assert_int_equal(llp_listen(other.llp, &b, 8, refuse, NULL, &other.listener), 0);
	b.addr = three;
	fd = fixture_plain_connect(&b);
	assert_true(fd >= 0);
	close(fd);
	b.addr = fixture_at("127.0.0.1", 0).addr;
	assert_int_equal(fixture_plain_connect(&b), -ECONNREFUSED);
	/* Both families, where both are meant; and not where one is. */
	six = fixture_at("::", a.port);
	assert_int_equal(llp_port_reserve(other.llp, &six, LLP_PORT_V6ONLY), 0);
	llp_port_release(other.llp, &six);
	assert_int_equal(llp_port_reserve(other.llp, &six, 0), -EADDRINUSE);
	teardown_two();
}

static void a_chosen_port_is_free(void **state)
{
	struct llp_connect_params p = {.local = fixture_at("127.0.0.1", 0)};

	fixture_open(&f, NULL);
	p.remote = fixture_at("127.0.0.1", fixture_peer_listens(&f, "127.0.0.1"));
	p.local.port = llp_port_choose(f.llp, &p.local.addr, &p.remote);
	assert_int_not_equal(p.local.port, 0);
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &f.seen.llp), 0);
	fixture_close(&f);
}

static bool is_connected(struct fixture *x)
{
	return x->seen.connected != 0;
}

/** RFC 9293 section 3.5: from a port to the same port. */
static void a_connection_may_lead_to_itself(void **state)
{
	struct llp_connect_params p = {.local = fixture_at("127.0.0.1", 0)};

	fixture_open(&f, NULL);
	assert_int_equal(llp_port_reserve(f.llp, &p.local, 0), 0);
	p.remote = p.local;
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &f.seen.llp), 0);
	fixture_until(&f, is_connected);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ephemeral_port_is_chosen),
		cmocka_unit_test(a_port_is_ones_own_in_all_processes),
		cmocka_unit_test(a_listener_shares_its_port_with_none),
		cmocka_unit_test(a_child_keeps_no_port_from_us),
		cmocka_unit_test(a_foreign_address_has_no_ports),
		cmocka_unit_test(time_wait_keeps_no_server_waiting),
		cmocka_unit_test(a_reserved_port_is_connected_from),
		cmocka_unit_test(a_port_of_all_addresses_is_connected_from),
		cmocka_unit_test(all_addresses_are_those_of_the_configuration),
		cmocka_unit_test(a_chosen_port_is_free),
		cmocka_unit_test(a_connection_may_lead_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
