/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/address.h"

#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <netinet/in.h>

static void endpoints_survive_the_kernels_form(void **state)
{
	static const char *const text[] = {"192.0.2.1", "2001:db8::7", "0.0.0.0", "::"};

	for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++) {
		struct ip_endpoint e = fixture_at(text[i], 4711), back;
		struct sockaddr_storage sa;

		sock_address_put(&e, &sa);
		assert_int_equal(sa.ss_family, sock_family(&e.addr));
		sock_address_get(&sa, &back);
		assert_int_equal(back.port, 4711);
		assert_true(ip_addr_equal(&back.addr, &e.addr));
	}
}

static void a_scope_is_told_in_its_place(void **state)
{
	struct ip_endpoint e = fixture_at("fe80::1", 4711), bare = e, back;
	struct sockaddr_storage sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&sa;

	e.addr = ip_addr_with_scope(&e.addr, 9);
	sock_address_put(&e, &sa);
	assert_int_equal(v6->sin6_scope_id, 9);
	assert_memory_equal(&v6->sin6_addr, bare.addr.b, 16);
	sock_address_get(&sa, &back);
	assert_true(ip_addr_equal(&back.addr, &e.addr));
	sock_address_put(&bare, &sa);
	assert_int_equal(v6->sin6_scope_id, 0);
}

static void a_source_is_the_hosts_own(void **state)
{
	struct ip_addr local, loopback = fixture_at("127.0.0.1", 0).addr;

	assert_int_equal(sock_address_source(&loopback, &local), 0);
	assert_true(ip_addr_equal(&local, &loopback));
	assert_true(sock_address_is_host(&loopback));
}

static void an_address_of_others_is_not(void **state)
{
	/* RFC 5737 */
	struct ip_addr other = fixture_at("192.0.2.254", 0).addr;

	assert_false(sock_address_is_host(&other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endpoints_survive_the_kernels_form),
		cmocka_unit_test(a_scope_is_told_in_its_place),
		cmocka_unit_test(a_source_is_the_hosts_own),
		cmocka_unit_test(an_address_of_others_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
