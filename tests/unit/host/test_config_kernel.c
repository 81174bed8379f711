/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_kernel.h"

#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* After the four that it needs. */
#include <cmocka.h>

static struct config c;
static struct config_error e;

static int setup(void **state)
{
	config_init(&c);
	memset(&e, 0, sizeof e);
	return 0;
}

static struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void test_is(void **state)
{
	assert_true(config_is_kernel(&c)); /* the default */
	assert_int_equal(config_set(&c, "--set", "port=net_null0", &e), 0);
	assert_false(config_is_kernel(&c));
	assert_int_equal(config_set(&c, "--set", "port=kernel", &e), 0);
	assert_true(config_is_kernel(&c));
}

static void test_all_of_the_hosts(void **state)
{
	bool loopback = false;

	assert_int_equal(config_kernel_addresses(&c, &e), 0);
	assert_true(c.host_addresses);
	assert_in_range(c.num_addresses, 1, CONFIG_MAX_ADDRESSES);
	for (unsigned i = 0; i < c.num_addresses; i++) {
		const struct ip_addr *a = &c.address[i].addr;

		assert_in_range(c.address[i].prefix_len, 1, 128);
		assert_false(ip_addr_is_link_local(a) || ip_addr_is_any(a));
		/* The loopback network's are the last. */
		assert_false(loopback && !ip_addr_is_loopback(a));
		loopback = ip_addr_is_loopback(a);
		for (unsigned j = 0; j < i; j++)
			assert_false(ip_addr_equal(a, &c.address[j].addr));
	}
	assert_true(loopback);
}

static void test_named_ones(void **state)
{
	c.address[0] = (struct config_address){address("127.0.0.1"), 8};
	c.num_addresses = 1;
	assert_int_equal(config_kernel_addresses(&c, &e), 0);
	assert_false(c.host_addresses);
	assert_int_equal(c.num_addresses, 1);
}

static void test_one_of_the_loopback_network(void **state)
{
	assert_int_equal(config_set(&c, "--set", "address=127.5.5.5/8,::1/128", &e), 0);
	assert_int_equal(config_kernel_addresses(&c, &e), 0);
	assert_int_equal(c.num_addresses, 2);
	assert_true(config_kernel_interface(&c.address[0].addr, NULL));
}

static void test_anothers(void **state)
{
	/* RFC 5737 */
	assert_int_equal(config_set(&c, "--set", "address=192.0.2.254/32", &e), 0);
	assert_int_equal(config_kernel_addresses(&c, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "\"address\" is 192.0.2.254, which no interface"));
}

static void test_interface(void **state)
{
	struct ip_addr a = address("127.0.0.1"), other = address("192.0.2.254");
	char name[IF_NAMESIZE] = "";

	assert_true(config_kernel_interface(&a, name));
	assert_string_equal(name, "lo");
	assert_false(config_kernel_interface(&other, name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_is, setup),
		cmocka_unit_test_setup(test_all_of_the_hosts, setup),
		cmocka_unit_test_setup(test_named_ones, setup),
		cmocka_unit_test_setup(test_one_of_the_loopback_network, setup),
		cmocka_unit_test_setup(test_anothers, setup),
		cmocka_unit_test_setup(test_interface, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
