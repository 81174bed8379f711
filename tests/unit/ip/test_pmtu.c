/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/stack.h"

static void too_big_lowers_all_paths_to_a_destination(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr src = host_addr("10.0.0.1"), dst = host_addr("10.0.0.2");
	struct ip_path a = {.tos = 0}, b = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &a, &src, &dst, h->now), 0);
	assert_int_equal(ip_path_init(h->ip, &b, &src, &dst, h->now), 0);
	assert_int_equal(ip_path_too_big(h->ip, &a, 1400, h->now), 1400);
	assert_int_equal(a.mtu, 1400);
	(void)ip_send(h->ip, &b, IP_PROTO_TCP, host_segment(h, 100), h->now);
	assert_int_equal(b.mtu, 1400);
	/* Never raised by a message. */
	assert_int_equal(ip_path_too_big(h->ip, &a, 1450, h->now), 1400);
	host_free(h);
}

static void minima_of_the_families(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr v4 = host_addr("10.0.0.2"), v6 = host_addr("fd00::2");

	assert_int_equal(pmtu_lower(h->ip, &v4, 68, h->now), 576);
	assert_int_equal(pmtu_lower(h->ip, &v6, 0, h->now), 1280);
	assert_int_equal(pmtu_get(h->ip, &v4), 576);
	assert_int_equal(pmtu_get(h->ip, &v6), 1280);
	host_free(h);
}

static void forgotten_after_ten_minutes(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr v4 = host_addr("10.0.0.2"), other = host_addr("10.0.0.3");
	uint32_t generation;

	(void)pmtu_lower(h->ip, &v4, 1400, h->now);
	host_run(h, 300 * SECOND);
	(void)pmtu_lower(h->ip, &other, 1300, h->now);
	host_run(h, 299 * SECOND);
	assert_int_equal(pmtu_get(h->ip, &v4), 1400);
	generation = h->ip->generation;
	host_run(h, 2 * SECOND);
	assert_int_equal(pmtu_get(h->ip, &v4), 1500);
	assert_int_equal(pmtu_get(h->ip, &other), 1300);
	assert_true(h->ip->generation != generation);
	host_free(h);
}

static void lowered_again_has_one_entry(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr dst = host_addr("fd00::2");
	unsigned used = 0;

	assert_int_equal(pmtu_lower(h->ip, &dst, 1400, h->now), 1400);
	assert_int_equal(pmtu_lower(h->ip, &dst, 1300, h->now), 1300);
	assert_int_equal(pmtu_get(h->ip, &dst), 1300);
	for (unsigned i = 0; i < PMTU_BUCKETS * PMTU_WAYS; i++)
		used += h->ip->pmtu.e[i / PMTU_WAYS][i % PMTU_WAYS].mtu != 0;
	assert_int_equal(used, 1);
	/* A router advertises less for the link than the path was known to have. */
	h->ip->mtu_v6 = 1280;
	assert_int_equal(pmtu_get(h->ip, &dst), 1280);
	host_free(h);
}

static void bounded_and_the_oldest_goes(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("10.1.0.0");
	unsigned kept = 0;

	for (unsigned i = 0; i < 5000; i++) {
		a.b[14] = (uint8_t)(i >> 8);
		a.b[15] = (uint8_t)i;
		assert_int_equal(pmtu_lower(h->ip, &a, 1400, h->now + i), 1400);
		assert_int_equal(pmtu_get(h->ip, &a), 1400);
	}
	for (unsigned i = 0; i < 5000; i++) {
		a.b[14] = (uint8_t)(i >> 8);
		a.b[15] = (uint8_t)i;
		kept += pmtu_get(h->ip, &a) == 1400;
	}
	assert_int_equal(kept, PMTU_BUCKETS * PMTU_WAYS);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_big_lowers_all_paths_to_a_destination),
		cmocka_unit_test(minima_of_the_families),
		cmocka_unit_test(forgotten_after_ten_minutes),
		cmocka_unit_test(lowered_again_has_one_entry),
		cmocka_unit_test(bounded_and_the_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
