/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <errno.h>

static struct ip_endpoint at(const char *a, uint16_t port)
{
	return (struct ip_endpoint){addr(a), port};
}

static bool overlaps(const char *a, const char *b)
{
	const struct ip_endpoint x = at(a, 5), y = at(b, 5);

	assert_int_equal(tcp_endpoint_overlaps(&x, 0, &y, 0), tcp_endpoint_overlaps(&y, 0, &x, 0));
	return tcp_endpoint_overlaps(&x, 0, &y, 0);
}

static void test_overlap(void **state)
{
	const struct ip_endpoint other = at("10.0.0.1", 6), x = at("10.0.0.1", 5);

	assert_true(overlaps("10.0.0.1", "10.0.0.1"));
	assert_false(overlaps("10.0.0.1", "10.0.0.2"));
	assert_true(overlaps("10.0.0.1", "0.0.0.0"));
	assert_true(overlaps("10.0.0.1", "::"));
	assert_true(overlaps("fd00::1", "::"));
	assert_false(overlaps("fd00::1", "0.0.0.0"));
	assert_true(overlaps("::", "0.0.0.0"));
	assert_false(tcp_endpoint_overlaps(&x, 0, &other, 0));
}

static void test_overlap_of_v6only(void **state)
{
	const struct ip_endpoint any6 = at("::", 5), any4 = at("0.0.0.0", 5);
	const struct ip_endpoint v4 = at("10.0.0.1", 5), v6 = at("fd00::1", 5);
	const unsigned only = LLP_PORT_V6ONLY;

	assert_false(tcp_endpoint_overlaps(&any6, only, &any4, 0));
	assert_false(tcp_endpoint_overlaps(&v4, 0, &any6, only));
	assert_true(tcp_endpoint_overlaps(&any6, only, &v6, 0));
	assert_true(tcp_endpoint_overlaps(&any6, only, &any6, 0));
	/* Of anything but [::] it says nothing. */
	assert_true(tcp_endpoint_overlaps(&any4, only, &v4, 0));
	assert_true(tcp_endpoint_overlaps(&v4, only, &any6, 0));
}

static void test_reservations(void **state)
{
	struct tcp_ports p = {0};
	struct ip_endpoint a = at("10.0.0.1", 5), any = at("0.0.0.0", 5);

	assert_int_equal(tcp_ports_reserve(&p, &a, 0), 0);
	assert_int_equal(tcp_ports_reserve(&p, &any, LLP_PORT_REUSE), -EADDRINUSE);
	tcp_ports_release(&p, &any); /* not there */
	assert_true(tcp_ports_reserved(&p, &a, LLP_PORT_REUSE));
	tcp_ports_release(&p, &a);
	assert_false(tcp_ports_reserved(&p, &a, 0));
	assert_int_equal(tcp_ports_reserve(&p, &any, LLP_PORT_REUSE), 0);
	assert_int_equal(tcp_ports_reserve(&p, &any, LLP_PORT_REUSE), 0);
	assert_int_equal(tcp_ports_reserve(&p, &any, 0), -EADDRINUSE);
	tcp_ports_release(&p, &any);
	assert_true(tcp_ports_reserved(&p, &any, 0)); /* the second one */
	tcp_ports_fini(&p);
}

static void test_who_listens_shares_with_nobody(void **state)
{
	struct ip_endpoint a = at("10.0.0.1", 5), any = at("0.0.0.0", 5), any6 = at("::", 5);
	struct tcp_ports p = {0};
	unsigned flags;

	assert_int_equal(tcp_ports_listen(&p, &a, &flags), 0); /* not reserved: nobody's affair */
	assert_int_equal(tcp_ports_reserve(&p, &a, LLP_PORT_REUSE), 0);
	assert_int_equal(tcp_ports_reserve(&p, &any, LLP_PORT_REUSE), 0);
	assert_int_equal(tcp_ports_listen(&p, &a, &flags), -EADDRINUSE);
	tcp_ports_release(&p, &any);
	assert_int_equal(tcp_ports_listen(&p, &a, &flags), 0);
	assert_int_equal(flags, 0);
	assert_int_equal(tcp_ports_reserve(&p, &any, LLP_PORT_REUSE), -EADDRINUSE);
	assert_int_equal(tcp_ports_reserve(&p, &any6, LLP_PORT_V6ONLY), 0);
	assert_int_equal(tcp_ports_listen(&p, &any6, &flags), 0);
	assert_int_equal(flags, LLP_PORT_V6ONLY);
	tcp_ports_fini(&p);
}

struct seen {
	uint8_t used[65536];
	unsigned asked;
};

static bool is_free(void *ctx, uint16_t port)
{
	struct seen *s = ctx;

	s->asked++;
	assert_true(port >= TCP_PORT_FIRST);
	return !s->used[port];
}

static void test_every_ephemeral_port_once(void **state)
{
	static struct seen s;
	struct tcp_ports p = {.counter = 0xfffffff0};
	const struct siphash_key key = {{1, 2}};
	const struct ip_addr local = addr("10.0.0.1");
	const struct ip_endpoint remote = at("10.0.0.2", 80);
	uint16_t port;

	for (unsigned i = 0; i < TCP_PORT_COUNT; i++) {
		port = tcp_ports_ephemeral(&p, &key, &local, &remote, is_free, &s);
		assert_int_not_equal(port, 0);
		assert_int_equal(s.used[port], 0);
		s.used[port] = 1;
	}
	s.asked = 0;
	assert_int_equal(tcp_ports_ephemeral(&p, &key, &local, &remote, is_free, &s), 0);
	assert_int_equal(s.asked, TCP_PORT_COUNT);
}

static void test_order_depends_on_key_and_peer(void **state)
{
	static struct seen s;
	struct tcp_ports p = {0}, q = {0}, r = {0};
	const struct siphash_key key = {{1, 2}}, other = {{3, 4}};
	const struct ip_addr local = addr("10.0.0.1");
	const struct ip_endpoint a = at("10.0.0.2", 80), b = at("10.0.0.3", 80);
	uint16_t port = tcp_ports_ephemeral(&p, &key, &local, &a, is_free, &s);

	assert_int_not_equal(port, tcp_ports_ephemeral(&q, &other, &local, &a, is_free, &s));
	assert_int_not_equal(port, tcp_ports_ephemeral(&r, &key, &local, &b, is_free, &s));
}

/** A reservation is of an address and a port, and goes by both. */
static void test_release_is_exact(void **state)
{
	const struct ip_endpoint one = at("10.0.0.1", 5), two = at("10.0.0.2", 5);
	struct tcp_ports p = {0};

	assert_int_equal(tcp_ports_reserve(&p, &one, 0), 0);
	assert_int_equal(tcp_ports_reserve(&p, &two, 0), 0);
	tcp_ports_release(&p, &one);
	assert_false(tcp_ports_reserved(&p, &one, 0));
	assert_true(tcp_ports_reserved(&p, &two, 0));
	tcp_ports_release(&p, &one); /* once is enough */
	assert_true(tcp_ports_reserved(&p, &two, 0));
	tcp_ports_fini(&p);
	assert_false(tcp_ports_reserved(&p, &two, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release_is_exact),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_of_v6only),
		cmocka_unit_test(test_reservations),
		cmocka_unit_test(test_who_listens_shares_with_nobody),
		cmocka_unit_test(test_every_ephemeral_port_once),
		cmocka_unit_test(test_order_depends_on_key_and_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
