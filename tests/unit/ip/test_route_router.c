/* SPDX-License-Identifier: BSD-2-Clause */
/* Default routers: which is used, and which makes room for another. */
#include "ip/stack.h"
#include "route_case.h"

#include <errno.h>

/* Each router's default route is its own (RFC 4861 section 6.3.4), a prefix is a link's. */
static void routers_are_told_apart(void **state)
{
	struct host *h = host_new_v6();
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::2"),
		.origin = ROUTE_ADVERTISED,
		.expires = TIMER_NEVER,
	};
	struct ip_addr other = host_addr("fe80::4");

	route_advertise(h->ip, &r, h->now);
	r.gateway = host_addr("fe80::3");
	route_advertise(h->ip, &r, h->now);
	assert_int_equal(h->ip->routes.routers, 2);
	assert_true(route_is_gateway(h->ip, &r.gateway));
	assert_false(route_is_gateway(h->ip, &other));
	r.gateway = host_addr("fe80::2");
	r.expires = 0;
	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::3");
	/* A prefix of the link does not hide behind a route of the same length by a router. */
	r.has_gateway = false;
	r.expires = TIMER_NEVER;
	route_advertise(h->ip, &r, h->now);
	route_advertise(h->ip, &r, h->now);
	assert_int_equal(h->ip->routes.routers, 1);
	assert_int_equal(h->ip->routes.prefixes, 1);
	r.expires = 0;
	route_advertise(h->ip, &r, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::3");
	host_free(h);
}

/* RFC 4861 section 6.3.6: one after the other is used, but a person's before those that advertise.
 */
