/* SPDX-License-Identifier: BSD-2-Clause */
/* Prefixes that routers advertise: which stay known. */
#include "ip/stack.h"
#include "route_case.h"

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
		route_case_advertise(h, i, 1);
	route_keep_prefixes(h->ip, &a, h->now);
	assert_int_equal(h->ip->routes.routers, ROUTE_ROUTERS_MAX);
	advertise_prefix(h, 201);
	route_case_advertise(h, 0x20, 1800);
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

/* Of a router that does not answer a prefix goes over to who says it, too. */
static void a_prefix_goes_over_from_a_silent_router(void **state)
{
	struct ip_addr router = host_addr("fe80::1");

	for (unsigned answers = 0; answers < 2; answers++) {
		struct host *h = host_new_v6();

		advertise_station(h, 1);
		advertise_station(h, 66);
		advertise_prefix_of(h, 1, 64, 66);
		if (answers) {
			router.b[15] = 66;
			route_return_to_gateway(h->ip, &router, h->now);
		}
		advertise_prefix_of(h, 1, 64, 1);
		router.b[15] = 1;
		route_return_to_gateway(h->ip, &router, h->now);
		router.b[15] = 66;
		route_leave_gateway(h->ip, &router, h->now);
		for (unsigned i = 100; i < 200; i++) {
			advertise_prefix_of(h, i, 64, 9);
			reach(h, i);
		}
		assert_int_equal(has_prefix(h, 1), !answers);
		host_free(h);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_that_were_reached_stay),
		cmocka_unit_test(prefixes_that_were_reached_long_ago_go),
		cmocka_unit_test(all_prefixes_of_a_neighbour_stay),
		cmocka_unit_test(prefixes_of_a_reached_router_stay),
		cmocka_unit_test(a_prefix_goes_over_from_a_silent_router),
		cmocka_unit_test(newer_prefixes_of_a_reached_router_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
