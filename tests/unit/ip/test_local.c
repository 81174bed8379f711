/* SPDX-License-Identifier: BSD-2-Clause */
/* Our addresses: how they are announced, and which is used. */
#include "local_case.h"

#include "ip/stack.h"

#include <errno.h>
#include <stdio.h>

static void refusals(void **state)
{
	struct host *h = host_new();
	char text[32];
	int rc = 0;

	assert_int_equal(local_case_add(h, "0.0.0.0", 24), -EINVAL);
	assert_int_equal(local_case_add(h, "::", 64), -EINVAL);
	assert_int_equal(local_case_add(h, "224.0.0.1", 24), -EINVAL);
	assert_int_equal(local_case_add(h, "ff02::1", 64), -EINVAL);
	assert_int_equal(local_case_add(h, "127.0.0.1", 8), -EINVAL);
	assert_int_equal(local_case_add(h, "255.255.255.255", 32), -EINVAL);
	assert_int_equal(local_case_add(h, "10.0.0.1", 33), -EINVAL);
	assert_int_equal(local_case_add(h, "fd00::1", 129), -EINVAL);
	host_expect_nothing(h);
	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	assert_int_equal(local_case_add(h, "10.0.0.1", 16), -EEXIST);
	assert_int_equal(local_case_add(h, "10.0.0.2", 24), 0); /* a second one in the subnet */
	for (unsigned i = 3; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "10.0.0.%u", i);
		rc = local_case_add(h, text, 24);
	}
	assert_int_equal(rc, -ENOSPC);
	host_free(h);
}

