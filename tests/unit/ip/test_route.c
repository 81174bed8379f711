/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/stack.h"

#include <errno.h>
#include <stdio.h>

static int add(struct host *h, const char *prefix, unsigned len, const char *gateway)
{
	struct ip_addr p = host_addr(prefix), g;

	if (gateway)
		g = host_addr(gateway);
	return ip_route_add(h->ip, &p, len, gateway ? &g : NULL);
}

static void expect_hop(struct host *h, const char *dst, const char *hop)
{
	struct ip_addr d = host_addr(dst), got;
	char text[IP_ADDR_STRLEN];

	assert_int_equal(route_next_hop(h->ip, &d, &got), 0);
	assert_string_equal(ip_addr_format(&got, text), hop);
}

static void longest_prefix_wins(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr far = host_addr("8.8.8.8"), hop;

	assert_int_equal(route_next_hop(h->ip, &far, &hop), -ENETUNREACH);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.254"), 0);
	assert_int_equal(add(h, "192.168.7.9", 16, "10.0.0.2"), 0); /* host bits are cleared */
	assert_int_equal(add(h, "192.168.128.0", 17, "10.0.0.3"), 0);
	assert_int_equal(add(h, "192.168.130.1", 32, "10.0.0.4"), 0);
	assert_int_equal(add(h, "172.16.0.0", 12, NULL), 0);
	expect_hop(h, "8.8.8.8", "10.0.0.254");
	expect_hop(h, "192.168.1.1", "10.0.0.2");
	expect_hop(h, "192.168.129.1", "10.0.0.3");
	expect_hop(h, "192.168.130.1", "10.0.0.4");
	expect_hop(h, "192.168.130.2", "10.0.0.3");
	expect_hop(h, "172.31.0.1", "172.31.0.1");
	expect_hop(h, "10.0.0.77", "10.0.0.77");
	host_free(h);
}

static void families_do_not_mix(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr v4 = host_addr("10.0.0.1"), hop;

	assert_int_equal(add(h, "::", 0, "fd00::ff"), 0);
	expect_hop(h, "2001:db8::1", "fd00::ff");
	assert_int_equal(route_next_hop(h->ip, &v4, &hop), -ENETUNREACH);
	host_free(h);
}

static void refusals(void **state)
{
	struct host *h = host_new_v4();
	char text[32];
	int rc = 0;

	assert_int_equal(add(h, "192.168.0.0", 33, "10.0.0.2"), -EINVAL);
	assert_int_equal(add(h, "224.0.0.0", 4, "10.0.0.2"), -EINVAL);
	assert_int_equal(add(h, "192.168.0.0", 16, "fd00::1"), -EINVAL);
	assert_int_equal(add(h, "192.168.0.0", 16, "0.0.0.0"), -EINVAL);
	assert_int_equal(add(h, "192.168.0.0", 16, "224.0.0.1"), -EINVAL);
	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.1.2"), -ENETUNREACH);
	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.0.1"), -ENETUNREACH); /* ourselves */
	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.0.3"), -EEXIST);
	assert_int_equal(add(h, "10.0.0.0", 24, "10.0.0.3"), -EEXIST);
	/* A gateway behind a gateway is not on-link. */
	assert_int_equal(add(h, "172.16.0.0", 16, "192.168.0.1"), -ENETUNREACH);
	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "172.20.%u.0", i);
		rc = add(h, text, 24, "10.0.0.2");
	}
	assert_int_equal(rc, -ENOSPC);
	host_free(h);
}

