/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/min_rtt.h"

static void test_least_of_all(void **state)
{
	struct tcp_min_rtt m = {0};

	assert_int_equal(tcp_min_rtt_get(&m), 0);
	tcp_min_rtt_sample(&m, 20 * MS, 1000);
	tcp_min_rtt_sample(&m, 10 * MS, 2000);
	tcp_min_rtt_sample(&m, 30 * MS, 3000);
	assert_int_equal(tcp_min_rtt_get(&m), 10 * MS);
}

static void test_a_longer_path_is_believed_after_a_while(void **state)
{
	struct tcp_min_rtt m = {0};

	tcp_min_rtt_sample(&m, 10 * MS, 0);
	tcp_min_rtt_sample(&m, 90 * MS, TCP_MIN_RTT_HALF_MS);
	assert_int_equal(tcp_min_rtt_get(&m), 10 * MS);
	tcp_min_rtt_sample(&m, 80 * MS, 2 * TCP_MIN_RTT_HALF_MS);
	assert_int_equal(tcp_min_rtt_get(&m), 80 * MS);
}

static void test_after_silence_only_the_new_counts(void **state)
{
	struct tcp_min_rtt m = {0};

	tcp_min_rtt_sample(&m, 10 * MS, 0);
	tcp_min_rtt_sample(&m, 90 * MS, 2 * TCP_MIN_RTT_HALF_MS);
	assert_int_equal(tcp_min_rtt_get(&m), 90 * MS);
}

static void test_bounds(void **state)
{
	struct tcp_min_rtt m = {0};

	tcp_min_rtt_sample(&m, 60000 * MS, 0);
	assert_int_equal(tcp_min_rtt_get(&m), UINT32_MAX);
	tcp_min_rtt_sample(&m, 0, 0); /* not "none" */
	assert_int_equal(tcp_min_rtt_get(&m), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_of_all),
		cmocka_unit_test(test_a_longer_path_is_believed_after_a_while),
		cmocka_unit_test(test_after_silence_only_the_new_counts),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
