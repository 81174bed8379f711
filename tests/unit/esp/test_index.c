/* SPDX-License-Identifier: BSD-2-Clause */
/* The index: all of a hash are found, and it ends; an empty one has nobody. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/index.h"

#include <string.h>

#define MANY 4096

static struct esp_index x;

static int tear_down(void **state)
{
	esp_index_free(&x);
	return 0;
}

/** @return how often @p wanted is found; what else is found is counted in @p others. */
static unsigned found(uint32_t hash, uint32_t wanted, unsigned *others)
{
	unsigned n = 0;
	uint32_t i;

	*others = 0;
	for (uint32_t at = hash; esp_index_next(&x, &at, &i);) {
		n += i == wanted;
		*others += i != wanted;
	}
	return n;
}

static void an_empty_one_has_nobody(void **state)
{
	unsigned others;

	assert_int_equal(found(7, 0, &others), 0);
	assert_int_equal(others, 0);
	assert_true(esp_index_make(&x, 0));
	assert_int_equal(found(7, 0, &others), 0);
	assert_int_equal(others, 0);
}

static void two_of_one_hash_are_both_found(void **state)
{
	unsigned others;

	assert_true(esp_index_make(&x, 2));
	esp_index_add(&x, 5, 0);
	esp_index_add(&x, 5, 1);
	assert_int_equal(found(5, 0, &others), 1);
	assert_int_equal(found(5, 1, &others), 1);
}

/** The last place is followed by the first. */
static void it_goes_round(void **state)
{
	unsigned others;

	assert_true(esp_index_make(&x, 3));
	for (uint32_t i = 0; i < 3; i++)
		esp_index_add(&x, UINT32_MAX, i);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(found(UINT32_MAX, i, &others), 1);
}

/** As many as were said, all of one hash: the worst that a file can have. */
static void a_full_one_ends(void **state)
{
	unsigned others;

	assert_true(esp_index_make(&x, MANY));
	for (uint32_t i = 0; i < MANY; i++)
		esp_index_add(&x, 1234567, i);
	assert_int_equal(found(1234567, MANY - 1, &others), 1);
	assert_int_equal(others, MANY - 1);
}

static void making_it_again_empties_it(void **state)
{
	unsigned others;

	assert_true(esp_index_make(&x, 4));
	esp_index_add(&x, 9, 3);
	assert_true(esp_index_make(&x, 4));
	assert_int_equal(found(9, 3, &others), 0);
}

/** @return the @p i th of hosts whose addresses are @p step apart. */
static struct ip_addr host(uint32_t i, uint32_t step)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse("10.0.0.2", &a), 0);
	store_be32(a.b + 12, load_be32(a.b + 12) + i * step);
	return a;
}

/** How long chains get is a thing of chance, but always the same: some 20 at half the places. */
static void expect_hosts_spread(uint32_t step)
{
	struct ip_addr us, peer;
	unsigned most = 0, others;

	assert_int_equal(ip_addr_parse("10.0.0.1", &us), 0);
	assert_true(esp_index_make(&x, MANY));
	for (uint32_t i = 0; i < MANY; i++) {
		peer = host(i, step);
		esp_index_add(&x, esp_hash_hosts(&us, &peer), i);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		peer = host(i, step);
		assert_int_equal(found(esp_hash_hosts(&us, &peer), i, &others), 1);
		most = others > most ? others : most;
	}
	assert_in_range(most, 0, 60);
}

static void hosts_of_a_network_are_spread(void **state)
{
	expect_hosts_spread(1);
}

/** One host of each: the low bits of their addresses are the same. */
static void hosts_of_many_networks_are_spread(void **state)
{
	expect_hosts_spread(256);
	esp_index_free(&x);
	expect_hosts_spread(65536);
}

/** SPIs that follow each other, of one host: as an implementation gives them out. */
static void spis_of_a_host_are_spread(void **state)
{
	struct ip_addr us;
	unsigned most = 0, others;

	assert_int_equal(ip_addr_parse("fd00::1", &us), 0);
	assert_true(esp_index_make(&x, MANY));
	for (uint32_t i = 0; i < MANY; i++)
		esp_index_add(&x, esp_hash_sa(0xc0000000 + i, &us), i);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found(esp_hash_sa(0xc0000000 + i, &us), i, &others), 1);
		most = others > most ? others : most;
	}
	assert_in_range(most, 0, 60);
}

/** There and back are two policies. */
static void a_direction_has_its_own_hash(void **state)
{
	struct ip_addr us, peer;

	assert_int_equal(ip_addr_parse("10.0.0.1", &us), 0);
	assert_int_equal(ip_addr_parse("10.0.0.2", &peer), 0);
	assert_int_not_equal(esp_hash_hosts(&us, &peer), esp_hash_hosts(&peer, &us));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_empty_one_has_nobody, tear_down),
		cmocka_unit_test_teardown(two_of_one_hash_are_both_found, tear_down),
		cmocka_unit_test_teardown(it_goes_round, tear_down),
		cmocka_unit_test_teardown(a_full_one_ends, tear_down),
		cmocka_unit_test_teardown(making_it_again_empties_it, tear_down),
		cmocka_unit_test_teardown(hosts_of_a_network_are_spread, tear_down),
		cmocka_unit_test_teardown(hosts_of_many_networks_are_spread, tear_down),
		cmocka_unit_test_teardown(spis_of_a_host_are_spread, tear_down),
		cmocka_unit_test_teardown(a_direction_has_its_own_hash, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
