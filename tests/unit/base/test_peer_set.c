/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/peer_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* After the four that it needs. */
#include <cmocka.h>

static const struct siphash_key key = {{1, 2}};
static struct peer_set s;

static int start(void **state)
{
	return peer_set_init(&s, 64, &key);
}

static int end(void **state)
{
	uint32_t left = s.count;

	peer_set_fini(&s);
	return left != 0;
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void add(struct peer_charge *c, const char *from)
{
	struct ip_addr a = addr(from);

	assert_int_equal(peer_set_add(&s, c, &a), 0);
}

static uint32_t count(const char *of)
{
	struct ip_addr a = addr(of);

	return peer_set_count(&s, &a);
}

static void test_busiest_gives_its_oldest(void **state)
{
	struct peer_charge a[3] = {{0}}, b[2] = {{0}};

	assert_null(peer_set_busiest(&s));
	add(&b[0], "10.0.0.2");
	add(&a[0], "10.0.0.1");
	assert_ptr_equal(peer_set_busiest(&s), &b[0]); /* the first to have so many */
	add(&a[1], "10.0.0.1");
	add(&b[1], "10.0.0.2");
	add(&a[2], "10.0.0.1");
	assert_ptr_equal(peer_set_busiest(&s), &a[0]);
	peer_set_remove(&s, &a[0]);
	peer_set_remove(&s, &a[0]); /* nothing */
	peer_set_remove(&s, &a[2]);
	assert_int_equal(s.count, 3);
	assert_ptr_equal(peer_set_busiest(&s), &b[0]);
	peer_set_remove(&s, &b[0]);
	peer_set_remove(&s, &b[1]);
	assert_ptr_equal(peer_set_busiest(&s), &a[1]);
	assert_int_equal(count("10.0.0.2"), 0);
	peer_set_remove(&s, &a[1]);
	assert_null(peer_set_busiest(&s));
}

static void test_ipv6_network_is_one_peer(void **state)
{
	struct peer_charge c[4] = {{0}};
	struct ip_addr a = addr("2001:db8:0:1::77");

	add(&c[0], "2001:db8:0:1::1");
	add(&c[1], "2001:db8:0:1:ffff:ffff:ffff:ffff");
	add(&c[2], "2001:db8:0:2::1");
	add(&c[3], "10.0.0.1");
	assert_int_equal(count("2001:db8:0:1::2"), 2);
	assert_int_equal(count("2001:db8:0:2::2"), 1);
	assert_int_equal(count("10.0.0.2"), 0); /* IPv4 addresses are told apart */
	assert_ptr_equal(peer_set_oldest(&s, &a), &c[0]);
	for (unsigned i = 0; i < 4; i++)
		peer_set_remove(&s, &c[i]);
}

static void test_in_the_way(void **state)
{
	struct peer_charge c[4] = {{0}};
	struct ip_addr one = addr("10.0.0.1"), two = addr("10.0.0.2");

	add(&c[0], "10.0.0.1");
	add(&c[1], "10.0.0.1");
	add(&c[2], "10.0.0.2");
	assert_null(peer_set_in_the_way(&s, &one, 4, 0));
	assert_null(peer_set_in_the_way(&s, &one, 4, 3));
	assert_ptr_equal(peer_set_in_the_way(&s, &one, 4, 2), &c[0]);
	assert_null(peer_set_in_the_way(&s, &two, 4, 2));
	assert_ptr_equal(peer_set_in_the_way(&s, &two, 4, 1), &c[2]);
	assert_ptr_equal(peer_set_in_the_way(&s, &two, 3, 2), &c[0]);
	for (unsigned i = 0; i < 3; i++)
		peer_set_remove(&s, &c[i]);
}

/** Is @p weight among the most, as far as they are told apart? */
static bool is_most(uint32_t weight, uint32_t most)
{
	return weight == most || (most >= PEER_SET_EXACT && weight > most - most / 8);
}

/* Against a plain array, far beyond what is told apart. */
static void test_many(void **state)
{
	enum { PEERS = 7, MOST = 3000 };
	static struct peer_charge c[MOST];
	static uint32_t extra[MOST];
	uint32_t have[PEERS] = {0};
	uint32_t r = 1;
	struct ip_addr a = addr("10.0.0.0");

	for (unsigned i = 0; i < MOST; i++) {
		unsigned who = i % 3 ? 0 : i / 3 % PEERS;

		a.b[15] = (uint8_t)who;
		assert_int_equal(peer_set_add(&s, &c[i], &a), 0);
		/* Some weigh nothing, most 1, and a few up to a quarter of a million. */
		extra[i] = i % 5 ? 0 : i % 2 ? UINT32_MAX : i * i / 36;
		peer_set_weigh(&s, &c[i], (int32_t)extra[i]);
		have[who] += 1 + extra[i];
	}
	for (uint32_t left = MOST; left; left--) {
		struct peer_charge *oldest = peer_set_busiest(&s);
		uint32_t most = 0;
		unsigned i, who;

		for (unsigned k = 0; k < PEERS; k++)
			most = have[k] > most ? have[k] : most;
		assert_true(is_most(oldest->peer->weight, most));
		r = r * 1664525 + 1013904223;
		for (i = r % MOST; !c[i].peer; i = (i + 1) % MOST)
			;
		who = c[i].peer->addr.b[15];
		assert_true(c[i].peer->weight == have[who]);
		have[who] -= 1 + extra[i];
		peer_set_weigh(&s, &c[i], -(int32_t)extra[i]);
		peer_set_remove(&s, &c[i]);
		assert_int_equal(s.count, left - 1);
	}
	assert_null(peer_set_busiest(&s));
}

static void test_the_heaviest_is_the_busiest(void **state)
{
	struct peer_charge light[3] = {{0}}, heavy = {0};

	for (unsigned i = 0; i < 3; i++)
		add(&light[i], "10.0.0.1");
	add(&heavy, "10.0.0.2");
	assert_ptr_equal(peer_set_busiest(&s), &light[0]);
	peer_set_weigh(&s, &heavy, INT32_MAX);
	assert_ptr_equal(peer_set_busiest(&s), &heavy);
	peer_set_weigh(&s, &heavy, -INT32_MAX);
	assert_ptr_equal(peer_set_busiest(&s), &light[0]);
	peer_set_remove(&s, &heavy);
	for (unsigned i = 0; i < 3; i++)
		peer_set_remove(&s, &light[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_busiest_gives_its_oldest, start, end),
		cmocka_unit_test_setup_teardown(test_ipv6_network_is_one_peer, start, end),
		cmocka_unit_test_setup_teardown(test_in_the_way, start, end),
		cmocka_unit_test_setup_teardown(test_many, start, end),
		cmocka_unit_test_setup_teardown(test_the_heaviest_is_the_busiest, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
