/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digest.h"
#include "host.h"
#include "tcp/mbuf.h"
#include "tcp/mbufs.h"

static struct rte_mempool *pool;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("mbufs", 255, 512);
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

/** What @p l says of itself is true. */
static void check(const struct tcp_mbufs *l)
{
	const struct rte_mbuf *last = NULL;
	uint32_t count = 0, bytes = 0;

	for (const struct rte_mbuf *m = l->first; m; m = m->next) {
		assert_int_equal(m->nb_segs, 1);
		assert_int_equal(m->pkt_len, m->data_len);
		count++;
		bytes += m->data_len;
		last = m;
	}
	assert_int_equal(l->count, count);
	assert_int_equal(l->bytes, bytes);
	assert_ptr_equal(l->last, last);
}

static void test_single_bytes_share_one_packet(void **state)
{
	struct tcp_mbufs l = {0};

	for (unsigned i = 0; i < 500; i++)
		tcp_mbufs_push(&l, packet((uint8_t)i, 1));
	check(&l);
	assert_int_equal(l.bytes, 500);
	assert_int_equal(test_pool_missing(pool), 1);
	assert_int_equal(rte_pktmbuf_mtod(l.first, uint8_t *)[499], (uint8_t)499);
	tcp_mbufs_free(&l);
	check(&l);
}

static void test_shared_packet_is_not_written(void **state)
{
	struct tcp_mbufs l = {0};
	struct rte_mbuf *m = packet(1, 10);

	rte_mbuf_refcnt_update(m, 1);
	tcp_mbufs_push(&l, m);
	tcp_mbufs_push(&l, packet(2, 10));
	assert_int_equal(l.count, 2);
	tcp_mbufs_free(&l);
	assert_null(m->next); /* its other holder knows nothing of lists */
	rte_pktmbuf_free(m);
}

static void test_chain_is_taken_apart(void **state)
{
	struct tcp_mbufs l = {0};
	struct rte_mbuf *m = packet(1, 400);

	assert_int_equal(rte_pktmbuf_chain(m, packet(2, 300)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, packet(3, 0)), 0);
	tcp_mbufs_push(&l, m);
	check(&l);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.bytes, 700);
	assert_int_equal(test_pool_missing(pool), 2);
	tcp_mbufs_free(&l);
}

static void test_consume(void **state)
{
	struct tcp_mbufs l = {0};

	for (unsigned i = 0; i < 3; i++)
		tcp_mbufs_push(&l, packet((uint8_t)i, 400));
	tcp_mbufs_consume(&l, 401);
	check(&l);
	assert_int_equal(l.bytes, 799);
	assert_int_equal(test_pool_missing(pool), 2);
	tcp_mbufs_consume(&l, 799);
	check(&l);
	assert_int_equal(test_pool_missing(pool), 0);
}

static void test_join(void **state)
{
	struct tcp_mbufs a = {0}, b = {0};

	tcp_mbufs_join(&a, &b);
	check(&a);
	tcp_mbufs_push(&b, packet(1, 10));
	tcp_mbufs_join(&a, &b); /* into nothing */
	check(&a);
	check(&b);
	tcp_mbufs_push(&b, packet(2, 20));
	tcp_mbufs_join(&a, &b); /* the only one goes into the last */
	check(&a);
	assert_int_equal(a.count, 1);
	tcp_mbufs_push(&b, packet(3, 30));
	tcp_mbufs_push(&b, packet(4, 500));
	tcp_mbufs_join(&a, &b); /* the first does, the next stays */
	check(&a);
	assert_int_equal(a.count, 2);
	assert_int_equal(a.bytes, 560);
	tcp_mbufs_push(&b, packet(5, 500));
	tcp_mbufs_join(&a, &b);
	check(&a);
	assert_int_equal(a.count, 3);
	tcp_mbufs_free(&a);
}

