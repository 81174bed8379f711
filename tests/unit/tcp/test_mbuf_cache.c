/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/mbuf_cache.h"

static void test_gives_back_one_reference_of_each(void **state)
{
	struct rte_mempool *pool = test_pool("cache", 1023, 256);
	struct rte_mbuf *m[2 * TCP_MBUF_CACHE_MAX];
	struct tcp_mbuf_cache cache = {0};

	for (unsigned i = 0; i < 2 * TCP_MBUF_CACHE_MAX; i++) {
		m[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(m[i]);
		if (i % 2) /* a port holds it still */
			rte_mbuf_refcnt_update(m[i], 1);
		tcp_mbuf_cache_put(&cache, m[i]);
		assert_in_range(cache.n, 1, TCP_MBUF_CACHE_MAX);
	}
	assert_int_equal(test_pool_missing(pool), 2 * TCP_MBUF_CACHE_MAX - TCP_MBUF_CACHE_MAX / 2);
	tcp_mbuf_cache_flush(&cache);
	assert_int_equal(cache.n, 0);
	assert_int_equal(test_pool_missing(pool), TCP_MBUF_CACHE_MAX);
	for (unsigned i = 1; i < 2 * TCP_MBUF_CACHE_MAX; i += 2) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		rte_pktmbuf_free(m[i]);
	}
	assert_int_equal(test_pool_missing(pool), 0);
	rte_mempool_free(pool);
}

/** A port had one behind the other, and sent both: the pool gets them without neighbours. */
static void test_who_was_in_a_chain_has_left_it(void **state)
{
	struct rte_mempool *pool = test_pool("cache", 63, 256);
	struct rte_mbuf *m[63];
	struct tcp_mbuf_cache cache = {0};

	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, m, 3), 0);
	for (unsigned i = 0; i < 3; i++) {
		rte_mbuf_refcnt_update(m[i], 1);
		m[i]->next = i < 2 ? m[i + 1] : NULL;
		m[i]->nb_segs = i < 2 ? 2 : 1;
	}
	rte_pktmbuf_free(m[0]);
	for (unsigned i = 0; i < 3; i++)
		tcp_mbuf_cache_put(&cache, m[i]);
	tcp_mbuf_cache_flush(&cache);
	assert_int_equal(test_pool_missing(pool), 0);
	assert_int_equal(rte_mempool_get_bulk(pool, (void **)m, 63), 0);
	for (unsigned i = 0; i < 63; i++) {
		assert_null(m[i]->next);
		assert_int_equal(m[i]->nb_segs, 1);
	}
	rte_mempool_put_bulk(pool, (void **)m, 63);
	rte_mempool_free(pool);
}

/** Unless somebody has it still, or it is another pool's, or a chain. */
static void test_what_was_read_is_written_next(void **state)
{
	struct rte_mempool *pool = test_pool("cache", 63, 256),
			   *other = test_pool("other", 63, 256);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *chain = rte_pktmbuf_alloc(pool);
	struct tcp_mbuf_cache cache = {0};

	assert_null(tcp_mbuf_cache_take(&cache));
	assert_non_null(rte_pktmbuf_append(m, 100));
	assert_non_null(rte_pktmbuf_adj(m, 50));
	m->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	tcp_mbuf_cache_put_read(&cache, m, pool);
	assert_ptr_equal(tcp_mbuf_cache_take(&cache), m);
	assert_null(tcp_mbuf_cache_take(&cache));
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(m->pkt_len + m->data_len + m->ol_flags, 0);

	rte_mbuf_refcnt_update(m, 1);
	tcp_mbuf_cache_put_read(&cache, m, pool);
	assert_null(tcp_mbuf_cache_take(&cache));
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	tcp_mbuf_cache_put_read(&cache, rte_pktmbuf_alloc(other), pool);
	assert_null(tcp_mbuf_cache_take(&cache));
	assert_int_equal(test_pool_missing(other), 0);
	assert_int_equal(rte_pktmbuf_chain(chain, rte_pktmbuf_alloc(pool)), 0);
	tcp_mbuf_cache_put_read(&cache, chain, pool);
	assert_null(tcp_mbuf_cache_take(&cache));
	assert_int_equal(test_pool_missing(pool), 1);

	tcp_mbuf_cache_put_read(&cache, m, pool);
	tcp_mbuf_cache_put_read(&cache, rte_pktmbuf_alloc(pool), pool); /* one is enough */
	assert_ptr_equal(cache.spare, m);
	assert_int_equal(test_pool_missing(pool), 1);
	tcp_mbuf_cache_flush(&cache);
	assert_int_equal(test_pool_missing(pool), 0);
	rte_mempool_free(pool);
	rte_mempool_free(other);
}

/** With many connections, some packets wait to be given back together. */
static void test_many_connections_keep_few_packets(void **state)
{
	static struct host h;
	struct peer p;
	struct tcp_conn *c = host_accepted(&h, &p, TCP_HAS_MSS, NULL), *more;
	struct tcp_tuple id = c->id;
	unsigned most = 0;

	for (unsigned i = 1; i < TCP_TABLE_MANY; i++) {
		id.rport++;
		assert_int_equal(tcp_conn_new(h.tcp, &id, TCP_ESTABLISHED, &more), 0);
	}
	for (unsigned i = 0; i < 3 * TCP_MBUF_CACHE_ENOUGH; i++) {
		app_send(&h.app, "answer", 6);
		ip_double_drain(&h.ip);
		p.ack = c->snd_nxt;
		peer_send(&p, 0, "request", 7);
		ip_double_drain(&h.ip);
		most = RTE_MAX(most, test_pool_missing(h.pool));
	}
	assert_int_equal(most, TCP_MBUF_CACHE_ENOUGH); /* the spare one is the last */
	tcp_conn_close(more, 0);
	host_round(&h);
	assert_int_equal(test_pool_missing(h.pool), 0);
	host_end(&h);
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
		cmocka_unit_test(test_who_was_in_a_chain_has_left_it),
		cmocka_unit_test(test_what_was_read_is_written_next),
		cmocka_unit_test(test_many_connections_keep_few_packets),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