static void changes_are_told_by_the_generation(void **state)
{
	struct host *h = host_new_v4();
	uint32_t before = h->ip->generation;

	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	assert_true(h->ip->generation != before);
	h->ip->generation = UINT32_MAX;
	assert_int_equal(add(h, "172.16.0.0", 16, "10.0.0.2"), 0);
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
	expect_hop(h, "2001:db8::1", "fe80::2");
	host_run(h, 9 * SECOND);
	r.expires = h->now + 10 * SECOND; /* once more */
	route_advertise(h->ip, &r, h->now);
	host_run(h, 9 * SECOND);
	expect_hop(h, "2001:db8::1", "fe80::2");
	before = h->ip->generation;
	host_run(h, 2 * SECOND);
	assert_true(h->ip->generation != before);
	assert_int_equal(route_next_hop(h->ip, &far, &hop), -ENETUNREACH);
	r.expires = TIMER_NEVER;
	route_advertise(h->ip, &r, h->now);
	expect_hop(h, "2001:db8::1", "fe80::2");
	/* What a person says goes before what a router says. */
	assert_int_equal(add(h, "::", 0, "fd00::9"), 0);
	expect_hop(h, "2001:db8::1", "fd00::9");
	r.expires = 0;
	route_advertise(h->ip, &r, h->now);
	expect_hop(h, "2001:db8::1", "fd00::9");
	host_free(h);
}

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
	expect_hop(h, "2001:db8::1", "fe80::3");
	/* A prefix of the link does not hide behind a route of the same length by a router. */
	r.has_gateway = false;
	r.expires = TIMER_NEVER;
	route_advertise(h->ip, &r, h->now);
	route_advertise(h->ip, &r, h->now);
	assert_int_equal(h->ip->routes.routers, 1);
	assert_int_equal(h->ip->routes.prefixes, 1);
	r.expires = 0;
	route_advertise(h->ip, &r, h->now);
	expect_hop(h, "2001:db8::1", "fe80::3");
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

	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.3"), -EEXIST);
	assert_int_equal(add(h, "192.168.0.0", 16, "10.0.0.2"), 0);
	expect_hop(h, "8.8.8.8", "10.0.0.2");
	before = h->ip->generation;
	route_leave_gateway(h->ip, &first, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.3");
	expect_hop(h, "192.168.1.1", "10.0.0.2"); /* it has no other */
	assert_true(h->ip->generation != before);
	before = h->ip->generation;
	route_leave_gateway(h->ip, &first, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.3");
	assert_int_equal(h->ip->generation, before);
	route_leave_gateway(h->ip, &second, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.2");
	host_free(h);
	h = host_new_v6();
	assert_int_equal(add(h, "::", 0, "fd00::9"), 0);
	route_advertise(h->ip, &r, h->now);
	route_leave_gateway(h->ip, &v6, h->now);
	expect_hop(h, "2001:db8::1", "fe80::2"); /* RFC 1122 section 3.3.1.5: MUST */
	route_leave_gateway(h->ip, &r.gateway, h->now);
	expect_hop(h, "2001:db8::1", "fd00::9");
	route_return_to_gateway(h->ip, &r.gateway, h->now);
	expect_hop(h, "2001:db8::1", "fe80::2");
	host_free(h);
}

/* RFC 4861 section 6.3.6: none is asked again before all others were. */
static void routers_that_do_not_answer_go_round(void **state)
{
	static const char *const name[] = {"10.0.0.2", "10.0.0.3", "10.0.0.4"};
	struct host *h = host_new_v4();
	struct ip_addr a;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(add(h, "0.0.0.0", 0, name[i]), 0);
	for (unsigned i = 0; i < 7; i++) {
		expect_hop(h, "8.8.8.8", name[i % 3]);
		a = host_addr(name[i % 3]);
		route_leave_gateway(h->ip, &a, h->now);
	}
	a = host_addr(name[2]);
	route_return_to_gateway(h->ip, &a, h->now);
	expect_hop(h, "8.8.8.8", name[2]);
	host_free(h);
}

/* The order that a person gave is that in which they are preferred. */
static void the_first_router_is_used_again(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr first = host_addr("10.0.0.2"), other = host_addr("10.0.0.9");
	uint32_t before;

	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	route_leave_gateway(h->ip, &first, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.3");
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &other, h->now);
	assert_int_equal(h->ip->generation, before);
	route_return_to_gateway(h->ip, &first, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.2");
	assert_true(h->ip->generation != before);
	before = h->ip->generation;
	route_return_to_gateway(h->ip, &first, h->now);
	assert_int_equal(h->ip->generation, before);
	host_free(h);
}

/* Those of the other family stand between, as the configuration names them. */
static void default_routers_of_both_families_take_turns(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr own = host_addr("fd00::1"), first = host_addr("10.0.0.2"),
		       v6 = host_addr("fd00::8");

	assert_int_equal(ip_addr_add(h->ip, &own, 64, h->now), 0);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.2"), 0);
	assert_int_equal(add(h, "::", 0, "fd00::8"), 0);
	assert_int_equal(add(h, "0.0.0.0", 0, "10.0.0.3"), 0);
	assert_int_equal(add(h, "::", 0, "fd00::9"), 0);
	route_leave_gateway(h->ip, &first, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.3");
	expect_hop(h, "2001:db8::1", "fd00::8");
	route_leave_gateway(h->ip, &v6, h->now);
	expect_hop(h, "8.8.8.8", "10.0.0.3");
	expect_hop(h, "2001:db8::1", "fd00::9");
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
	assert_int_equal(add(h, "2001:db8:ffff::", 48, "fd00::2"), 0);
	/* RFC 4861 section 6.3.4: there is still place for routers. */
	r.prefix = host_addr("::");
	r.prefix_len = 0;
	r.has_gateway = true;
	r.gateway = host_addr("fe80::2");
	route_advertise(h->ip, &r, h->now);
	expect_hop(h, "2001:db9::1", "fe80::2");
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
	expect_hop(h, "2001:db8::1", "fe80::1");
	assert_int_equal(add(h, "::", 0, "fd00::9"), 0);
	assert_int_equal(add(h, "::", 0, "fd00::8"), 0);
	r.gateway.b[15] = 30;
	route_advertise(h->ip, &r, h->now);
	assert_false(route_is_gateway(h->ip, &first));
	expect_hop(h, "2001:db8::1", "fd00::9");
	assert_int_equal(h->ip->routes.n, ROUTE_ROUTERS_MAX + 2 + 2);
	host_free(h);
}

static bool is_router(struct host *h, unsigned of)
{
	struct ip_addr a = host_addr("fe80::");

	a.b[15] = (uint8_t)of;
	return route_of_router(h->ip, &a) != NULL;
}

static void advertise(struct host *h, unsigned of, unsigned seconds)
{
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::"),
		.origin = ROUTE_ADVERTISED,
		.expires = h->now + seconds * SECOND,
	};

	r.gateway.b[15] = (uint8_t)of;
	route_advertise(h->ip, &r, h->now);
}

/* Who forges advertisements drives away what was never reached, and what does not answer. */
static void routers_that_were_reached_stay(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("fe80::");

	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++) {
		advertise(h, i, i);
		a.b[15] = (uint8_t)i;
		if (i != 5)
			route_return_to_gateway(h->ip, &a, h->now);
	}
	advertise(h, 0x20, 1800);
	assert_non_null(strstr(
		h->log_text, "fe80::20 takes the place of fe80::5, which was never reached"));
	advertise(h, 0x21, 1800);
	assert_false(is_router(h, 0x20));
	a.b[15] = 0x21;
	route_return_to_gateway(h->ip, &a, h->now);
	advertise(h, 0x22, 1800);
	assert_false(is_router(h, 0x22));
	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++)
		assert_true(is_router(h, i == 5 ? 0x21 : i));
	/* Of those that do not answer the one that ends first goes, though it was left last. */
	a.b[15] = 7;
	route_leave_gateway(h->ip, &a, h->now);
	a.b[15] = 3;
	route_leave_gateway(h->ip, &a, h->now);
	advertise(h, 0x23, 1800);
	assert_non_null(strstr(h->log_text, "fe80::23 takes the place of fe80::3, which does not"));
	assert_false(is_router(h, 3));
	advertise(h, 0x24, 1800);
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
		advertise(h, i, 100);
		a.b[15] = (uint8_t)i;
		if (i != 1)
			route_return_to_gateway(h->ip, &a, h->now);
	}
	advertise(h, 0x20, 1800);
	assert_true(is_router(h, 1));
	assert_non_null(strstr(h->log_text, "too many default routers: fe80::20 is ignored"));
	a.b[15] = 1;
	route_leave_gateway(h->ip, &a, h->now);
	advertise(h, 0x20, 1800);
	assert_false(is_router(h, 1));
	assert_true(is_router(h, 0x20));
	host_free(h);
}

