/* SPDX-License-Identifier: BSD-2-Clause */
/* Where packets to one destination go. */
#include "ip/ip_path.h"
#include "ip_case.h"

#include <errno.h>

static void send_errors(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr src = host_addr("10.0.0.1"), other = host_addr("10.0.0.9");
	struct ip_addr far = host_addr("192.0.2.1"), bcast = host_addr("10.0.0.255");
	struct ip_addr group = host_addr("224.0.0.1"), any = host_addr("0.0.0.0");
	struct ip_addr near = host_addr("10.0.0.2"), v6 = host_addr("fd00::2"), out;
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &bcast, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &other, &near, h->now), -EADDRNOTAVAIL);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &v6, h->now), -EADDRNOTAVAIL);
	assert_int_equal(ip_source(h->ip, &far, &out), -ENETUNREACH);
	assert_int_equal(ip_source(h->ip, &v6, &out), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &near, h->now), 0);
	assert_int_equal(
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1481), h->now), -EMSGSIZE);
	assert_int_equal(ip_stack_stats(h->ip)->no_route, 2);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &group, h->now), -ENETUNREACH);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &any, h->now), -ENETUNREACH);
	host_expect_nothing(h);
	host_free(h);
}

static void neighbour_failure_comes_back_as_an_error(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;

	ip_case_path(h, &p, "10.0.0.2");
	(void)ip_case_send(h, &p);
	(void)ip_case_send(h, &p);
	host_run(h, 3 * SECOND + SECOND / 2);
	assert_int_equal(h->n_errors, 2);
	assert_int_equal(h->error.kind, IP_ERROR_HOST);
	assert_int_equal(h->error_l4[12], 0x50);
	assert_int_equal(ip_case_send(h, &p), -EHOSTUNREACH);
	host_run(h, 2 * SECOND);
	assert_int_equal(ip_case_send(h, &p), 0); /* a new try */
	host_free(h);
}

/* What was confirmed by a path that has to look again is no longer its neighbour's. */
static void outdated_path_confirms_nothing(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr net = host_addr("192.0.2.0"), gw = host_addr("10.0.0.3");
	struct ip_path p;

	ip_case_path(h, &p, "10.0.0.2");
	(void)ip_case_send(h, &p);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	host_run(h, 40 * SECOND);
	assert_int_equal(ip_route_add(h->ip, &net, 24, &gw), 0);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	assert_int_equal(p.neighbour->state, NEIGHBOUR_STALE);
	host_forget(h);
	(void)ip_case_send(h, &p);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	assert_int_equal(p.neighbour->state, NEIGHBOUR_REACHABLE);
	ip_case_path(h, &p, "10.0.0.1"); /* ourselves: there is no neighbour */
	ip_path_confirm(h->ip, &p, h->now, h->now);
	host_free(h);
}