static void ipv4_is_probed_then_announced(void **state)
{
	static const char probe[] =
		"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 0a 00 00 01";
	static const char announcement[] =
		"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 01";
	struct host *h = host_new();

	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	host_expect(h, probe);
	host_run(h, SECOND + SECOND / 10);
	host_expect(h, probe);
	host_run(h, SECOND);
	host_expect(h, probe);
	host_expect_nothing(h);
	host_run(h, 2 * SECOND);
	host_expect(h, announcement);
	host_run(h, 2 * SECOND);
	host_expect(h, announcement);
	host_run(h, 60 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

static void ipv6_brings_a_link_local_address(void **state)
{
	struct host *h = host_new();
	struct ip_addr ll = host_addr("fe80::ff:fe00:1");

	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	assert_false(ip_addr_is_local(h->ip, &ll));
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_true(ip_addr_is_local(h->ip, &ll));
	assert_int_equal(h->ip->local.n, 3);
	assert_int_equal(h->ip->local.a[1].prefix_len, 64);
	assert_int_equal(h->ip->local.a[1].addr.b[0], 0xfd);
	assert_true(ip_addr_equal(&h->ip->local.a[2].addr, &ll));
	host_free(h);
}

/** What a configuration may have beside it. */
static void sixteen_find_room_beside_the_link_local_one(void **state)
{
	struct host *h = host_new();
	struct ip_addr ll = host_addr("fe80::ff:fe00:1");
	char text[32];

	for (unsigned i = 1; i < 16; i++) {
		snprintf(text, sizeof text, "10.0.0.%u", i);
		assert_int_equal(local_case_add(h, text, 24), 0);
	}
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_true(ip_addr_is_local(h->ip, &ll));
	host_free(h);
	h = host_new();
	for (unsigned i = 1; i <= 16; i++) {
		snprintf(text, sizeof text, "fd00:0:0:%x::1", i);
		assert_int_equal(local_case_add(h, text, 64), 0);
	}
	assert_true(ip_addr_is_local(h->ip, &ll));
	assert_int_equal(local_case_add(h, "fd00:0:0:ff::1", 64), -ENOSPC);
	host_free(h);
}

/** What was said while the link was down was not heard: it is said again. */
static void link_that_comes_up_hears_all_again(void **state)
{
	struct host *h = host_new();
	struct ip_addr group = host_addr("239.1.2.3");
	struct local_case_said first, again;

	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_run(h, 20 * SECOND);
	first = local_case_said(h);
	assert_int_equal(first.arp, 3 + 2);
	assert_int_equal(first.ns, 2);
	assert_int_equal(first.na, 2);
	assert_int_equal(first.rs, 3);
	assert_int_equal(first.other, 0);
	for (unsigned i = 0; i < 3; i++) {
		ip_link_up(h->ip, h->now);
		assert_in_range(h->n_tx, 1 + 2 + 2, 7); /* at once */
		host_run(h, 20 * SECOND);
		again = local_case_said(h);
		assert_int_equal(again.arp, first.arp);
		assert_int_equal(again.ns, first.ns);
		assert_int_equal(again.na, first.na);
		assert_int_equal(again.rs, first.rs);
		assert_int_equal(again.igmp, first.igmp);
		assert_in_range(again.mld, 2, first.mld);
		assert_int_equal(again.other, 0);
	}
	/* No group has more users by that. */
	ip_group_leave(h->ip, &group, h->now);
	assert_false(ip_group_has(h->ip, &group));
	assert_int_equal(h->ip->mld.n, 1); /* both addresses end alike */
	assert_int_equal(h->ip->mld.group[0].users, 2);
	host_forget(h);
	host_free(h);

	h = host_new_no_link();
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	ip_link_up(h->ip, h->now);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/** Groups are reported again when there is an address to do so from, not for each address. */
static void reports_do_not_multiply_by_addresses(void **state)
{
	struct host *h = host_new();
	char text[32];

	for (unsigned i = 1; i <= 8; i++) {
		snprintf(text, sizeof text, "fd00::%u", i);
		assert_int_equal(local_case_add(h, text, 64), 0);
	}
	host_run(h, 20 * SECOND);
	host_forget(h);
	ip_link_up(h->ip, h->now);
	host_run(h, 20 * SECOND);
	assert_in_range(local_case_said(h).mld, 2, 4);
	host_free(h);
}

static void source_by_subnet_scope_and_prefix(void **state)
{
	struct host *h = host_new();
	struct ip_addr gw = host_addr("10.1.0.254"), any = host_addr("0.0.0.0");
	struct ip_addr gw6 = host_addr("fe80::9"), any6 = host_addr("::");

	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	assert_int_equal(local_case_add(h, "10.1.0.1", 24), 0);
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_int_equal(local_case_add(h, "2001:db8::1", 64), 0);
	assert_int_equal(ip_route_add(h->ip, &any, 0, &gw), 0);
	assert_int_equal(ip_route_add(h->ip, &any6, 0, &gw6), 0);
	local_case_expect_source(h, "10.0.0.9", "10.0.0.1");
	local_case_expect_source(h, "10.1.0.9", "10.1.0.1");
	local_case_expect_source(h, "8.8.8.8", "10.1.0.1");
	local_case_expect_source(h, "10.0.0.1", "10.0.0.1"); /* to ourselves, from the same */
	local_case_expect_source(h, "fe80::5", "fe80::ff:fe00:1");
	local_case_expect_source(h, "fd00::5", "fd00::1");
	local_case_expect_source(h, "2001:db8:5::5", "2001:db8::1");
	local_case_expect_source(h, "fd99::5", "fd00::1");
	/* Groups of the link from the address of the link, and others not. */
	local_case_expect_source(h, "ff02::1234", "fe80::ff:fe00:1");
	local_case_expect_source(h, "ff0e::1234", "fd00::1");
	host_free(h);
}

static void broadcast_addresses(void **state)
{
	struct host *h = host_new();
	struct ip_addr a;

	assert_int_equal(local_case_add(h, "10.0.0.1", 24), 0);
	assert_int_equal(local_case_add(h, "10.2.0.0", 31), 0);
	a = host_addr("10.0.0.255");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.0.0");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("255.255.255.255");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.1.255");
	assert_false(local_is_broadcast(h->ip, &a));
	a = host_addr("10.2.0.1"); /* RFC 3021 */
	assert_false(local_is_broadcast(h->ip, &a));
	a = host_addr("ff02::1");
	assert_false(local_is_broadcast(h->ip, &a));
	host_free(h);
}

/** A prefix of no bits: the whole of IPv4 is the subnet. */
static void broadcast_of_everything(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("0.0.0.0");

	assert_false(local_is_broadcast(h->ip, &a));
	assert_int_equal(local_case_add(h, "10.0.0.1", 0), 0);
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.0.255");
	assert_false(local_is_broadcast(h->ip, &a));
	host_free(h);
}

/** Without room in the table of routes for its subnet an address is not ours. */
static void subnet_needs_a_route(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("10.77.0.1");
	char text[32];
	int rc = 0;

	for (unsigned i = 0; rc == 0; i++) {
		struct ip_addr net;

		snprintf(text, sizeof text, "10.1.%u.0", i);
		net = host_addr(text);
		rc = ip_route_add(h->ip, &net, 24, NULL);
	}
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(local_case_add(h, "10.77.0.1", 24), -ENOSPC);
	assert_false(ip_addr_is_local(h->ip, &a));
	/* In a subnet that is there, it is. */
	assert_int_equal(local_case_add(h, "10.1.0.1", 24), 0);
	host_free(h);
}

/** Its solicited-node group has no place any more: it works, and that is told. */
static void address_without_its_group_is_told(void **state)
{
	struct host *h = host_new();
	struct ip_addr group = host_addr("ff0e::1"), a = host_addr("fd00::1");

	for (unsigned i = 0; i < 256; i++) {
		group.b[14] = (uint8_t)i;
		assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
		host_forget(h);
	}
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_non_null(strstr(h->log_text, "too many groups"));
	assert_true(ip_addr_is_local(h->ip, &a));
	host_forget(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(ipv4_is_probed_then_announced),
		cmocka_unit_test(ipv6_brings_a_link_local_address),
		cmocka_unit_test(sixteen_find_room_beside_the_link_local_one),
		cmocka_unit_test(link_that_comes_up_hears_all_again),
		cmocka_unit_test(reports_do_not_multiply_by_addresses),
		cmocka_unit_test(source_by_subnet_scope_and_prefix),
		cmocka_unit_test(broadcast_addresses),
		cmocka_unit_test(broadcast_of_everything),
		cmocka_unit_test(subnet_needs_a_route),
		cmocka_unit_test(address_without_its_group_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