static void advertise_prefix_of(struct host *h, unsigned i, unsigned bits, uint8_t station)
{
	struct route r = {
		.prefix = host_addr("2001:db8::"),
		.prefix_len = bits,
		.origin = ROUTE_ADVERTISED,
		.station = {2, [5] = station},
		.expires = TIMER_NEVER,
	};

	r.prefix.b[7] = (uint8_t)i;
	route_advertise(h->ip, &r, h->now);
}

static void advertise_prefix(struct host *h, unsigned i)
{
	advertise_prefix_of(h, i, 64, 9);
}

/* The host @p i of the prefix with this number. */
static struct ip_addr host_of_prefix(unsigned i)
{
	struct ip_addr a = host_addr("2001:db8::7");

	a.b[7] = (uint8_t)i;
	return a;
}

static void end_prefix(struct host *h, unsigned i)
{
	struct route r = {
		.prefix = host_of_prefix(i),
		.prefix_len = 64,
		.origin = ROUTE_ADVERTISED,
	};

	route_advertise(h->ip, &r, h->now);
}

static void reach(struct host *h, unsigned i)
{
	struct ip_addr a = host_of_prefix(i);

	route_keep_prefixes(h->ip, &a, h->now);
}

static bool has_prefix(struct host *h, unsigned i)
{
	struct ip_addr a = host_of_prefix(i);

	return route_is_on_link(h->ip, &a);
}

