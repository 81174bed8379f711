/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each peer may begin a handshake. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/rate.h"

#define SECOND UINT64_C(1000000000)
#define RATE   1000u
#define BURST  (TLS_RATE_SECONDS * RATE)

static struct tls_rate rate;

static int set_up(void **state)
{
	rate = (struct tls_rate){.interval = SECOND / RATE, .key = {{{1, 2}}, {{3, 4}}}};
	return 0;
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/** @return how many of @p n begin at @p now. */
static unsigned begin(const struct ip_addr *peer, unsigned n, uint64_t now)
{
	unsigned begun = 0;

	while (n--)
		begun += tls_rate_take(&rate, peer, now);
	return begun;
}

static void a_burst_and_then_the_rate(void **state)
{
	struct ip_addr a = addr("10.0.0.1");
	uint64_t now = 5 * SECOND;
	unsigned all;

	assert_int_equal(begin(&a, 3 * BURST, now), BURST);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(begin(&a, BURST, now += SECOND / 10), RATE / 10);
	/* Many small steps are no more than few large ones. */
	all = 0;
	for (unsigned i = 0; i < 10000; i++)
		all += begin(&a, 3, now += SECOND / 10000);
	assert_in_range(all, RATE - 1, RATE);
	assert_int_equal(begin(&a, 3 * BURST, now + 100 * SECOND), BURST);
}

static void others_have_their_own(void **state)
{
	struct ip_addr a = addr("10.0.0.1"), b = addr("10.0.0.2"), net = addr("fd00::1"),
		       same = addr("fd00::2:1"), other = addr("fd00:0:0:1::1");

	assert_int_equal(begin(&a, 2 * BURST, 0), BURST);
	assert_int_equal(begin(&b, 2 * BURST, 0), BURST);
	assert_int_equal(begin(&net, 2 * BURST, 0), BURST);
	assert_int_equal(begin(&same, 2 * BURST, 0), BURST);
	assert_int_equal(begin(&other, BURST, 0), BURST);
}

/** However many addresses of it a stranger has. */
static void a_network_has_one_beside(void **state)
{
	struct ip_addr a = addr("fd00::1:0");
	unsigned all = 0;

	for (unsigned i = 0; i < 64; i++) {
		a.b[15] = (uint8_t)i;
		all += begin(&a, BURST / 4, 0);
	}
	assert_int_equal(all, TLS_RATE_OF_NETWORK * BURST);
	/* Those that it may not begin empty no bucket that others have, too. */
	for (unsigned i = 0; i < 65536; i++) {
		a.b[13] = (uint8_t)(i >> 8);
		a.b[14] = (uint8_t)i;
		all += begin(&a, 1, 0);
	}
	assert_int_equal(all, TLS_RATE_OF_NETWORK * BURST);
	all = 0;
	for (unsigned place = 0; place < TLS_RATE_PLACES; place++)
		all += rate.full_at[0][place] != 0;
	assert_in_range(all, 1, 65);
}

/** Of 64 that take all they get, hardly one in a thousand others notices. */
static void attackers_do_not_shut_others_out(void **state)
{
	struct ip_addr a = addr("10.1.0.0");
	unsigned refused = 0;

	for (unsigned i = 0; i < 64; i++) {
		a.b[15] = (uint8_t)i;
		(void)begin(&a, 2 * BURST, 0);
	}
	a = addr("10.2.0.0");
	for (unsigned i = 0; i < 4096; i++) {
		a.b[14] = (uint8_t)(i >> 8);
		a.b[15] = (uint8_t)i;
		refused += begin(&a, 1, 0) == 0;
	}
	assert_in_range(refused, 0, 4);
}

static void without_a_limit_all_begin(void **state)
{
	struct ip_addr a = addr("10.0.0.1");

	rate.interval = 0;
	assert_int_equal(begin(&a, 3 * BURST, 0), 3 * BURST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_burst_and_then_the_rate, set_up),
		cmocka_unit_test_setup(others_have_their_own, set_up),
		cmocka_unit_test_setup(a_network_has_one_beside, set_up),
		cmocka_unit_test_setup(attackers_do_not_shut_others_out, set_up),
		cmocka_unit_test_setup(without_a_limit_all_begin, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
