/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <stdlib.h>

#define N 1000

static struct tcp_tuple tuple(unsigned i)
{
	return (struct tcp_tuple){addr(LOCAL), addr(REMOTE), (uint16_t)i, (uint16_t)(i * 7)};
}

static struct tcp_conn *connections(size_t n)
{
	struct tcp_conn *c = aligned_alloc(_Alignof(struct tcp_conn), n * sizeof *c);

	assert_non_null(c);
	return memset(c, 0, n * sizeof *c);
}

static void test_insert_find_remove(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(N);
	struct tcp_tuple id;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < N; i++) {
		c[i].id = tuple(i);
		assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
	}
	assert_int_equal(t.count, N);
	assert_true(t.mask >= N / 2); /* it grew */
	for (unsigned i = 0; i < N; i++) {
		id = tuple(i);
		assert_ptr_equal(tcp_table_find(&t, &id), &c[i]);
		assert_ptr_equal(tcp_table_find(&t, &id), &c[i]);
	}
	for (unsigned i = 0; i < N; i += 2)
		tcp_table_remove(&t, &c[i]);
	for (unsigned i = 0; i < N; i++) {
		id = tuple(i);
		assert_ptr_equal(tcp_table_find(&t, &id), i % 2 ? &c[i] : NULL);
	}
	tcp_table_fini(&t);
	free(c);
}

/** Whatever comes and goes, each look finds what is there: removal leaves no holes. */
static void test_comes_and_goes(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(N);
	bool in[N] = {false};
	uint32_t x = 1, count = 0;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < N; i++)
		c[i].id = tuple(i);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned i;

		x = x * 1664525 + 1013904223;
		i = (x >> 8) % (round < 10000 ? 60 : N);
		assert_ptr_equal(tcp_table_find(&t, &c[i].id), in[i] ? &c[i] : NULL);
		if (in[i])
			tcp_table_remove(&t, &c[i]);
		else
			assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
		count += in[i] ? UINT32_MAX : 1;
		in[i] = !in[i];
		assert_int_equal(t.count, count);
	}
	tcp_table_fini(&t);
	free(c);
}

static void expect(struct tcp_table *t, const struct tcp_tuple *id, unsigned n)
{
	tcp_table_expect_none(t);
	for (unsigned i = 0; i < n; i++)
		tcp_table_expect(t, &id[i]);
}

/** A hint changes nothing, be it right, wrong or old. */
static void test_what_is_expected(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(N);
	struct tcp_tuple id[TCP_TABLE_AHEAD];

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < N; i++) {
		c[i].id = tuple(i);
		if (i % 4)
			assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
	}
	for (unsigned i = 0; i < TCP_TABLE_AHEAD; i++)
		id[i] = tuple(i * 3 % 50);
	expect(&t, id, TCP_TABLE_AHEAD);
	tcp_table_expect(&t, &id[0]); /* one too many */
	assert_int_equal(t.ahead.n, TCP_TABLE_AHEAD);
	for (unsigned i = 0; i < TCP_TABLE_AHEAD; i++) {
		unsigned k = i * 3 % 50;

		assert_ptr_equal(tcp_table_find(&t, &id[i]), k % 4 ? &c[k] : NULL);
		assert_ptr_equal(tcp_table_find(&t, &c[801].id), &c[801]);
	}
	for (unsigned n = 1; n < 5; n++) {
		expect(&t, &id[1], n);
		for (unsigned i = 1; i <= n; i++)
			assert_ptr_equal(tcp_table_find(&t, &id[i]), i * 3 % 4 ? &c[i * 3] : NULL);
	}
	expect(&t, id, TCP_TABLE_AHEAD);
	for (unsigned i = 0; i < 50; i++)
		if (i % 4)
			tcp_table_remove(&t, &c[i]); /* before their packets are looked at */
	for (unsigned i = 0; i < TCP_TABLE_AHEAD; i++)
		assert_null(tcp_table_find(&t, &id[i]));
	tcp_table_fini(&t);
	free(c);
}

static void test_last_hit_is_forgotten_with_its_connection(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(1);
	struct tcp_tuple id = tuple(3);

	assert_int_equal(tcp_table_init(&t, &key), 0);
	c->id = id;
	assert_int_equal(tcp_table_insert(&t, c), 0);
	assert_ptr_equal(tcp_table_find(&t, &id), c);
	tcp_table_remove(&t, c);
	free(c);
	assert_null(tcp_table_find(&t, &id));
	assert_null(tcp_table_get(&t, 0));
	tcp_table_fini(&t);
}

static void test_each_is_listed_once(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(10);
	unsigned n = 0;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < 10; i++) {
		c[i].id = tuple(i);
		assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
	}
	for (struct tcp_conn *k; (k = tcp_table_get(&t, n)); n++)
		assert_int_equal(k->dupacks++, 0);
	assert_int_equal(n, 10);
	tcp_table_fini(&t);
	free(c);
}

/** What stays is found once; what comes and goes disturbs nothing. */
static void test_walk_while_others_come_and_go(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(2 * N);
	struct tcp_table_walk w = {0};
	unsigned shown[2 * N] = {0};
	unsigned next = N, gone = 1;
	struct tcp_conn *found;
	enum walk step;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < 2 * N; i++)
		c[i].id = tuple(i);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
	while ((step = tcp_table_walk(&t, &w, &found)) != WALK_END) {
		if (step == WALK_HELD) {
			shown[found - c]++;
			continue;
		}
		assert_int_equal(step, WALK_NONE);
		/* The odd ones go, and as many others come: the table stays as large as it is. */
		if (gone < N) {
			tcp_table_remove(&t, &c[gone]);
			gone += 2;
			assert_int_equal(tcp_table_insert(&t, &c[next++]), 0);
		}
	}
	for (unsigned i = 0; i < N; i += 2)
		assert_int_equal(shown[i], 1);
	for (unsigned i = 0; i < 2 * N; i++)
		assert_true(shown[i] <= 1);
	tcp_table_fini(&t);
	free(c);
}

/** When it grows under a walk nothing is left out. */
static void test_walk_while_the_table_grows(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = connections(N);
	struct tcp_table_walk w = {0};
	unsigned shown[N] = {0};
	struct tcp_conn *found;
	unsigned next = N / 4;
	enum walk step;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < N; i++)
		c[i].id = tuple(i);
	for (unsigned i = 0; i < N / 4; i++)
		assert_int_equal(tcp_table_insert(&t, &c[i]), 0);
	while ((step = tcp_table_walk(&t, &w, &found)) != WALK_END) {
		if (step == WALK_HELD)
			shown[found - c]++;
		else
			for (unsigned i = 0; i < 10 && next < N; i++)
				assert_int_equal(tcp_table_insert(&t, &c[next++]), 0);
	}
	assert_int_equal(next, N);
	for (unsigned i = 0; i < N / 4; i++)
		assert_in_range(shown[i], 1, 3);
	tcp_table_fini(&t);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert_find_remove),
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_what_is_expected),
		cmocka_unit_test(test_last_hit_is_forgotten_with_its_connection),
		cmocka_unit_test(test_each_is_listed_once),
		cmocka_unit_test(test_walk_while_others_come_and_go),
		cmocka_unit_test(test_walk_while_the_table_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