/* Who forges prefixes, endless ones too, drives away those where nobody was reached. */
static void prefixes_that_were_reached_stay(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a;

	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++) {
		advertise_prefix(h, i);
		if (i != 5 && i != 7)
			reach(h, i);
	}
	/* Of the others the newest goes, and what comes later drives out one that came later. */
	advertise_prefix(h, 100);
	assert_non_null(strstr(h->log_text, "too many prefixes: 2001:db8:0:64:: takes the place of "
					    "2001:db8:0:7::, which was never reached"));
	for (unsigned i = 101; i < 200; i++) {
		host_run(h, SECOND / 10);
		advertise_prefix(h, i);
	}
	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++)
		assert_int_equal(has_prefix(h, i), i != 7);
	/* A prefix that comes late has a place, and keeps it when somebody there is reached. */
	advertise_prefix(h, 7);
	assert_true(has_prefix(h, 7));
	reach(h, 7);
	for (unsigned i = 100; i < 200; i++)
		advertise_prefix(h, i);
	assert_true(has_prefix(h, 7));
	reach(h, 199);
	advertise_prefix(h, 200);
	assert_false(has_prefix(h, 200));
	assert_int_equal(h->ip->routes.prefixes, ROUTE_PREFIXES_MAX);
	/* Who is not on the link, as the prefix has ended meanwhile, keeps none. */
	a = host_addr("2001:db9::1");
	route_keep_prefixes(h->ip, &a, h->now);
	/* No router loses its place to a prefix, nor the other way round. */
	for (unsigned i = 1; i <= ROUTE_ROUTERS_MAX; i++)
		advertise(h, i, 1);
	route_keep_prefixes(h->ip, &a, h->now);
	assert_int_equal(h->ip->routes.routers, ROUTE_ROUTERS_MAX);
	advertise_prefix(h, 201);
	advertise(h, 0x20, 1800);
	assert_int_equal(h->ip->routes.routers, ROUTE_ROUTERS_MAX);
	assert_int_equal(h->ip->routes.prefixes, ROUTE_PREFIXES_MAX);
	host_free(h);
}

/* Who forged prefixes, and then answered in each, holds them no longer than he answers. */
static void prefixes_that_were_reached_long_ago_go(void **state)
{
	struct host *h = host_new_v6();

	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++) {
		advertise_prefix(h, i);
		reach(h, i);
	}
	host_run(h, 599 * SECOND);
	advertise_prefix(h, 100);
	assert_false(has_prefix(h, 100));
	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++) {
		if (i != 3)
			reach(h, i);
	}
	host_run(h, 2 * SECOND);
	advertise_prefix(h, 100);
	assert_true(has_prefix(h, 100));
	assert_false(has_prefix(h, 3));
	assert_non_null(strstr(h->log_text, "2001:db8:0:3::, which was not reached of late"));
	host_free(h);
}

/* A longer prefix that is forged does not take from the link's own what is known of it. */
static void all_prefixes_of_a_neighbour_stay(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr other = host_addr("2001:db8:0:1:8000::1");

	advertise_prefix(h, 1);
	advertise_prefix_of(h, 1, 65, 66);
	for (unsigned i = 2; i < ROUTE_PREFIXES_MAX; i++) {
		advertise_prefix(h, i);
		reach(h, i);
	}
	reach(h, 1);
	advertise_prefix(h, 100);
	assert_false(has_prefix(h, 100));
	assert_true(route_is_on_link(h->ip, &other));
	host_free(h);
}

/* Router @p of, of the station with the same number. */
static void advertise_station(struct host *h, unsigned of)
{
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::"),
		.origin = ROUTE_ADVERTISED,
		.station = {2, [5] = (uint8_t)of},
		.expires = TIMER_NEVER,
	};

	r.gateway.b[15] = (uint8_t)of;
	route_advertise(h->ip, &r, h->now);
}

