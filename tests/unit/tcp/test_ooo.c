/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <errno.h>

static struct rte_mempool *pool;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("ooo", 2047, 128);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing ? -1 : 0;
}

/** Bytes whose value is their sequence number. */
static int insert(struct tcp_ooo *o, uint32_t seq, uint32_t len)
{
	uint8_t text[128];

	for (uint32_t i = 0; i < len; i++)
		text[i] = (uint8_t)(seq + i);
	return tcp_ooo_insert(o, test_packet(pool, text, len), seq, len);
}

/** Take all from @p next on. @return where the run ends. */
static uint32_t drain(struct tcp_ooo *o, uint32_t next)
{
	struct rte_mbuf *m;
	uint32_t len;

	while ((m = tcp_ooo_take(o, next, &len))) {
		assert_int_equal(m->pkt_len, len);
		for (uint32_t i = 0; i < len; i++)
			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], (uint8_t)(next + i));
		next += len;
		rte_pktmbuf_free(m);
	}
	return next;
}

static void test_sorted_over_the_wrap(void **state)
{
	struct tcp_ooo o = {0};

	assert_int_equal(insert(&o, 10, 10), 0);
	assert_int_equal(insert(&o, 0xfffffff0, 16), 0);
	assert_int_equal(insert(&o, 0, 10), 0);
	assert_int_equal(drain(&o, 0xffffffe0), 0xffffffe0);
	assert_int_equal(drain(&o, 0xfffffff0), 20);
	assert_int_equal(o.n, 0);
	tcp_ooo_clear(&o);
}

static void test_overlaps(void **state)
{
	struct tcp_ooo o = {0};

	assert_int_equal(insert(&o, 100, 20), 0);
	assert_int_equal(insert(&o, 110, 20), 0);
	assert_int_equal(insert(&o, 105, 10), -EEXIST);
	assert_int_equal(insert(&o, 100, 20), -EEXIST);
	assert_int_equal(insert(&o, 140, 5), 0);
	assert_int_equal(insert(&o, 100, 15), -EEXIST);
	assert_int_equal(o.n, 3);
	assert_int_equal(insert(&o, 95, 60), 0); /* covers them all */
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 103), 155);
	tcp_ooo_clear(&o);
}

static void test_same_start_longer(void **state)
{
	struct tcp_ooo o = {0};

	assert_int_equal(insert(&o, 100, 10), 0);
	assert_int_equal(insert(&o, 100, 20), 0);
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 100), 120);
	tcp_ooo_clear(&o);
}

static void test_delivered_entries_are_dropped(void **state)
{
	struct tcp_ooo o = {0};
	uint32_t len;

	assert_int_equal(insert(&o, 100, 10), 0);
	assert_int_equal(insert(&o, 120, 10), 0);
	assert_null(tcp_ooo_take(&o, 115, &len));
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 120), 130);
	tcp_ooo_clear(&o);
}

static void test_bounded(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < TCP_OOO_MAX; i++)
		assert_int_equal(insert(&o, 100 + 10 * i, 5), 0);
	assert_int_equal(insert(&o, 100 + 10 * TCP_OOO_MAX, 5), -ENOSPC);
	assert_int_equal(test_pool_missing(pool), TCP_OOO_MAX);
	tcp_ooo_clear(&o);
}

static struct rte_mbuf *chain(void)
{
	struct rte_mbuf *m = test_packet(pool, "abcd", 4);

	assert_int_equal(rte_pktmbuf_chain(m, test_packet(pool, "efgh", 4)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, test_packet(pool, "ijkl", 4)), 0);
	return m;
}

static void test_trim_front_of_a_chain(void **state)
{
	for (uint32_t n = 0; n < 12; n++) {
		struct rte_mbuf *m = tcp_mbuf_trim_front(chain(), n);

		assert_int_equal(m->pkt_len, 12 - n);
		assert_int_equal(*rte_pktmbuf_mtod(m, char *), 'a' + (char)n);
		rte_mbuf_sanity_check(m, 1);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(test_pool_missing(pool), 0);
}

static void test_trim_back_of_a_chain(void **state)
{
	for (uint32_t n = 0; n <= 12; n++) {
		struct rte_mbuf *m = chain();
		char copy[12];

		tcp_mbuf_trim_back(m, n);
		assert_int_equal(m->pkt_len, 12 - n);
		rte_mbuf_sanity_check(m, 1);
		if (n < 12)
			assert_memory_equal(
				rte_pktmbuf_read(m, 0, 12 - n, copy), "abcdefghijkl", 12 - n);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(test_pool_missing(pool), 0);
}

static int insert_chain(struct tcp_ooo *o, uint32_t seq, uint32_t len)
{
	struct rte_mbuf *m = test_packet(pool, "x", 1);

	for (uint32_t i = 1; i < len; i++)
		assert_int_equal(rte_pktmbuf_chain(m, test_packet(pool, "x", 1)), 0);
	return tcp_ooo_insert(o, m, seq, len);
}

static void test_mbufs_of_chains_are_counted(void **state)
{
	struct tcp_ooo o = {0};
	struct rte_mbuf *m;
	uint32_t len;

	assert_int_equal(insert_chain(&o, 100, 8), 0);
	assert_int_equal(insert_chain(&o, 120, 5), 0);
	assert_int_equal(o.held, 13);
	assert_int_equal(insert_chain(&o, 121, 3), -EEXIST);
	assert_int_equal(o.held, 13);
	assert_int_equal(insert(&o, 99, 10), 0); /* covers the first */
	assert_int_equal(o.held, 6);
	m = tcp_ooo_take(&o, 100, &len);
	rte_pktmbuf_free(m);
	assert_int_equal(o.held, 5);
	m = tcp_ooo_take(&o, 122, &len);
	assert_int_equal(len, 3);
	rte_pktmbuf_free(m);
	assert_int_equal(o.held, 0);
	tcp_ooo_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_over_the_wrap),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_same_start_longer),
		cmocka_unit_test(test_delivered_entries_are_dropped),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_trim_front_of_a_chain),
		cmocka_unit_test(test_trim_back_of_a_chain),
		cmocka_unit_test(test_mbufs_of_chains_are_counted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
