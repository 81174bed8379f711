/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static void test_gives_back_one_reference_of_each(void **state)
{
	struct rte_mempool *pool = test_pool("bin", 1023, 256);
	struct rte_mbuf *m[2 * TCP_BIN_MAX];
	struct tcp_bin bin = {0};

	for (unsigned i = 0; i < 2 * TCP_BIN_MAX; i++) {
		m[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(m[i]);
		if (i % 2) /* a port holds it still */
			rte_mbuf_refcnt_update(m[i], 1);
		tcp_bin_put(&bin, m[i]);
		assert_in_range(bin.n, 1, TCP_BIN_MAX);
	}
	assert_int_equal(test_pool_missing(pool), 2 * TCP_BIN_MAX - TCP_BIN_MAX / 2);
	tcp_bin_empty(&bin);
	assert_int_equal(bin.n, 0);
	assert_int_equal(test_pool_missing(pool), TCP_BIN_MAX);
	for (unsigned i = 1; i < 2 * TCP_BIN_MAX; i += 2) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		rte_pktmbuf_free(m[i]);
	}
	assert_int_equal(test_pool_missing(pool), 0);
	rte_mempool_free(pool);
}

static int set_up(void **state)
{
	test_eal_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gives_back_one_reference_of_each),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
