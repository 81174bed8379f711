/* SPDX-License-Identifier: BSD-2-Clause */
/* Where packets to one destination go. */
#include "ip/stack.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_errors),
		cmocka_unit_test(neighbour_failure_comes_back_as_an_error),
		cmocka_unit_test(outdated_path_confirms_nothing),
		cmocka_unit_test(path_follows_the_route_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
