/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/recvq.h"

static struct rte_mempool *pool;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("recvq", 255, 512);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing ? -1 : 0;
}

static struct rte_mbuf *packet(uint8_t fill, unsigned len)
{
	uint8_t text[512];

	memset(text, fill, sizeof text);
	return test_packet(pool, text, len);
}

static void push(struct tcp_recvq *q, struct rte_mbuf *m)
{
	assert_int_equal(tcp_recvq_room(q, m->nb_segs), 0);
	tcp_recvq_push(q, m);
}

static void test_single_bytes_share_one_packet(void **state)
{
	struct tcp_recvq q = {0};
	struct llp_iov v[4];
	size_t total;

	for (unsigned i = 0; i < 500; i++)
		push(&q, packet((uint8_t)i, 1));
	assert_int_equal(q.bytes, 500);
	assert_int_equal(test_pool_missing(pool), 1);
	assert_int_equal(tcp_recvq_show(&q, v, 4, &total), 1);
	assert_int_equal(total, 500);
	assert_int_equal(v[0].base[499], (uint8_t)499);
	tcp_recvq_clear(&q);
}

static void test_shared_packet_is_not_written(void **state)
{
	struct tcp_recvq q = {0};
	struct rte_mbuf *m = packet(1, 10);

	rte_mbuf_refcnt_update(m, 1);
	push(&q, m);
	push(&q, packet(2, 10));
	assert_int_equal(q.count, 2);
	tcp_recvq_clear(&q);
	rte_pktmbuf_free(m);
}

static void test_show_and_consume(void **state)
{
	struct tcp_recvq q = {0};
	struct llp_iov v[2];
	size_t total;

	for (unsigned i = 0; i < 3; i++)
		push(&q, packet((uint8_t)i, 400));
	assert_int_equal(tcp_recvq_show(&q, v, 2, &total), 2);
	assert_int_equal(total, 800);
	tcp_recvq_consume(&q, 401);
	assert_int_equal(q.bytes, 799);
	assert_int_equal(test_pool_missing(pool), 2);
	assert_int_equal(tcp_recvq_show(&q, v, 2, &total), 2);
	assert_int_equal(v[0].len, 399);
	assert_int_equal(v[0].base[0], 1);
	assert_int_equal(v[1].base[0], 2);
	tcp_recvq_consume(&q, 799);
	assert_int_equal(q.count, 0);
	assert_int_equal(test_pool_missing(pool), 0);
	tcp_recvq_clear(&q);
}

static void test_chain_is_taken_apart(void **state)
{
	struct tcp_recvq q = {0};
	struct rte_mbuf *m = packet(1, 400);

	assert_int_equal(rte_pktmbuf_chain(m, packet(2, 300)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, packet(3, 0)), 0);
	push(&q, m);
	assert_int_equal(q.count, 2);
	assert_int_equal(q.bytes, 700);
	assert_int_equal(test_pool_missing(pool), 2);
	tcp_recvq_clear(&q);
}

static void test_ring_grows_and_wraps(void **state)
{
	struct tcp_recvq q = {0};
	unsigned in = 0, out = 0;

	for (unsigned round = 0; round < 20; round++) {
		struct llp_iov v[64];
		size_t total;

		for (unsigned i = 0; i < 5; i++)
			push(&q, packet((uint8_t)in++, 500));
		tcp_recvq_show(&q, v, 64, &total);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(v[i].base[0], (uint8_t)out++);
		tcp_recvq_consume(&q, 1500);
	}
	assert_int_equal(q.count, 40);
	tcp_recvq_clear(&q);
}

static void test_long_queue_is_packed(void **state)
{
	struct tcp_recvq q = {0};

	for (unsigned i = 0; i < 100; i++)
		push(&q, packet((uint8_t)i, 257));
	/* Up to 32 stay single; from there on, two never fit one packet of 512: none is packed. */
	assert_int_equal(q.count, 100);
	for (unsigned i = 0; i < 2; i++)
		push(&q, packet(0, 200));
	assert_int_equal(q.count, 101);
	tcp_recvq_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_bytes_share_one_packet),
		cmocka_unit_test(test_shared_packet_is_not_written),
		cmocka_unit_test(test_show_and_consume),
		cmocka_unit_test(test_chain_is_taken_apart),
		cmocka_unit_test(test_ring_grows_and_wraps),
		cmocka_unit_test(test_long_queue_is_packed),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
