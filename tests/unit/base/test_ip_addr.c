/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ip_addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void parse_and_format(void **state)
{
	static const char *const good[] = {"10.1.2.3", "0.0.0.0", "255.255.255.255", "::", "::1",
		"fe80::1", "2001:db8::5:0:0:1"};
	static const char *const bad[] = {"", "10.1.2", "10.1.2.256", "10.1.2.3 ", "fe80::1%eth0",
		"1::2::3", "host", "10.1.2.3/8"};
	char text[IP_ADDR_STRLEN];
	struct ip_addr a;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		a = addr(good[i]);
		assert_string_equal(ip_addr_format(&a, text), good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ip_addr_parse(bad[i], &a), -EINVAL);
}

static void endpoints_are_formatted(void **state)
{
	static const struct {
		const char *addr;
		uint16_t port;
		const char *text;
	} cases[] = {
		{"10.1.2.3", 7174, "10.1.2.3:7174"},
		{"255.255.255.255", 65535, "255.255.255.255:65535"},
		{"0.0.0.0", 0, "0.0.0.0:0"},
		{"fd00::1", 7174, "[fd00::1]:7174"},
		{"2001:db8:1111:2222:3333:4444:5555:6666", 65535,
			"[2001:db8:1111:2222:3333:4444:5555:6666]:65535"},
	};
	char text[IP_ENDPOINT_STRLEN];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ip_endpoint e = {addr(cases[i].addr), cases[i].port};

		assert_string_equal(ip_endpoint_format(&e, text), cases[i].text);
	}
}

static void parse_cidr(void **state)
{
	static const char *const bad[] = {"10.0.0.1/33", "::/129", "10.0.0.1/", "10.0.0.1/-1",
		"10.0.0.1/+8", "10.0.0.1/8x", "10.0.0.1/0008", "/8",
		"1111111111111111111111111111111111111111111111111111/8"};
	struct ip_addr a, b = addr("10.0.0.1");
	unsigned len;

	assert_int_equal(ip_addr_parse_cidr("10.0.0.1/24", &a, &len), 0);
	assert_true(ip_addr_equal(&a, &b));
	assert_int_equal(len, 24);
	assert_int_equal(ip_addr_parse_cidr("10.0.0.1", &a, &len), 0);
	assert_int_equal(len, 32);
	assert_int_equal(ip_addr_parse_cidr("fd00::1", &a, &len), 0);
	assert_int_equal(len, 128);
	assert_int_equal(ip_addr_parse_cidr("::/0", &a, &len), 0);
	assert_int_equal(len, 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ip_addr_parse_cidr(bad[i], &a, &len), -EINVAL);
}

static void kinds(void **state)
{
	struct ip_addr a;

	a = addr("0.0.0.0");
	assert_true(ip_addr_is_any(&a) && ip_addr_is_v4(&a));
	a = addr("::");
	assert_true(ip_addr_is_any(&a) && !ip_addr_is_v4(&a));
	a = addr("0.0.0.1");
	assert_false(ip_addr_is_any(&a));
	a = addr("fe80::1");
	assert_true(ip_addr_is_link_local(&a));
	a = addr("febf::1");
	assert_true(ip_addr_is_link_local(&a));
	a = addr("fec0::1");
	assert_false(ip_addr_is_link_local(&a));
	a = addr("224.0.0.1");
	assert_true(ip_addr_is_multicast(&a));
	a = addr("240.0.0.1");
	assert_false(ip_addr_is_multicast(&a));
	a = addr("ff02::1");
	assert_true(ip_addr_is_multicast(&a));
	a = addr("127.9.9.9");
	assert_true(ip_addr_is_loopback(&a));
	a = addr("::1");
	assert_true(ip_addr_is_loopback(&a));
	a = addr("::2");
	assert_false(ip_addr_is_loopback(&a));
}

static void a_link_local_address_keeps_its_interface(void **state)
{
	struct ip_addr bare = addr("fe80::1234:5678:9abc:def0"), other = addr("fd00::1"), a;
	char text[IP_ADDR_STRLEN];

	assert_int_equal(ip_addr_scope(&bare), 0);
	a = ip_addr_with_scope(&bare, 3);
	assert_int_equal(ip_addr_scope(&a), 3);
	assert_false(ip_addr_equal(&a, &bare));
	assert_string_equal(ip_addr_format(&a, text), "fe80::1234:5678:9abc:def0%3");
	a = ip_addr_with_scope(&a, UINT32_MAX);
	assert_int_equal(ip_addr_scope(&a), UINT32_MAX);
	assert_string_equal(ip_addr_format(&a, text), "fe80::1234:5678:9abc:def0%4294967295");
	a = ip_addr_with_scope(&a, 0);
	assert_true(ip_addr_equal(&a, &bare));
	assert_string_equal(ip_addr_format(&a, text), "fe80::1234:5678:9abc:def0");
	/* There is no room in others. */
	a = ip_addr_with_scope(&other, 3);
	assert_true(ip_addr_equal(&a, &other));
	assert_int_equal(ip_addr_scope(&a), 0);
	other = addr("fe80:0001::1");
	a = ip_addr_with_scope(&other, 3);
	assert_true(ip_addr_equal(&a, &other));
	assert_int_equal(ip_addr_scope(&a), 0);
}

static void prefixes(void **state)
{
	struct ip_addr a = addr("10.1.2.3"), net = addr("10.1.0.0"), any = addr("0.0.0.0");
	struct ip_addr a6 = addr("2001:db8:8000::1"), net6 = addr("2001:db8::"), any6 = addr("::");

	assert_true(ip_addr_in_prefix(&a, &net, 16));
	assert_true(ip_addr_in_prefix(&a, &net, 22));
	assert_false(ip_addr_in_prefix(&a, &net, 23));
	assert_false(ip_addr_in_prefix(&a, &net, 32));
	assert_false(ip_addr_in_prefix(&a, &net, 33));
	assert_true(ip_addr_in_prefix(&a, &a, 32));
	assert_true(ip_addr_in_prefix(&a, &any, 0));
	assert_true(ip_addr_in_prefix(&a6, &net6, 32));
	assert_false(ip_addr_in_prefix(&a6, &net6, 33));
	assert_true(ip_addr_in_prefix(&a6, &a6, 128));
	assert_false(ip_addr_in_prefix(&a6, &a6, 129));
	/* ::/0 does not hold IPv4, whatever our form of it looks like. */
	assert_false(ip_addr_in_prefix(&a, &any6, 0));
	assert_false(ip_addr_in_prefix(&a6, &any, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_and_format),
		cmocka_unit_test(endpoints_are_formatted),
		cmocka_unit_test(parse_cidr),
		cmocka_unit_test(kinds),
		cmocka_unit_test(a_link_local_address_keeps_its_interface),
		cmocka_unit_test(prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