/* Two small ones side by side, and both ends of a list found again. */
static void test_join_apart_and_split(void **state)
{
	struct tcp_mbufs a = {0}, b = {0}, out;

	tcp_mbufs_join_apart(&a, &b);
	check(&a);
	for (unsigned i = 1; i <= 3; i++) {
		tcp_mbufs_push(&b, packet((uint8_t)i, 10 * i));
		tcp_mbufs_join_apart(&a, &b);
		check(&a);
		check(&b);
		assert_int_equal(a.count, i);
	}
	tcp_mbufs_split(&a, 30, &out);
	check(&a);
	check(&out);
	assert_int_equal(out.count, 2);
	assert_int_equal(a.bytes, 30);
	tcp_mbufs_free(&out);
	tcp_mbufs_split(&a, 0, &out);
	check(&a);
	check(&out);
	assert_null(out.first);
	tcp_mbufs_split(&a, 30, &out);
	check(&a);
	assert_null(a.first);
	assert_int_equal(out.bytes, 30);
	tcp_mbufs_free(&out);
}

static void test_long_list_is_packed(void **state)
{
	struct tcp_mbufs l = {0};

	for (unsigned i = 0; i < 100; i++)
		tcp_mbufs_push(&l, packet((uint8_t)i, 257));
	/* Up to 32 stay single; from there on, two never fit one packet of 512: none is packed. */
	assert_int_equal(l.count, 100);
	for (unsigned i = 0; i < 2; i++)
		tcp_mbufs_push(&l, packet(0, 200));
	assert_int_equal(l.count, 101);
	tcp_mbufs_free(&l);
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
	for (uint32_t n = 0; n <= 12; n++) {
		struct rte_mbuf *m = tcp_mbuf_trim_front(chain(), n);

		assert_int_equal(m->pkt_len, 12 - n);
		if (n < 12) /* of all, an empty packet is left */
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

static void know_crc(struct rte_mbuf *m, uint32_t len)
{
	struct digest d = {.crc = DIGEST_CRC_START};

	digest_add(&d, DIGEST_CRC, rte_pktmbuf_mtod(m, uint8_t *), len);
	tcp_mbuf_set_crc(m, len, d.crc);
}

/** What is known of the CRC is of other bytes, once some are cut off and others come there. */
static void test_trim_back_forgets_the_crc(void **state)
{
	for (uint32_t n = 0; n <= 100; n++) {
		struct tcp_mbufs l = {0};
		struct rte_mbuf *m = packet(1, 200);
		struct llp_iov v;
		size_t total;

		know_crc(m, 150);
		tcp_mbuf_trim_back(m, n);
		tcp_mbufs_push(&l, m);
		if (n)
			tcp_mbufs_push(&l, packet(2, n));
		assert_int_equal(tcp_mbufs_show(&l, &v, 1, &total), 1);
		assert_int_equal(total, 200);
		assert_int_equal(v.crc_len, n ? 0 : 150);
		tcp_mbufs_free(&l);
	}
}

static void test_show(void **state)
{
	struct tcp_mbufs l = {0};
	struct llp_iov v[2];
	uint8_t text[400];
	size_t total;

	assert_int_equal(tcp_mbufs_show(&l, v, 2, &total), 0);
	assert_int_equal(total, 0);
	for (unsigned i = 0; i < 3; i++) {
		memset(text, (int)i, sizeof text);
		tcp_mbufs_push(&l, test_packet(pool, text, 400));
	}
	assert_int_equal(tcp_mbufs_show(&l, v, 2, &total), 2);
	assert_int_equal(total, 800);
	tcp_mbufs_consume(&l, 401);
	assert_int_equal(tcp_mbufs_show(&l, v, 2, &total), 2);
	assert_int_equal(v[0].len, 399);
	assert_int_equal(v[0].base[0], 1);
	assert_int_equal(v[1].base[0], 2);
	tcp_mbufs_free(&l);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** @p l holds @p n runs of bytes, @p len of each of 0, 1, 2 and so on. */
static void check_runs(const struct tcp_mbufs *l, unsigned n, unsigned len)
{
	unsigned at = 0;

	check(l);
	assert_int_equal(l->bytes, n * len);
	for (const struct rte_mbuf *m = l->first; m; m = m->next)
		for (unsigned i = 0; i < m->data_len; i++, at++)
			assert_int_equal(
				rte_pktmbuf_mtod(m, const uint8_t *)[i], (uint8_t)(at / len));
}

/** A list of them that nothing was copied in. */
static struct tcp_mbufs runs_apart(unsigned n, unsigned len)
{
	struct tcp_mbufs l = {0};

	for (unsigned i = 0; i < n; i++) {
		struct tcp_mbufs one = {0};

		tcp_mbufs_push(&one, packet((uint8_t)i, len));
		tcp_mbufs_join_apart(&l, &one);
	}
	return l;
}

static void test_pack(void **state)
{
	struct tcp_mbufs l = runs_apart(100, 300), none = {0};
	unsigned room = rte_pktmbuf_data_room_size(pool);

	tcp_mbufs_pack(&none, 1, pool);
	check(&none);
	tcp_mbufs_pack(&l, 30000, pool);
	check_runs(&l, 100, 300);
	for (const struct rte_mbuf *m = l.first; m->next; m = m->next)
		assert_true(m->data_len + m->next->data_len > room);
	assert_int_equal(test_pool_missing(pool), l.count);
	tcp_mbufs_push(&l, packet(100, 300)); /* its last is the last */
	check_runs(&l, 101, 300);
	tcp_mbufs_free(&l);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** No more than is asked for is touched. */
static void test_pack_a_part(void **state)
{
	struct tcp_mbufs l = runs_apart(10, 300);

	tcp_mbufs_pack(&l, 300, pool);
	assert_int_equal(l.count, 10);
	tcp_mbufs_pack(&l, 301, pool);
	assert_int_equal(l.count, 9);
	check_runs(&l, 10, 300);
	tcp_mbufs_free(&l);
}

/** Packets of which almost all was cut off in front have no room behind. */
static void test_pack_uses_the_room_in_front(void **state)
{
	struct tcp_mbufs l = {0};
	struct llp_iov v;
	size_t total;

	for (unsigned i = 0; i < 20; i++) {
		struct tcp_mbufs one = {0};
		struct rte_mbuf *m = tcp_mbuf_trim_front(packet((uint8_t)i, 512), 511);

		m->data_off = (uint16_t)(m->buf_len - 1);
		rte_pktmbuf_mtod(m, uint8_t *)[0] = (uint8_t)i;
		know_crc(m, 1);
		tcp_mbufs_push(&one, m);
		tcp_mbufs_join_apart(&l, &one);
	}
	tcp_mbufs_pack(&l, 20, pool);
	check_runs(&l, 20, 1);
	assert_int_equal(l.count, 1);
	assert_int_equal(tcp_mbufs_show(&l, &v, 1, &total), 1);
	assert_int_equal(v.crc_len, 0);
	tcp_mbufs_free(&l);
}

/** What others see stays as it is: its text moves to packets of our own, while there are any. */
static void test_pack_what_is_shared(void **state)
{
	struct rte_mbuf *all[255], *held[20];
	struct tcp_mbufs l = runs_apart(20, 100);
	unsigned n = 0;

	for (struct rte_mbuf *m = l.first; m; m = m->next) {
		rte_mbuf_refcnt_update(m, 1);
		held[n++] = m;
	}
	for (n = 0; n < 255 - 20; n++)
		assert_non_null(all[n] = rte_pktmbuf_alloc(pool));
	tcp_mbufs_pack(&l, 2000, pool); /* nothing can be done */
	assert_int_equal(l.count, 20);
	check_runs(&l, 20, 100);
	while (n)
		rte_pktmbuf_free(all[--n]);
	tcp_mbufs_pack(&l, 2000, pool);
	assert_true(l.count <= 5);
	check_runs(&l, 20, 100);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(held[i]), 1);
		assert_int_equal(held[i]->data_len, 100);
		assert_int_equal(*rte_pktmbuf_mtod(held[i], uint8_t *), i);
		rte_pktmbuf_free(held[i]);
	}
	tcp_mbufs_free(&l);
	assert_int_equal(test_pool_missing(pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_bytes_share_one_packet),
		cmocka_unit_test(test_shared_packet_is_not_written),
		cmocka_unit_test(test_chain_is_taken_apart),
		cmocka_unit_test(test_consume),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_apart_and_split),
		cmocka_unit_test(test_long_list_is_packed),
		cmocka_unit_test(test_trim_front_of_a_chain),
		cmocka_unit_test(test_trim_back_of_a_chain),
		cmocka_unit_test(test_trim_back_forgets_the_crc),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_pack_a_part),
		cmocka_unit_test(test_pack_uses_the_room_in_front),
		cmocka_unit_test(test_pack_what_is_shared),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
