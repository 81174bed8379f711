/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/lcore.h"
#include "dpdk-port/pool.h"
#include "support/eal.h"

#include <pthread.h>
#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct borrower {
	unsigned id;
	struct rte_mempool *pool;
	struct rte_mbuf *got;
};

/** On another thread: take a buffer with the borrowed id. */
static void *borrow(void *arg)
{
	struct borrower *b = arg;
	unsigned had = lcore_enter(b->id);

	b->got = rte_pktmbuf_alloc(b->pool);
	lcore_leave(had);
	return had == LCORE_ID_ANY && rte_lcore_id() == LCORE_ID_ANY ? NULL : arg;
}

static void all_holders_share_one_cache(void **state)
{
	struct rte_mempool *pool = pool_create("lcore", 1500, 8, SOCKET_ID_ANY, false);
	unsigned had = rte_lcore_id(), id = lcore_reserve();
	struct borrower b = {.id = id, .pool = pool};
	struct rte_mbuf *m;
	pthread_t t;
	void *wrong;

	assert_non_null(pool);
	assert_int_not_equal(id, LCORE_ID_ANY);
	assert_int_not_equal(id, had);
	assert_int_equal(rte_lcore_id(), had);
	lcore_enter(id);
	m = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_free(m);
	lcore_leave(had);
	pthread_create(&t, NULL, borrow, &b);
	pthread_join(t, &wrong);
	assert_null(wrong);
	/* The buffer that one thread freed last is the one that the next gets first. */
	assert_ptr_equal(b.got, m);
	rte_pktmbuf_free(m);
	lcore_release(id);
	rte_mempool_free(pool);
}

static void ids_come_back(void **state)
{
	unsigned first = lcore_reserve();

	lcore_release(first);
	for (int i = 0; i < 1000; i++) {
		unsigned id = lcore_reserve();

		assert_int_equal(id, first);
		lcore_release(id);
	}
	lcore_release(LCORE_ID_ANY);
}

static int setup(void **state)
{
	test_eal_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_holders_share_one_cache),
		cmocka_unit_test(ids_come_back),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