/* What the station of a router says that answers stays, though nobody was reached there. */
static void prefixes_of_a_reached_router_stay(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr router = host_addr("fe80::1");

	advertise_station(h, 1);
	advertise_station(h, 66);
	for (unsigned i = 100; i < 200; i++)
		advertise_prefix_of(h, i, 64, 66);
	advertise_prefix_of(h, 1, 64, 1);
	assert_true(has_prefix(h, 1));
	route_return_to_gateway(h->ip, &router, h->now);
	advertise_prefix_of(h, 1, 64, 66); /* so another one says, too */
	for (unsigned i = 100; i < 200; i++)
		advertise_prefix_of(h, i, 64, 66);
	assert_true(has_prefix(h, 1));
	/* A router that does not answer any more is as good as none, and so is who was one once. */
	for (unsigned n = 0; n < 4; n++) {
		if (n == 1)
			route_leave_gateway(h->ip, &router, h->now);
		else
			route_return_to_gateway(h->ip, &router, h->now);
		host_run(h, (n == 3 ? 601 : 1) * SECOND);
		for (unsigned i = 100; i < 200; i++)
			reach(h, i);
		advertise_prefix_of(h, 200, 64, 66);
		assert_int_equal(has_prefix(h, 200), n % 2);
		assert_int_equal(has_prefix(h, 1), !(n % 2));
		end_prefix(h, 200);
		advertise_prefix_of(h, 1, 64, 1);
	}
	host_free(h);
}

/* A router that numbers its link anew each day, and never says that the old prefixes are none any
 * more, has place for that of today; nobody else has. */
static void newer_prefixes_of_a_reached_router_are_known(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr router = host_addr("fe80::1");

	advertise_station(h, 1);
	route_return_to_gateway(h->ip, &router, h->now);
	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++)
		advertise_prefix_of(h, i, 64, 1);
	host_run(h, 86400 * SECOND);
	route_return_to_gateway(h->ip, &router, h->now);
	/* What it still says stays; that another one says the others, too, does not keep them. */
	for (unsigned i = 0; i < ROUTE_PREFIXES_MAX; i++)
		advertise_prefix_of(h, i, 64, i < 2 ? 1 : 66);
	for (unsigned i = 100; i < 100 + ROUTE_PREFIXES_MAX - 2; i++) {
		host_run(h, SECOND);
		advertise_prefix_of(h, i, 64, 1);
		assert_true(has_prefix(h, i));
	}
	assert_true(has_prefix(h, 0) && has_prefix(h, 1));
	assert_false(has_prefix(h, 2) || has_prefix(h, ROUTE_PREFIXES_MAX - 1));
	advertise_prefix_of(h, 200, 64, 66);
	assert_false(has_prefix(h, 200));
	/* Where a neighbour answers the prefix stays, and another station's goes before. */
	reach(h, 0);
	advertise_prefix_of(h, 201, 64, 1);
	assert_true(has_prefix(h, 0) && has_prefix(h, 201));
	assert_false(has_prefix(h, 1));
	end_prefix(h, 0);
	advertise_prefix_of(h, 202, 64, 66);
	advertise_prefix_of(h, 203, 64, 1);
	assert_false(has_prefix(h, 202));
	assert_true(has_prefix(h, 203) && has_prefix(h, 100));
	assert_int_equal(h->ip->routes.prefixes, ROUTE_PREFIXES_MAX);
	host_free(h);
}

/* Where a person's routes leave none, it says that. */
static void a_full_table_is_told(void **state)
{
	struct host *h = host_new_v6();
	char text[40];
	int rc = 0;

	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "2001:db8:%x::", i);
		rc = add(h, text, 48, "fd00::2");
	}
	assert_int_equal(rc, -ENOSPC);
	advertise(h, 2, 1800);
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
		cmocka_unit_test(routers_are_told_apart),
		cmocka_unit_test(default_routers_take_turns),
		cmocka_unit_test(routers_that_do_not_answer_go_round),
		cmocka_unit_test(the_first_router_is_used_again),
		cmocka_unit_test(default_routers_of_both_families_take_turns),
		cmocka_unit_test(strangers_cannot_fill_the_table),
		cmocka_unit_test(routers_make_room_for_new_ones),
		cmocka_unit_test(routers_that_were_reached_stay),
		cmocka_unit_test(router_in_use_that_does_not_answer_goes),
		cmocka_unit_test(prefixes_that_were_reached_stay),
		cmocka_unit_test(prefixes_that_were_reached_long_ago_go),
		cmocka_unit_test(all_prefixes_of_a_neighbour_stay),
		cmocka_unit_test(prefixes_of_a_reached_router_stay),
		cmocka_unit_test(newer_prefixes_of_a_reached_router_are_known),
		cmocka_unit_test(a_full_table_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
