/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/conn_pool.h"

#include <stdlib.h>

#define SIZE 960
#define N    5000

static void test_connections(void **state)
{
	struct tcp_conn_pool s = {0};
	uint8_t **c = calloc(N, sizeof *c);

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < N; i++) {
			c[i] = tcp_conn_pool_get(&s, SIZE);
			assert_non_null(c[i]);
			for (unsigned k = 0; k < SIZE; k++)
				assert_int_equal(c[i][k], 0);
			memset(c[i], 1 + (int)i % 255, SIZE);
		}
		for (unsigned i = 0; i < N; i++) { /* nobody wrote into another's */
			for (unsigned k = 0; k < SIZE; k++)
				assert_int_equal(c[i][k], 1 + i % 255);
			tcp_conn_pool_put(&s, c[i]);
		}
	}
	tcp_conn_pool_fini(&s);
	free(c);
}

static void test_ring_comes_back(void **state)
{
	struct tcp_conn_pool s = {0};
	uint32_t cap;
	void *a = tcp_conn_pool_ring(&s, 1, 64, &cap), *b;

	assert_int_equal(cap, 1);
	memset(a, 1, 64 * cap);
	tcp_conn_pool_ring_free(&s, a, cap, 64);
	b = tcp_conn_pool_ring(&s, 0, 64, &cap);
	assert_ptr_equal(a, b);
	tcp_conn_pool_ring_free(&s, b, cap, 64);
	b = tcp_conn_pool_ring(&s, 7, 64, &cap);
	assert_int_equal(cap, 8);
	a = tcp_conn_pool_ring(&s, 9, 64, &cap);
	assert_int_equal(cap, 16);
	memset(a, 1, 64 * cap);
	tcp_conn_pool_ring_free(&s, a, cap, 64);
	tcp_conn_pool_ring_free(&s, b, 8, 64);
	b = tcp_conn_pool_ring(&s, 16, 64, &cap);
	assert_ptr_equal(a, b);
	tcp_conn_pool_ring_free(&s, b, cap, 64);
	tcp_conn_pool_fini(&s);
}

static void test_idle_rings_are_bounded(void **state)
{
	struct tcp_conn_pool s = {0};
	uint32_t cap;
	void *ring[200];

	for (unsigned i = 0; i < 200; i++)
		ring[i] = tcp_conn_pool_ring(&s, 2000, 64, &cap);
	assert_int_equal(cap, 2048);
	for (unsigned i = 0; i < 200; i++)
		tcp_conn_pool_ring_free(&s, ring[i], cap, 64);
	assert_int_equal(s.ring_bytes, 16 << 20);
	ring[0] = tcp_conn_pool_ring(&s, 1u << 20, 64, &cap); /* too large for any list */
	assert_int_equal(cap, 1u << 20);
	tcp_conn_pool_ring_free(&s, ring[0], cap, 64);
	assert_int_equal(s.ring_bytes, 16 << 20);
	tcp_conn_pool_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_ring_comes_back),
		cmocka_unit_test(test_idle_rings_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
