/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/recvq.h"

static void test_show(void **state)
{
	struct rte_mempool *pool;
	struct tcp_mbufs q = {0};
	struct llp_iov v[2];
	uint8_t text[400];
	size_t total;

	test_eal_init();
	pool = test_pool("recvq", 63, 512);
	assert_int_equal(tcp_recvq_show(&q, v, 2, &total), 0);
	assert_int_equal(total, 0);
	for (unsigned i = 0; i < 3; i++) {
		memset(text, (int)i, sizeof text);
		tcp_mbufs_push(&q, test_packet(pool, text, 400));
	}
	assert_int_equal(tcp_recvq_show(&q, v, 2, &total), 2);
	assert_int_equal(total, 800);
	tcp_mbufs_consume(&q, 401);
	assert_int_equal(tcp_recvq_show(&q, v, 2, &total), 2);
	assert_int_equal(v[0].len, 399);
	assert_int_equal(v[0].base[0], 1);
	assert_int_equal(v[1].base[0], 2);
	tcp_mbufs_free(&q);
	assert_int_equal(test_pool_missing(pool), 0);
	rte_mempool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