static void path_follows_the_route_table(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr net = host_addr("192.0.2.0"), gw = host_addr("10.0.0.2");
	struct ip_addr gw2 = host_addr("10.0.0.3"), one = host_addr("192.0.2.1");
	struct ip_path p;

	assert_int_equal(ip_route_add(h->ip, &net, 24, &gw), 0);
	ip_case_path(h, &p, "192.0.2.1");
	(void)ip_case_send(h, &p);
	host_expect(h, IP_CASE_ARP_REQUEST);
	assert_int_equal(ip_route_add(h->ip, &one, 32, &gw2), 0);
	(void)ip_case_send(h, &p);
	host_expect(h, "ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		       "02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 03");
	host_free(h);
}

/* ---- both families, by table -----------------------------------------------------------------
 */

static struct host *routed_host(void)
{
	struct host *h = ip_case_host();
	struct ip_addr net = host_addr("192.0.2.0"), gw = host_addr("10.0.0.2");
	struct ip_addr net6 = host_addr("2001:db8::"), gw6 = host_addr("fd00::2");

	assert_int_equal(ip_route_add(h->ip, &net, 24, &gw), 0);
	assert_int_equal(ip_route_add(h->ip, &net6, 32, &gw6), 0);
	return h;
}

enum leads { NOWHERE, TO_US, TO_A_GROUP, TO_A_NEIGHBOUR };

static const struct lead {
	const char *src, *dst;
	bool to_group;
	int rc;
	enum leads leads;
	const char *hop; /* TO_A_NEIGHBOUR */
} lead[] = {
	{"10.0.0.1", "10.0.0.2", false, 0, TO_A_NEIGHBOUR, "10.0.0.2"},
	{"fd00::1", "fd00::2", false, 0, TO_A_NEIGHBOUR, "fd00::2"},
	{"10.0.0.1", "192.0.2.255", false, 0, TO_A_NEIGHBOUR, "10.0.0.2"},
	{"fd00::1", "2001:db8:ffff::", false, 0, TO_A_NEIGHBOUR, "fd00::2"},
	{"10.0.0.1", "10.0.0.1", false, 0, TO_US, NULL},
	{"fd00::1", "fd00::1", false, 0, TO_US, NULL},
	/* Groups are for who has asked for them; that does no more. */
	{"10.0.0.1", "224.0.0.9", false, -ENETUNREACH, NOWHERE, NULL},
	{"fd00::1", "ff02::9", false, -ENETUNREACH, NOWHERE, NULL},
	{"10.0.0.1", "224.0.0.9", true, 0, TO_A_GROUP, NULL},
	{"fd00::1", "ff02::9", true, 0, TO_A_GROUP, NULL},
	{"10.0.0.1", "10.0.0.2", true, 0, TO_A_NEIGHBOUR, "10.0.0.2"},
	{"fd00::1", "fd00::1", true, 0, TO_US, NULL},
	{"10.0.0.1", "10.0.0.255", true, -ENETUNREACH, NOWHERE, NULL},
	/* Nowhere. */
	{"10.0.0.1", "10.0.0.255", false, -ENETUNREACH, NOWHERE, NULL},
	{"10.0.0.1", "255.255.255.255", false, -ENETUNREACH, NOWHERE, NULL},
	{"10.0.0.1", "0.0.0.0", false, -ENETUNREACH, NOWHERE, NULL},
	{"fd00::1", "::", false, -ENETUNREACH, NOWHERE, NULL},
	{"10.0.0.1", "192.0.3.0", false, -ENETUNREACH, NOWHERE, NULL},
	{"fd00::1", "2001:db9::1", false, -ENETUNREACH, NOWHERE, NULL},
	/* From nobody. */
	{"10.0.0.3", "10.0.0.2", false, -EADDRNOTAVAIL, NOWHERE, NULL},
	{"fd00::3", "fd00::2", false, -EADDRNOTAVAIL, NOWHERE, NULL},
	{"0.0.0.0", "10.0.0.2", false, -EADDRNOTAVAIL, NOWHERE, NULL},
	{"224.0.0.9", "224.0.0.9", true, -EADDRNOTAVAIL, NOWHERE, NULL},
	{"10.0.0.1", "fd00::2", false, -EADDRNOTAVAIL, NOWHERE, NULL},
	{"fd00::1", "10.0.0.2", false, -EADDRNOTAVAIL, NOWHERE, NULL},
};

static void paths_lead_where_routes_say(void **state)
{
	struct host *h = routed_host();

	for (unsigned i = 0; i < sizeof lead / sizeof *lead; i++) {
		const struct lead *l = &lead[i];
		struct ip_addr src = host_addr(l->src), dst = host_addr(l->dst);
		struct ip_path p = {.to_group = l->to_group};
		uint64_t was = ip_stack_stats(h->ip)->no_route;

		assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), l->rc);
		assert_int_equal(ip_stack_stats(h->ip)->no_route - was, l->rc == -ENETUNREACH);
		if (l->rc != 0)
			continue;
		assert_int_equal(p.generation, h->ip->generation);
		assert_int_equal(p.mtu, 1500);
		assert_int_equal(p.link_mtu, 1500);
		assert_int_equal(p.loop, l->leads == TO_US);
		assert_int_equal(ip_path_is_to_group(&p), l->leads == TO_A_GROUP);
		assert_ptr_equal(
			p.neighbour, l->leads == TO_A_NEIGHBOUR ? host_neighbour(h, l->hop) : NULL);
		assert_int_equal(p.neighbour != NULL, l->leads == TO_A_NEIGHBOUR);
	}
	host_expect_nothing(h);
	host_free(h);
}

