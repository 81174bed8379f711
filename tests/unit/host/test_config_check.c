/* SPDX-License-Identifier: BSD-2-Clause */
/* What concerns several keys: each rejection with its whole sentence, and what is just right. */
#include "host/config.h"
#include "tls/tls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

#define LOOPBACK                                                                             \
	", which is of the loopback network; expected an address of the port's network, or " \
	"\"port\" kernel"
#define NETWORK   ", which names the network or its broadcast; expected the address of a host in it"
#define ROUTER    ", which names the network of an \"address\" or its broadcast; expected a router's"
#define OURS      ", which is our own address; expected a router's"
#define CLEAR     ", so nothing would be encrypted; expected on or required, or else off"
#define ELSEWHERE ", which no \"address\" has in its network; expected a neighbour"

struct check_case {
	const char *set[6];
	const char *says; /**< NULL: it is good */
};

static const struct check_case cases[] = {
	{{"port=net_null0", "address=10.0.0.1/24"}, NULL},
	/* Over the host's own TCP there may be nothing at all. */
	{{NULL}, NULL},
	{{"port=kernel"}, NULL},
	{{"address=10.0.0.1/24"}, NULL},
	{{"port=kernel", "vlan=5"}, "\"vlan\" is given, but \"port\" is kernel; expected an "
				    "interface of the host's for it (ip link)"},
	{{"port=net_null0", "address=10.0.0.1/24", "vlan=4094"}, NULL},
	{{"port=kernel", "mtu=1500"}, "\"mtu\" is given, but \"port\" is kernel; expected that "
				      "of the host's interfaces (ip link)"},
	{{"mac=02:00:00:00:00:01"}, "\"mac\" is given, but \"port\" is kernel; expected that of "
				    "the host's interfaces"},
	{{"eal=--no-huge"},
		"\"eal\" is given, but \"port\" is kernel; expected none, as there is no EAL"},
	{{"ipsec=/tmp/x"}, "\"ipsec\" is given, but \"port\" is kernel; expected the host's own "
			   "IPsec (ip xfrm)"},
	{{"capture=/tmp/x"}, "\"capture\" is given, but \"port\" is kernel; expected tcpdump on "
			     "the host's interface"},
	{{"port=net_null0"},
		"\"address\" is missing; expected at least one, such as address=10.0.0.1/24, "
		"as \"port\" is not kernel"},
	/* Of two that are wrong the first is told. */
	{{"gateway=10.0.0.1", "mtu=1500"}, "\"gateway\" is given, but \"port\" is kernel; "
					   "expected a route of the host's (ip route)"},
	/* The network and its broadcast are no hosts (RFC 1122); /31 and /32 have neither. */
	{{"port=net_null0", "address=10.0.0.0/24"}, "\"address\" is 10.0.0.0/24" NETWORK},
	{{"port=net_null0", "address=10.0.0.255/24"}, "\"address\" is 10.0.0.255/24" NETWORK},
	{{"port=net_null0", "address=10.0.0.1/24", "address=10.255.255.255/8"},
		"\"address\" is 10.255.255.255/8" NETWORK},
	{{"port=net_null0", "address=10.0.0.3/30"}, "\"address\" is 10.0.0.3/30" NETWORK},
	{{"port=net_null0", "address=10.0.0.255/16"}, NULL},
	{{"port=net_null0", "address=10.0.0.0/31"}, NULL},
	{{"port=net_null0", "address=10.0.0.1/31"}, NULL},
	{{"port=net_null0", "address=10.0.0.7/32"}, NULL},
	{{"port=net_null0", "address=fd00::/64"}, NULL},
	/* The loopback network is the host's. */
	{{"port=net_null0", "address=127.0.0.1/8"}, "\"address\" is 127.0.0.1" LOOPBACK},
	{{"port=net_null0", "address=10.0.0.1/24", "address=::1/128"},
		"\"address\" is ::1" LOOPBACK},
	{{"address=127.0.0.2/8", "address=::1/128"}, NULL},
	/* RFC 8200 section 5. */
	{{"port=net_null0", "address=fd00::1/64", "mtu=1279"},
		"\"mtu\" is 1279, but the IPv6 address fd00::1 needs at least 1280"},
	{{"port=net_null0", "address=10.0.0.1/24", "address=fd00::2/64", "mtu=576"},
		"\"mtu\" is 576, but the IPv6 address fd00::2 needs at least 1280"},
	{{"port=net_null0", "address=fd00::1/64", "mtu=1280"}, NULL},
	{{"port=net_null0", "address=10.0.0.1/24", "mtu=576"}, NULL},
	/* Keys that are not used have to be said to be so. */
	{{"port=net_null0", "address=10.0.0.1/24", "tls_certificate=/c"},
		"\"tls_certificate\" is given, but \"tls\" is not" CLEAR},
	{{"port=net_null0", "address=10.0.0.1/24", "tls_key=/k"},
		"\"tls_key\" is given, but \"tls\" is not" CLEAR},
	{{"address=127.0.0.1/8", "tls_ca=/c"}, "\"tls_ca\" is given, but \"tls\" is not" CLEAR},
	{{"address=127.0.0.1/8", "tls_psk=/p"}, "\"tls_psk\" is given, but \"tls\" is not" CLEAR},
	{{"address=127.0.0.1/8", "tls_psk=/p", "tls=off"}, NULL},
	/* A gateway is a neighbour, and another host. */
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=10.0.1.1"},
		"\"gateway\" is 10.0.1.1" ELSEWHERE},
	{{"port=net_null0", "address=fd00::1/64", "gateway=10.0.0.1"},
		"\"gateway\" is 10.0.0.1" ELSEWHERE},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=fd00::1"},
		"\"gateway\" is fd00::1" ELSEWHERE},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=10.0.0.2", "gateway=10.0.1.1"},
		"\"gateway\" is 10.0.1.1" ELSEWHERE},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=10.0.0.1"},
		"\"gateway\" is 10.0.0.1" OURS},
	{{"port=net_null0", "address=10.0.0.1/24", "address=10.0.1.1/24", "gateway=10.0.1.1"},
		"\"gateway\" is 10.0.1.1" OURS},
	{{"port=net_null0", "address=fd00::1/64", "gateway=fd00::1"},
		"\"gateway\" is fd00::1" OURS},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=10.0.0.255"},
		"\"gateway\" is 10.0.0.255" ROUTER},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=10.0.0.0"},
		"\"gateway\" is 10.0.0.0" ROUTER},
	{{"port=net_null0", "address=10.0.0.1/16", "gateway=10.0.0.255"}, NULL},
	{{"port=net_null0", "address=10.0.0.1/31", "gateway=10.0.0.0"}, NULL},
	{{"port=net_null0", "address=10.0.0.1/24", "address=10.0.1.1/24", "gateway=10.0.1.2"},
		NULL},
	{{"port=net_null0", "address=fd00::1/64", "gateway=fd00::"}, NULL},
	{{"port=net_null0", "address=fd00::1/64", "gateway=fe80::1"}, NULL},
	{{"port=net_null0", "address=10.0.0.1/24", "gateway=fe80::1"}, NULL},
};

