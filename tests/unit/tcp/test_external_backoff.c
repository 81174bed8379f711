/* SPDX-License-Identifier: BSD-2-Clause */
/* When a device is found to lose what it gathers, for how long that counts, and what is no such. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tcp/external_backoff.h"

#define SECOND UINT64_C(1000000000)
#define NEVER  1000

/** Each is lost. @return how many are sent before copies are made, for @p seconds; or NEVER. */
static unsigned lose_all(struct tcp_external_backoff *b, uint64_t now, uint64_t *seconds)
{
	for (unsigned n = 1; n < NEVER; n++) {
		uint64_t ns = tcp_external_backoff_sent(b, now);

		tcp_external_backoff_lost(b);
		if (!ns)
			continue;
		*seconds = ns / SECOND;
		return n;
	}
	return NEVER;
}

static void send_good(struct tcp_external_backoff *b, unsigned n)
{
	while (n--)
		assert_int_equal(tcp_external_backoff_sent(b, 0), 0);
}

static void test_all_are_lost(void **state)
{
	static const unsigned minutes[] = {1, 2, 4, 8, 16, 32, 64, 64, 64};
	struct tcp_external_backoff b = {0};
	uint64_t now = 7 * SECOND, seconds = 0;

	assert_false(tcp_external_backoff_lasts(&b, now));
	for (unsigned i = 0; i < sizeof minutes / sizeof *minutes; i++) {
		assert_int_equal(
			lose_all(&b, now, &seconds), TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD);
		assert_int_equal(seconds, 60 * minutes[i]);
		now += seconds * SECOND - 1;
		assert_true(tcp_external_backoff_lasts(&b, now));
		now++;
		assert_false(tcp_external_backoff_lasts(&b, now));
	}
}

/** One series that is not bad in between does not. */
static void test_what_is_forgotten(void **state)
{
	struct tcp_external_backoff b = {0};
	uint64_t seconds = 0;

	for (unsigned i = 0; i < 3; i++)
		lose_all(&b, 0, &seconds);
	send_good(&b, TCP_EXTERNAL_SERIES * (TCP_EXTERNAL_GOOD - 1));
	lose_all(&b, 0, &seconds);
	assert_int_equal(seconds, 60 * 8);
	send_good(&b, TCP_EXTERNAL_SERIES * (TCP_EXTERNAL_GOOD + 1));
	lose_all(&b, 0, &seconds);
	assert_int_equal(seconds, 60);
}

/** As those do that cross pages, at MTU 1500. */
static void test_each_third_is_lost(void **state)
{
	struct tcp_external_backoff b = {0};
	unsigned n = 1;

	while (!tcp_external_backoff_sent(&b, 0)) {
		if (n++ % 3 == 0)
			tcp_external_backoff_lost(&b);
		assert_true(n < NEVER);
	}
	assert_int_equal(n, TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD);
}

static void test_each_fifth_is_lost(void **state)
{
	struct tcp_external_backoff b = {0};

	for (unsigned i = 0; i < 100 * TCP_EXTERNAL_SERIES; i++) {
		send_good(&b, 1);
		if (i % 5 == 0)
			tcp_external_backoff_lost(&b);
	}
}

/** A link that loses all for a while, and is seen to when all is sent again. */
static void test_flights_are_lost(void **state)
{
	struct tcp_external_backoff b = {0};

	for (unsigned i = 0; i < 10; i++) {
		send_good(&b, 100);
		for (unsigned j = 0; j < 100; j++)
			tcp_external_backoff_lost(&b);
		send_good(&b, TCP_EXTERNAL_SERIES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_lost),
		cmocka_unit_test(test_what_is_forgotten),
		cmocka_unit_test(test_each_third_is_lost),
		cmocka_unit_test(test_each_fifth_is_lost),
		cmocka_unit_test(test_flights_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
