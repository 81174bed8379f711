/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <stdlib.h>

#define N 1000

static struct tcp_tuple tuple(unsigned i)
{
	return (struct tcp_tuple){addr(LOCAL), addr(REMOTE), (uint16_t)i, (uint16_t)(i * 7)};
}

static void test_insert_find_remove(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = calloc(N, sizeof *c);
	struct tcp_tuple id;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < N; i++) {
		c[i].id = tuple(i);
		tcp_table_insert(&t, &c[i]);
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

static void test_last_hit_is_forgotten_with_its_connection(void **state)
{
	struct tcp_table t;
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c = calloc(1, sizeof *c);
	struct tcp_tuple id = tuple(3);

	assert_int_equal(tcp_table_init(&t, &key), 0);
	c->id = id;
	tcp_table_insert(&t, c);
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
	struct tcp_conn *c = calloc(10, sizeof *c);
	unsigned n = 0;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	for (unsigned i = 0; i < 10; i++) {
		c[i].id = tuple(i);
		tcp_table_insert(&t, &c[i]);
	}
	for (struct tcp_conn *k; (k = tcp_table_get(&t, n)); n++)
		assert_int_equal(k->dupacks++, 0);
	assert_int_equal(n, 10);
	tcp_table_fini(&t);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert_find_remove),
		cmocka_unit_test(test_last_hit_is_forgotten_with_its_connection),
		cmocka_unit_test(test_each_is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