/* Without a link there is nobody to ask for. */
static void paths_without_a_link_have_no_neighbour(void **state)
{
	static const char *const own[] = {"10.0.0.1", "fd00::1"}, *const peer[] = {
									  "10.0.0.2", "fd00::2"};
	struct host *h = host_new_no_link();

	for (unsigned i = 0; i < 2; i++) {
		struct ip_addr src = host_addr(own[i]), dst = host_addr(peer[i]);
		struct ip_path p = {.tos = 0};

		assert_int_equal(ip_addr_add(h->ip, &src, i ? 64 : 24, h->now), 0);
		assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
		assert_null(p.neighbour);
		assert_false(ip_path_waits(&p));
		ip_path_confirm(h->ip, &p, 0, h->now);
	}
	host_free(h);
}

static void next_hops_and_reach(void **state)
{
	static const struct {
		const char *dst, *hop;
		int reach; /* before the answer; behind it 0 */
	} rows[] = {
		{"10.0.0.2", "10.0.0.2", -EAGAIN},
		{"192.0.2.9", "10.0.0.2", -EAGAIN},
		{"fd00::2", "fd00::2", -EAGAIN},
		{"2001:db8::9", "fd00::2", -EAGAIN},
		{"192.0.3.9", NULL, -ENETUNREACH},
		{"2001:db9::9", NULL, -ENETUNREACH},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct host *h = routed_host();
		struct ip_addr dst = host_addr(rows[i].dst), hop;

		assert_int_equal(ip_next_hop(h->ip, &dst, &hop), rows[i].hop ? 0 : -ENETUNREACH);
		if (rows[i].hop)
			assert_true(host_has_hop(h, rows[i].dst, rows[i].hop));
		assert_int_equal(ip_reach(h->ip, &dst, h->now), rows[i].reach);
		assert_int_equal(h->n_tx, rows[i].reach == -EAGAIN);
		ip_case_answer(h);
		assert_int_equal(ip_reach(h->ip, &dst, h->now), rows[i].hop ? 0 : -ENETUNREACH);
		host_expect_nothing(h);
		host_free(h);
	}
}

/* It waits for an answer, and is sent by it. */
static void packets_wait_for_the_neighbour(void **state)
{
	static const char *const peer[] = {"10.0.0.2", "fd00::2"};
	struct host *h = ip_case_host();
	struct ip_path p[2];

	for (unsigned i = 0; i < 2; i++) {
		ip_case_path(h, &p[i], peer[i]);
		assert_false(ip_path_waits(&p[i]));
		assert_int_equal(ip_case_send(h, &p[i]), 0);
		assert_true(ip_path_waits(&p[i]));
	}
	ip_case_answer(h);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(ip_path_waits(&p[i]));
		assert_int_equal(ip_case_send(h, &p[i]), 0);
		assert_false(ip_path_waits(&p[i]));
	}
	host_forget(h);
	host_free(h);
}

/* It only falls, to what every host has to take, and for all that go there. */
static void told_that_it_is_too_big(void **state)
{
	static const struct {
		const char *dst;
		uint16_t told[3], mtu[3]; /* one after the other */
	} rows[] = {
		{"10.0.0.2", {1400, 1450, 1399}, {1400, 1400, 1399}},
		{"10.0.0.2", {577, 576, 575}, {577, 576, 576}},
		{"10.0.0.2", {0, 1500, 68}, {576, 576, 576}},
		{"10.0.0.2", {65535, 1501, 1500}, {1500, 1500, 1500}},
		{"fd00::2", {1400, 1450, 1399}, {1400, 1400, 1399}},
		{"fd00::2", {1281, 1280, 1279}, {1281, 1280, 1280}},
		{"fd00::2", {0, 1500, 68}, {1280, 1280, 1280}},
		{"2001:db8::9", {65535, 1501, 1500}, {1500, 1500, 1500}},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct host *h = routed_host();
		struct ip_path p, other;

		ip_case_path(h, &p, rows[i].dst);
		ip_case_path(h, &other, rows[i].dst);
		ip_case_answer(h);
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(ip_path_too_big(h->ip, &p, rows[i].told[k], h->now),
				rows[i].mtu[k]);
			assert_int_equal(p.mtu, rows[i].mtu[k]);
			assert_int_equal(p.link_mtu, 1500);
			assert_int_equal(ip_case_send(h, &other), 0);
			assert_int_equal(other.mtu, rows[i].mtu[k]);
		}
		host_forget(h);
		host_free(h);
	}
}

