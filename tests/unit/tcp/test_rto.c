/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static void test_begins_with_a_second(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	assert_int_equal(tcp_rto_get(&r), 1000 * MS);
}

static void test_first_sample(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_sample(&r, 400 * MS);
	assert_int_equal(r.srtt, 400 * MS);
	assert_int_equal(r.rttvar, 200 * MS);
	assert_int_equal(tcp_rto_get(&r), 1200 * MS);
}

static void test_second_sample(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_sample(&r, 400 * MS);
	tcp_rto_sample(&r, 800 * MS);
	assert_int_equal(r.rttvar, 250 * MS); /* 3/4 200 + 1/4 400 */
	assert_int_equal(r.srtt, 450 * MS);   /* 7/8 400 + 1/8 800 */
	assert_int_equal(tcp_rto_get(&r), 1450 * MS);
}

static void test_bounds(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_sample(&r, 0);
	assert_true(r.srtt > 0);
	for (int i = 0; i < 50; i++)
		tcp_rto_sample(&r, 1000);
	assert_int_equal(tcp_rto_get(&r), 200 * MS + r.srtt); /* a delayed ACK comes on top */
	for (int i = 0; i < 100; i++)
		tcp_rto_sample(&r, 100000 * MS);
	assert_int_equal(tcp_rto_get(&r), TCP_RTO_MAX);
	/* Whatever a clock says, sums do not wrap. */
	for (int i = 0; i < 100; i++)
		tcp_rto_sample(&r, UINT64_MAX - (uint64_t)i);
	assert_int_equal(tcp_rto_get(&r), TCP_RTO_MAX);
	assert_true(r.srtt < UINT64_C(1) << 50);
}

/** RFC 7323 appendix G: many samples in a round trip are one as far as memory goes. */
static void test_many_samples_weigh_little(void **state)
{
	struct tcp_rto one, many;

	tcp_rto_init(&one);
	tcp_rto_init(&many);
	tcp_rto_sample(&one, 100 * MS);
	tcp_rto_sample(&many, 100 * MS);
	for (int round = 0; round < 4; round++) {
		tcp_rto_sample(&one, 100 * MS + 1000);
		for (int i = 0; i < 65536; i++)
			tcp_rto_sample_often(&many, 100 * MS + 1000, 16);
	}
	assert_in_range(many.srtt, one.srtt - 200, one.srtt + 200);
	assert_in_range(many.rttvar, one.rttvar * 3 / 4, one.rttvar * 5 / 4);
}

static void test_doubles_up_to_the_longest(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_expired(&r);
	assert_int_equal(tcp_rto_get(&r), 2000 * MS);
	tcp_rto_expired(&r);
	assert_int_equal(tcp_rto_get(&r), 4000 * MS);
	for (int i = 0; i < 300; i++)
		tcp_rto_expired(&r);
	assert_int_equal(tcp_rto_get(&r), TCP_RTO_MAX);
	tcp_rto_collapse(&r);
	assert_int_equal(tcp_rto_get(&r), 1000 * MS);
}

/* RFC 1122 section 4.2.3.1, Karn: progress without a sample may be the answer to the original. */
static void test_progress_keeps_the_doubling(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_expired(&r);
	tcp_rto_expired(&r);
	tcp_rto_progress(&r);
	assert_int_equal(tcp_rto_get(&r), 4000 * MS);
	tcp_rto_progress(&r);
	assert_int_equal(tcp_rto_get(&r), 4000 * MS);
}

/* The peer is back: what is lost next must not wait for a minute. */
static void test_progress_ends_an_outage(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	for (int i = 0; i < 20; i++)
		tcp_rto_expired(&r);
	tcp_rto_progress(&r);
	assert_int_equal(tcp_rto_get(&r), 4000 * MS);
	for (int i = 0; i < 20; i++)
		tcp_rto_expired(&r);
	tcp_rto_progress(&r);
	assert_in_range(tcp_rto_get(&r), 4000 * MS, 8000 * MS);
}

/* However slow the path became: one timeout in each round trip is enough to get there. */
static void test_progress_reaches_the_slowest_path(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_sample(&r, 50 * MS);
	for (int i = 0; i < 12; i++) {
		tcp_rto_expired(&r);
		tcp_rto_progress(&r);
	}
	assert_int_equal(tcp_rto_get(&r), TCP_RTO_MAX);
	tcp_rto_sample(&r, 50 * MS);
	assert_true(tcp_rto_get(&r) < 1000 * MS);
}

/* The end of RFC 6298 section 5: also when it tells of nothing but what lies behind a loss. */
static void test_doubles_until_a_sample(void **state)
{
	struct tcp_rto r;

	tcp_rto_init(&r);
	tcp_rto_sample(&r, 400 * MS);
	for (int i = 0; i < 3; i++)
		tcp_rto_expired(&r);
	assert_int_equal(tcp_rto_get(&r), 8 * 1200 * MS);
	tcp_rto_sample(&r, 400 * MS);
	assert_int_equal(tcp_rto_get(&r), 1000 * MS); /* 3/4 of the deviation */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_with_a_second),
		cmocka_unit_test(test_first_sample),
		cmocka_unit_test(test_second_sample),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_many_samples_weigh_little),
		cmocka_unit_test(test_doubles_up_to_the_longest),
		cmocka_unit_test(test_progress_keeps_the_doubling),
		cmocka_unit_test(test_progress_ends_an_outage),
		cmocka_unit_test(test_progress_reaches_the_slowest_path),
		cmocka_unit_test(test_doubles_until_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
