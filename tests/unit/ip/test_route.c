/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes: which one is taken, and how they come and go. */
#include "ip/stack.h"
#include "route_case.h"

#include <errno.h>
#include <stdio.h>

static void longest_prefix_wins(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr far = host_addr("8.8.8.8"), hop;

	assert_int_equal(route_next_hop(h->ip, &far, &hop), -ENETUNREACH);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.254"), 0);
	assert_int_equal(
		route_case_add(h, "192.168.7.9", 16, "10.0.0.2"), 0); /* host bits are cleared */
	assert_int_equal(route_case_add(h, "192.168.128.0", 17, "10.0.0.3"), 0);
	assert_int_equal(route_case_add(h, "192.168.130.1", 32, "10.0.0.4"), 0);
	assert_int_equal(route_case_add(h, "172.16.0.0", 12, NULL), 0);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.254");
	route_case_expect_hop(h, "192.168.1.1", "10.0.0.2");
	route_case_expect_hop(h, "192.168.129.1", "10.0.0.3");
	route_case_expect_hop(h, "192.168.130.1", "10.0.0.4");
	route_case_expect_hop(h, "192.168.130.2", "10.0.0.3");
	route_case_expect_hop(h, "172.31.0.1", "172.31.0.1");
	route_case_expect_hop(h, "10.0.0.77", "10.0.0.77");
	host_free(h);
}

static void families_do_not_mix(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr v4 = host_addr("10.0.0.1"), hop;

	assert_int_equal(route_case_add(h, "::", 0, "fd00::ff"), 0);
	route_case_expect_hop(h, "2001:db8::1", "fd00::ff");
	assert_int_equal(route_next_hop(h->ip, &v4, &hop), -ENETUNREACH);
	host_free(h);
}

static void refusals(void **state)
{
	struct host *h = host_new_v4();
	char text[32];
	int rc = 0;

	assert_int_equal(route_case_add(h, "192.168.0.0", 33, "10.0.0.2"), -EINVAL);
	assert_int_equal(route_case_add(h, "224.0.0.0", 4, "10.0.0.2"), -EINVAL);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "fd00::1"), -EINVAL);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "0.0.0.0"), -EINVAL);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "224.0.0.1"), -EINVAL);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "10.0.1.2"), -ENETUNREACH);
	assert_int_equal(
		route_case_add(h, "192.168.0.0", 16, "10.0.0.1"), -ENETUNREACH); /* ourselves */
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "10.0.0.3"), -EEXIST);
	assert_int_equal(route_case_add(h, "10.0.0.0", 24, "10.0.0.3"), -EEXIST);
	/* A gateway behind a gateway is not on-link. */
	assert_int_equal(route_case_add(h, "172.16.0.0", 16, "192.168.0.1"), -ENETUNREACH);
	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "172.20.%u.0", i);
		rc = route_case_add(h, text, 24, "10.0.0.2");
	}
	assert_int_equal(rc, -ENOSPC);
	host_free(h);
}

static void changes_are_told_by_the_generation(void **state)
{
	struct host *h = host_new_v4();
	uint32_t before = h->ip->generation;

	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	assert_true(h->ip->generation != before);
	h->ip->generation = UINT32_MAX;
	assert_int_equal(route_case_add(h, "172.16.0.0", 16, "10.0.0.2"), 0);
	assert_int_equal(h->ip->generation, 1); /* 0 is a path that was never found */
	host_free(h);
}

static void advertised_routes_live_and_die(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8::1"), hop;
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::2"),
		.origin = ROUTE_ADVERTISED,
		.expires = h->now + 10 * SECOND,
	};
	uint32_t before;

	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::2");
	host_run(h, 9 * SECOND);
	r.expires = h->now + 10 * SECOND; /* once more */
	route_advertise(h->ip, &r, h->now);
	host_run(h, 9 * SECOND);
	route_case_expect_hop(h, "2001:db8::1", "fe80::2");
	before = h->ip->generation;
	host_run(h, 2 * SECOND);
	assert_true(h->ip->generation != before);
	assert_int_equal(route_next_hop(h->ip, &far, &hop), -ENETUNREACH);
	r.expires = TIMER_NEVER;
	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::2");
	/* What a person says goes before what a router says. */
	assert_int_equal(route_case_add(h, "::", 0, "fd00::9"), 0);
	route_case_expect_hop(h, "2001:db8::1", "fd00::9");
	r.expires = 0;
	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fd00::9");
	host_free(h);
}

static void strangers_cannot_fill_the_table(void **state)
{
	struct host *h = host_new_v6();
	struct route r = {
		.prefix = host_addr("2001:db8::"),
		.prefix_len = 64,
		.origin = ROUTE_ADVERTISED,
		.expires = TIMER_NEVER,
	};

	for (unsigned i = 0; i < 100; i++) {
		r.prefix.b[7] = (uint8_t)i;
		route_advertise(h->ip, &r, h->now);
	}
	assert_int_equal(h->ip->routes.prefixes, ROUTE_PREFIXES_MAX);
	assert_non_null(strstr(h->log_text, "too many prefixes: 2001:db8:0:"));
	assert_non_null(strstr(h->log_text, " takes the place of 2001:db8:0:"));
	assert_int_equal(route_case_add(h, "2001:db8:ffff::", 48, "fd00::2"), 0);
	/* RFC 4861 section 6.3.4: there is still place for routers. */
	r.prefix = host_addr("::");
	r.prefix_len = 0;
	r.has_gateway = true;
	r.gateway = host_addr("fe80::2");
	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db9::1", "fe80::2");
	host_free(h);
}

/* A person's default route without a gateway, all being on the link, is the only one. */
static void a_default_without_a_gateway_is_alone(void **state)
{
	static const char *const gateway[] = {NULL, "10.0.0.2"};

	for (unsigned first = 0; first < 2; first++) {
		struct host *h = host_new_v4();

		assert_int_equal(route_case_add(h, "0.0.0.0", 0, gateway[first]), 0);
		assert_int_equal(route_case_add(h, "0.0.0.0", 0, gateway[!first]), -EEXIST);
		assert_int_equal(route_case_add(h, "0.0.0.0", 0, gateway[first]), -EEXIST);
		route_case_expect_hop(h, "8.8.8.8", first ? "10.0.0.2" : "8.8.8.8");
		host_free(h);
	}
}

/* Where a person's routes leave none, it says that. */
static void a_full_table_is_told(void **state)
{
	struct host *h = host_new_v6();
	char text[40];
	int rc = 0;

	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "2001:db8:%x::", i);
		rc = route_case_add(h, text, 48, "fd00::2");
	}
	assert_int_equal(rc, -ENOSPC);
	route_case_advertise(h, 2, 1800);
	assert_non_null(strstr(h->log_text, "too many routes: fe80::2 is ignored"));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_prefix_wins),
		cmocka_unit_test(families_do_not_mix),
		cmocka_unit_test(refusals),
		cmocka_unit_test(changes_are_told_by_the_generation),
		cmocka_unit_test(advertised_routes_live_and_die),
		cmocka_unit_test(strangers_cannot_fill_the_table),
		cmocka_unit_test(a_default_without_a_gateway_is_alone),
		cmocka_unit_test(a_full_table_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