/* What has no next hop by its kind has none by a default route, either. */
static void a_default_route_does_not_lead_everywhere(void **state)
{
	static const struct {
		const char *src, *dst;
		bool leads;
	} rows[] = {
		{"10.0.0.1", "198.51.100.1", true},
		{"fd00::1", "2001:db9::1", true},
		{"10.0.0.1", "224.0.0.9", false},
		{"10.0.0.1", "239.255.255.255", false},
		{"10.0.0.1", "0.0.0.0", false},
		{"10.0.0.1", "255.255.255.255", false},
		{"10.0.0.1", "10.0.0.255", false},
		{"fd00::1", "ff0e::9", false},
		{"fd00::1", "::", false},
	};
	struct host *h = ip_case_host();
	struct ip_addr any = host_addr("0.0.0.0"), gw = host_addr("10.0.0.2");
	struct ip_addr any6 = host_addr("::"), gw6 = host_addr("fd00::2");

	assert_int_equal(ip_route_add(h->ip, &any, 0, &gw), 0);
	assert_int_equal(ip_route_add(h->ip, &any6, 0, &gw6), 0);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ip_addr src = host_addr(rows[i].src), dst = host_addr(rows[i].dst);
		struct ip_path p = {.tos = 0};

		assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now),
			rows[i].leads ? 0 : -ENETUNREACH);
		assert_int_equal(
			ip_reach(h->ip, &dst, h->now), rows[i].leads ? -EAGAIN : -ENETUNREACH);
	}
	host_forget(h);
	host_free(h);
}

/* Who is doubted is asked, once for all that doubt him now; where nobody is, nothing is sent. */
static void doubts_ask_the_next_hop(void **state)
{
	static const struct {
		const char *dst;
		bool used, asks;
	} rows[] = {
		{"10.0.0.2", true, true},
		{"192.0.2.9", true, true},
		{"fd00::2", true, true},
		{"2001:db8::9", true, true},
		{"10.0.0.2", false, false}, /* nobody knows it */
		{"fd00::2", false, false},
		{"10.0.0.1", false, false},
		{"fd00::1", false, false},
		{"192.0.3.9", false, false},
		{"2001:db9::9", false, false},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct host *h = routed_host();
		struct ip_addr dst = host_addr(rows[i].dst);
		struct ip_path p;

		if (rows[i].used) {
			ip_case_path(h, &p, rows[i].dst);
			ip_case_answer(h);
			assert_int_equal(ip_case_send(h, &p), 0);
			host_run(h, 2 * SECOND);
			host_forget(h);
		}
		for (unsigned k = 0; k < 3; k++) {
			assert_false(ip_doubt(h->ip, &dst, h->now));
			assert_int_equal(h->n_tx, rows[i].asks);
		}
		host_forget(h);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_errors),
		cmocka_unit_test(neighbour_failure_comes_back_as_an_error),
		cmocka_unit_test(outdated_path_confirms_nothing),
		cmocka_unit_test(path_follows_the_route_table),
		cmocka_unit_test(paths_lead_where_routes_say),
		cmocka_unit_test(paths_without_a_link_have_no_neighbour),
		cmocka_unit_test(next_hops_and_reach),
		cmocka_unit_test(packets_wait_for_the_neighbour),
		cmocka_unit_test(told_that_it_is_too_big),
		cmocka_unit_test(a_default_route_does_not_lead_everywhere),
		cmocka_unit_test(doubts_ask_the_next_hop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
