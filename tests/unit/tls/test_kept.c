/* SPDX-License-Identifier: BSD-2-Clause */
/* The share of each peer of what is kept for users. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/kept.h"

#include <stdio.h>
#include <string.h>

#define MOST  (1024 * 1024)
#define STEP  4096
#define CONNS (MOST / STEP)

static struct tls_kept_share share;
static struct tls_kept conn[8][CONNS];

static int set_up(void **state)
{
	share = (struct tls_kept_share){.most = MOST, .key = {{1, 2}}};
	memset(conn, 0, sizeof conn);
	return 0;
}

static int tear_down(void **state)
{
	for (unsigned p = 0; p < 8; p++)
		for (unsigned i = 0; i < CONNS; i++)
			tls_kept_clear(&share, &conn[p][i]);
	assert_int_equal(share.held, 0);
	for (unsigned i = 0; i < TLS_KEPT_PLACES; i++)
		assert_int_equal(share.of_peer[i], 0);
	return 0;
}

/** Connections of a peer take what they get. @return how much that is. */
static size_t take_all(const char *peer, struct tls_kept k[CONNS])
{
	struct ip_addr a;
	size_t got = 0;

	assert_int_equal(ip_addr_parse(peer, &a), 0);
	for (unsigned i = 0; i < CONNS; i++)
		while (tls_kept_grow(&share, &k[i], k[i].room + STEP, &a) == TLS_KEPT)
			got += STEP;
	return got;
}

static void each_peer_leaves_as_much_as_it_has(void **state)
{
	char text[32];
	size_t last = MOST;

	for (unsigned p = 0; p < 8; p++) {
		size_t got;

		snprintf(text, sizeof text, "10.0.0.%u", p + 1);
		got = take_all(text, conn[p]);
		assert_int_equal(got, last / 2);
		last -= got;
	}
	assert_int_equal(share.held, MOST - last);
}

static void what_is_not_kept_any_more_is_for_others(void **state)
{
	assert_int_equal(take_all("10.0.0.1", conn[0]), MOST / 2);
	for (unsigned i = 0; i < CONNS; i++)
		tls_kept_clear(&share, &conn[0][i]);
	assert_int_equal(take_all("10.0.0.2", conn[1]), MOST / 2);
}

static void what_is_there_is_not_asked_for_again(void **state)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse("10.0.0.1", &a), 0);
	assert_int_equal(tls_kept_grow(&share, &conn[0][0], 2 * STEP, &a), TLS_KEPT);
	assert_int_equal(tls_kept_grow(&share, &conn[0][0], STEP, &a), TLS_KEPT);
	assert_int_equal(conn[0][0].room, 2 * STEP);
	assert_int_equal(share.held, 2 * STEP);
}

static void a_network_is_a_peer(void **state)
{
	assert_int_equal(take_all("fd00::1", conn[0]), MOST / 2);
	assert_int_equal(take_all("fd00::ffff:1", conn[1]), 0);
	assert_int_equal(take_all("fd00:0:0:1::1", conn[2]), MOST / 4);
}

static void content_stays_where_room_grows(void **state)
{
	struct ip_addr a = {{1}};
	struct tls_kept *k = &conn[0][0];

	assert_int_equal(tls_kept_grow(&share, k, 100, &a), TLS_KEPT);
	memset(k->bytes, 7, 100);
	assert_int_equal(tls_kept_grow(&share, k, MOST, &a), TLS_KEPT_NO_SHARE);
	assert_int_equal(k->room, 100);
	assert_int_equal(tls_kept_grow(&share, k, MOST / 2, &a), TLS_KEPT);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(k->bytes[i], 7);
	assert_int_equal(share.held, MOST / 2);
}

static void without_a_limit_all_is_kept(void **state)
{
	struct ip_addr a = {{1}};

	share.most = 0;
	assert_int_equal(tls_kept_grow(&share, &conn[0][0], 2 * MOST, &a), TLS_KEPT);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_peer_leaves_as_much_as_it_has),
		TEST(what_is_not_kept_any_more_is_for_others),
		TEST(what_is_there_is_not_asked_for_again),
		TEST(a_network_is_a_peer),
		TEST(content_stays_where_room_grows),
		TEST(without_a_limit_all_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
