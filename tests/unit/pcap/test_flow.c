/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/flow.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct siphash_key key = {{1, 2}};

static struct ip_endpoint end(uint32_t host, uint16_t port)
{
	struct ip_endpoint e = {.addr = ip_addr_from_v4(&host), .port = port};

	return e;
}

static void test_both_directions(void **state)
{
	struct ip_endpoint a = end(1, 10), b = end(2, 20), c = end(2, 21);
	struct flow_table t;
	struct flow *f;
	unsigned side, other;

	assert_int_equal(flow_table_init(&t, 10, &key), 0);
	f = flow_get(&t, &a, &b, &side);
	assert_non_null(f);
	assert_ptr_equal(flow_get(&t, &b, &a, &other), f);
	assert_int_equal(side + other, 1);
	assert_memory_equal(&f->end[side], &a, sizeof a);
	assert_ptr_not_equal(flow_get(&t, &a, &c, &side), f);
	assert_ptr_equal(flow_get(&t, &a, &b, &side), f);
	assert_int_equal(t.used, 2);
	flow_table_free(&t);
	assert_int_equal(t.used, 0);
}

/* Full: the oldest is the one that was idle for longest. */
static void test_full(void **state)
{
	struct ip_endpoint a = end(1, 10), b;
	struct flow_table t;
	struct flow *first, *second;
	unsigned side;

	assert_int_equal(flow_table_init(&t, 3, &key), 0);
	b = end(2, 1);
	first = flow_get(&t, &a, &b, &side);
	b = end(2, 2);
	second = flow_get(&t, &a, &b, &side);
	b = end(2, 3);
	flow_get(&t, &a, &b, &side);
	b = end(2, 1);
	assert_ptr_equal(flow_get(&t, &a, &b, &side), first);
	b = end(2, 4);
	assert_null(flow_get(&t, &a, &b, &side));
	assert_ptr_equal(t.oldest, second);
	flow_remove(&t, t.oldest);
	assert_non_null(flow_get(&t, &a, &b, &side));
	flow_table_free(&t);
}

/* The one that was asked for last is gone: it is not found again, but made anew. */
static void test_last_is_removed(void **state)
{
	struct ip_endpoint a = end(1, 10), b = end(2, 20);
	struct flow_table t;
	struct flow *f;
	unsigned side;

	assert_int_equal(flow_table_init(&t, 3, &key), 0);
	f = flow_get(&t, &a, &b, &side);
	flow_remove(&t, f);
	assert_int_equal(t.used, 0);
	assert_non_null(flow_get(&t, &a, &b, &side));
	assert_int_equal(t.used, 1);
	flow_table_free(&t);
}

static void test_many(void **state)
{
	struct ip_endpoint a = end(1, 10);
	struct flow *f[1000];
	struct flow_table t;
	unsigned side;

	assert_int_equal(flow_table_init(&t, 1000, &key), 0);
	for (int round = 0; round < 2; round++) {
		for (uint16_t i = 0; i < 1000; i++) {
			struct ip_endpoint b = end(2, i);
			struct flow *g = flow_get(&t, &b, &a, &side);

			assert_non_null(g);
			if (round == 0)
				f[i] = g;
			assert_ptr_equal(g, f[i]);
		}
	}
	while (t.oldest != NULL)
		flow_remove(&t, t.oldest);
	flow_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_last_is_removed),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