static void default_routers_take_turns(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr first = host_addr("10.0.0.2"), second = host_addr("10.0.0.3"),
		       v6 = host_addr("fd00::9");
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::2"),
		.origin = ROUTE_ADVERTISED,
		.expires = TIMER_NEVER,
	};
	uint32_t before;

	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.3"), -EEXIST);
	assert_int_equal(route_case_add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	before = h->ip->generation;
	route_leave_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.3");
	route_case_expect_hop(h, "192.168.1.1", "10.0.0.2"); /* it has no other */
	assert_true(h->ip->generation != before);
	before = h->ip->generation;
	route_leave_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.3");
	assert_int_equal(h->ip->generation, before);
	route_leave_gateway(h->ip, &second, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	host_free(h);
	h = host_new_v6();
	assert_int_equal(route_case_add(h, "::", 0, "fd00::9"), 0);
	route_advertise(h->ip, &r, h->now);
	route_leave_gateway(h->ip, &v6, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::2"); /* RFC 1122 section 3.3.1.5: MUST */
	route_leave_gateway(h->ip, &r.gateway, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fd00::9");
	route_return_to_gateway(h->ip, &r.gateway, h->now);
	route_case_expect_hop(h, "2001:db8::1", "fe80::2");
	host_free(h);
}

/* RFC 4861 section 6.3.6: none is asked again before all others were. */
static void routers_that_do_not_answer_go_round(void **state)
{
	static const char *const name[] = {"10.0.0.2", "10.0.0.3", "10.0.0.4"};
	struct host *h = host_new_v4();
	struct ip_addr a;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(route_case_add(h, "0.0.0.0", 0, name[i]), 0);
	for (unsigned i = 0; i < 7; i++) {
		route_case_expect_hop(h, "8.8.8.8", name[i % 3]);
		a = host_addr(name[i % 3]);
		route_leave_gateway(h->ip, &a, h->now);
	}
	a = host_addr(name[2]);
	route_return_to_gateway(h->ip, &a, h->now);
	route_case_expect_hop(h, "8.8.8.8", name[2]);
	host_free(h);
}

/* The order that a person gave is that in which they are preferred. */
static void the_first_router_is_used_again(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr first = host_addr("10.0.0.2"), other = host_addr("10.0.0.9");
	uint32_t before;

	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	route_leave_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.3");
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &other, h->now);
	assert_int_equal(h->ip->generation, before);
	route_return_to_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	assert_true(h->ip->generation != before);
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &first, h->now);
	assert_int_equal(h->ip->generation, before);
	host_free(h);
}

/* Who returns changes no path where it was the best of those that do not answer, or another is. */
static void a_return_that_changes_nothing_is_not_told(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr first = host_addr("10.0.0.2"), second = host_addr("10.0.0.3");
	uint32_t before;

	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	route_leave_gateway(h->ip, &second, h->now);
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &second, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	assert_int_equal(h->ip->generation, before);
	route_leave_gateway(h->ip, &first, h->now);
	route_leave_gateway(h->ip, &second, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.2");
	assert_int_equal(h->ip->generation, before);
	assert_null(strstr(h->log_text, "answers again"));
	host_free(h);
}

/* Those of the other family stand between, as the configuration names them. */
static void default_routers_of_both_families_take_turns(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr own = host_addr("fd00::1"), first = host_addr("10.0.0.2"),
		       v6 = host_addr("fd00::8");

	assert_int_equal(ip_addr_add(h->ip, &own, 64, h->now), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(route_case_add(h, "::", 0, "fd00::8"), 0);
	assert_int_equal(route_case_add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	assert_int_equal(route_case_add(h, "::", 0, "fd00::9"), 0);
	route_leave_gateway(h->ip, &first, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.3");
	route_case_expect_hop(h, "2001:db8::1", "fd00::8");
	route_leave_gateway(h->ip, &v6, h->now);
	route_case_expect_hop(h, "8.8.8.8", "10.0.0.3");
	route_case_expect_hop(h, "2001:db8::1", "fd00::9");
	host_free(h);
}

/* Of routers that were never reached one that is left goes first, or else the one that ends first.
 */
static void routers_make_room_for_new_ones(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr first = host_addr("fe80::1"), fourth = host_addr("fe80::4");
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = first,
		.origin = ROUTE_ADVERTISED,
	};

	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++) {
		r.gateway.b[15] = (uint8_t)i;
		r.expires = h->now + (i == 3 ? 50 : i == 1 ? 10 : 100) * SECOND;
		route_advertise(h->ip, &r, h->now);
	}
	assert_null(strstr(h->log_text, "too many"));
	route_leave_gateway(h->ip, &fourth, h->now);
	r.expires = h->now + 200 * SECOND;
	for (unsigned i = 20; i < 22; i++) {
		r.gateway.b[15] = (uint8_t)i;
		route_advertise(h->ip, &r, h->now);
		assert_true(route_is_gateway(h->ip, &r.gateway));
		assert_non_null(strstr(h->log_text, "too many default routers"));
	}
	assert_int_equal(h->ip->routes.routers, ROUTE_ROUTERS_MAX);
	assert_false(route_is_gateway(h->ip, &fourth));
	r.gateway.b[15] = 3;
	assert_false(route_is_gateway(h->ip, &r.gateway));
	/* The one in use stays, though it ends first; and those of a person are no spare ones. */
	route_case_expect_hop(h, "2001:db8::1", "fe80::1");
	assert_int_equal(route_case_add(h, "::", 0, "fd00::9"), 0);
	assert_int_equal(route_case_add(h, "::", 0, "fd00::8"), 0);
	r.gateway.b[15] = 30;
	route_advertise(h->ip, &r, h->now);
	assert_false(route_is_gateway(h->ip, &first));
	route_case_expect_hop(h, "2001:db8::1", "fd00::9");
	assert_int_equal(h->ip->routes.n, ROUTE_ROUTERS_MAX + 2 + 2);
	host_free(h);
}

static bool is_router(struct host *h, unsigned of)
{
	struct ip_addr a = host_addr("fe80::");

	a.b[15] = (uint8_t)of;
	return route_of_router(h->ip, &a) != NULL;
}

/* Who forges advertisements drives away what was never reached, and what does not answer. */
static void routers_that_were_reached_stay(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("fe80::");

	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++) {
		route_case_advertise(h, i, i);
		a.b[15] = (uint8_t)i;
		if (i != 5)
			route_return_to_gateway(h->ip, &a, h->now);
	}
	route_case_advertise(h, 0x20, 1800);
	assert_non_null(strstr(
		h->log_text, "fe80::20 takes the place of fe80::5, which was never reached"));
	route_case_advertise(h, 0x21, 1800);
	assert_false(is_router(h, 0x20));
	a.b[15] = 0x21;
	route_return_to_gateway(h->ip, &a, h->now);
	route_case_advertise(h, 0x22, 1800);
	assert_false(is_router(h, 0x22));
	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++)
		assert_true(is_router(h, i == 5 ? 0x21 : i));
	/* Of those that do not answer the one that ends first goes, though it was left last. */
	a.b[15] = 7;
	route_leave_gateway(h->ip, &a, h->now);
	a.b[15] = 3;
	route_leave_gateway(h->ip, &a, h->now);
	route_case_advertise(h, 0x23, 1800);
	assert_non_null(strstr(h->log_text, "fe80::23 takes the place of fe80::3, which does not"));
	assert_false(is_router(h, 3));
	route_case_advertise(h, 0x24, 1800);
	assert_false(is_router(h, 0x23));
	assert_true(is_router(h, 7));
	host_free(h);
}

/* What was left and never reached may go, though it is the best of all. */
static void router_in_use_that_does_not_answer_goes(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("fe80::");

	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++) {
		route_case_advertise(h, i, 100);
		a.b[15] = (uint8_t)i;
		if (i != 1)
			route_return_to_gateway(h->ip, &a, h->now);
	}
	route_case_advertise(h, 0x20, 1800);
	assert_true(is_router(h, 1));
	assert_non_null(strstr(h->log_text, "too many default routers: fe80::20 is ignored"));
	a.b[15] = 1;
	route_leave_gateway(h->ip, &a, h->now);
	route_case_advertise(h, 0x20, 1800);
	assert_false(is_router(h, 1));
	assert_true(is_router(h, 0x20));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routers_are_told_apart),
		cmocka_unit_test(default_routers_take_turns),
		cmocka_unit_test(routers_that_do_not_answer_go_round),
		cmocka_unit_test(the_first_router_is_used_again),
		cmocka_unit_test(a_return_that_changes_nothing_is_not_told),
		cmocka_unit_test(default_routers_of_both_families_take_turns),
		cmocka_unit_test(routers_make_room_for_new_ones),
		cmocka_unit_test(routers_that_were_reached_stay),
		cmocka_unit_test(router_in_use_that_does_not_answer_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