/* TLS: who are we, and who is believed? */
static const struct check_case tls_cases[] = {
	{{"port=net_null0", "address=10.0.0.1/24", "tls=on"},
		"\"tls\" is not off, but \"tls_certificate\" is missing; expected it, or "
		"\"tls_psk\""},
	{{"port=net_null0", "address=10.0.0.1/24", "tls=required", "tls_certificate=/c"},
		"\"tls\" is not off, but \"tls_key\" is missing; expected it, or \"tls_psk\""},
	{{"port=net_null0", "address=10.0.0.1/24", "tls=on", "tls_certificate=/c", "tls_key=/k"},
		"\"tls\" is not off, but \"tls_ca\" is missing, so nobody could be believed; "
		"expected the path of a file in PEM"},
	{{"port=net_null0", "address=10.0.0.1/24", "tls=on", "tls_psk=/p", "tls_ca=/c"},
		"\"tls_psk\" and certificates are given; expected one of them"},
	{{"port=net_null0", "address=10.0.0.1/24", "tls=on", "tls_psk=/p"}, NULL},
};

static void expect(const struct check_case *want, const char *says)
{
	struct config_error e;
	struct config c;

	config_init(&c);
	for (unsigned j = 0; want->set[j]; j++)
		assert_int_equal(config_set(&c, "--set", want->set[j], &e), 0);
	memset(&e, 0, sizeof e);
	assert_int_equal(config_check(&c, &e), says ? -EINVAL : 0);
	assert_string_equal(e.text, says ? says : "");
}

static void test_all(void **state)
{
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(&cases[i], cases[i].says);
}

/* Without OpenSSL nothing of it is as it should be, and only that is said. */
static void test_tls(void **state)
{
	static const char absent[] = "\"tls\" is not off, but this uiwarp was built without "
				     "OpenSSL; expected off";

	for (unsigned i = 0; i < sizeof tls_cases / sizeof tls_cases[0]; i++)
		expect(&tls_cases[i], tls_is_available() ? tls_cases[i].says : absent);
}

static void test_ipsec(void **state)
{
	static const struct check_case given = {
		.set = {"port=net_null0", "address=10.0.0.1/24", "ipsec=/f"}};

	expect(&given, tls_is_available() ? NULL
					  : "\"ipsec\" is given, but this uiwarp was built "
					    "without OpenSSL; expected none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_ipsec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
