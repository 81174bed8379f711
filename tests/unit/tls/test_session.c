/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with servers: each is had once, the newest, and of a bounded number. And with clients.
 */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/session.h"

static struct tls_session_list list;

static struct ip_endpoint server(uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse("10.0.0.1", &e.addr), 0);
	return e;
}

static SSL_SESSION *put(uint16_t port)
{
	struct ip_endpoint e = server(port);
	SSL_SESSION *s = SSL_SESSION_new();

	assert_non_null(s);
	tls_session_put(&list, &e, s);
	return s;
}

static SSL_SESSION *take(uint16_t port)
{
	struct ip_endpoint e = server(port);

	return tls_session_take(&list, &e);
}

static int tear_down(void **state)
{
	tls_session_clear(&list);
	return 0;
}

static void each_is_taken_once(void **state)
{
	SSL_SESSION *one = put(1), *two = put(2), *s = take(1);

	assert_ptr_equal(s, one);
	SSL_SESSION_free(s);
	assert_null(take(1));
	s = take(2);
	assert_ptr_equal(s, two);
	SSL_SESSION_free(s);
}

static void the_newest_of_a_server_counts(void **state)
{
	SSL_SESSION *s, *newest;

	put(1);
	newest = put(1);
	s = take(1);
	assert_ptr_equal(s, newest);
	SSL_SESSION_free(s);
	assert_null(take(1));
}

static void addresses_and_ports_are_told_apart(void **state)
{
	struct ip_endpoint other = server(1);

	put(1);
	assert_int_equal(ip_addr_parse("10.0.0.2", &other.addr), 0);
	assert_null(tls_session_take(&list, &other));
	assert_null(take(2));
}

static void the_oldest_gives_way(void **state)
{
	unsigned left = 0;

	for (uint16_t i = 0; i < 2 * TLS_SESSION_COUNT; i++)
		put(i);
	for (uint16_t i = 0; i < 2 * TLS_SESSION_COUNT; i++) {
		SSL_SESSION *s = take(i);

		assert_int_equal(s != NULL, i >= TLS_SESSION_COUNT);
		left += s != NULL;
		SSL_SESSION_free(s);
	}
	assert_int_equal(left, TLS_SESSION_COUNT);
}

/* ---- those that we have given tickets for --------------------------------------------------- */

static struct tls_session_given given;

static SSL_SESSION *give(uint16_t name)
{
	uint8_t id[SSL_MAX_SSL_SESSION_ID_LENGTH] = {(uint8_t)(name >> 8), (uint8_t)name};
	SSL_SESSION *s = SSL_SESSION_new();

	assert_int_equal(SSL_SESSION_set1_id(s, id, sizeof id), 1);
	tls_session_give(&given, s);
	return s;
}

static SSL_SESSION *find(uint16_t name)
{
	uint8_t id[SSL_MAX_SSL_SESSION_ID_LENGTH] = {(uint8_t)(name >> 8), (uint8_t)name};

	return tls_session_find_given(&given, id, sizeof id);
}

static int tear_down_given(void **state)
{
	tls_session_clear_given(&given);
	return 0;
}

static void a_ticket_is_the_name_of_its_session(void **state)
{
	uint8_t id[SSL_MAX_SSL_SESSION_ID_LENGTH] = {0, 1, 1};
	SSL_SESSION *one = give(1), *two = give(2);

	assert_ptr_equal(find(1), one);
	assert_ptr_equal(find(2), two);
	assert_ptr_equal(find(1), one);
	assert_null(find(3));
	assert_null(tls_session_find_given(&given, id, sizeof id));
	assert_null(tls_session_find_given(&given, id, 2));
	assert_null(tls_session_find_given(&given, id, 1));
	assert_null(tls_session_find_given(&given, id, 0));
}

static void tickets_are_bounded(void **state)
{
	unsigned left = 0;

	for (uint16_t i = 0; i < 3 * TLS_SESSION_GIVEN; i++)
		give(i);
	for (uint16_t i = 0; i < 3 * TLS_SESSION_GIVEN; i++) {
		assert_int_equal(find(i) != NULL, i >= 2 * TLS_SESSION_GIVEN);
		left += find(i) != NULL;
	}
	assert_int_equal(left, TLS_SESSION_GIVEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_is_taken_once, tear_down),
		cmocka_unit_test_teardown(the_newest_of_a_server_counts, tear_down),
		cmocka_unit_test_teardown(addresses_and_ports_are_told_apart, tear_down),
		cmocka_unit_test_teardown(the_oldest_gives_way, tear_down),
		cmocka_unit_test_teardown(a_ticket_is_the_name_of_its_session, tear_down_given),
		cmocka_unit_test_teardown(tickets_are_bounded, tear_down_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
