/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

static struct rte_mempool *pool;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("ooo", 20479, 384);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing ? -1 : 0;
}

static uint8_t text_at(uint32_t seq)
{
	return (uint8_t)(seq * 31 ^ seq >> 8);
}

static struct rte_mbuf *packet(uint32_t seq, uint32_t len)
{
	uint8_t text[384];

	for (uint32_t i = 0; i < len; i++)
		text[i] = text_at(seq + i);
	return test_packet(pool, text, len);
}

static struct tcp_ooo_result insert(struct tcp_ooo *o, uint32_t seq, uint32_t len)
{
	return tcp_ooo_insert(o, packet(seq, len), seq, len, pool);
}

static void expect(struct tcp_ooo_result r, uint32_t kept, uint32_t dup_left, uint32_t dup_len)
{
	assert_int_equal(r.kept, kept);
	assert_int_equal(r.dup.right - r.dup.left, dup_len);
	if (dup_len)
		assert_int_equal(r.dup.left, dup_left);
}

/** Sorted, apart, and as long and as many as it says. */
static void check(const struct tcp_ooo *o)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		const struct tcp_island *at = tcp_ooo_at(o, i);

		assert_true(seq_lt(at->r.left, at->r.right));
		assert_true(i == 0 || seq_lt(tcp_ooo_at(o, i - 1)->r.right, at->r.left));
		assert_int_equal(at->text.bytes, at->r.right - at->r.left);
		held += at->text.count;
	}
	assert_int_equal(o->held, held);
	assert_int_equal(test_pool_missing(pool), held);
}

/** Take all from @p next on. @return where the run ends. */
static uint32_t drain(struct tcp_ooo *o, uint32_t next)
{
	struct tcp_mbufs text;

	while (tcp_ooo_take(o, next, &text)) {
		for (struct rte_mbuf *m = text.first; m; m = m->next)
			for (uint32_t i = 0; i < m->data_len; i++, next++)
				assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], text_at(next));
		tcp_mbufs_free(&text);
	}
	return next;
}

static void test_sorted_over_the_wrap(void **state)
{
	struct tcp_ooo o = {0};

	expect(insert(&o, 10, 10), 10, 0, 0);
	expect(insert(&o, 0xfffffff0, 16), 16, 0, 0);
	assert_int_equal(o.n, 2);
	expect(insert(&o, 0, 10), 10, 0, 0); /* joins both */
	assert_int_equal(o.n, 1);
	check(&o);
	assert_int_equal(drain(&o, 0xffffffe0), 0xffffffe0);
	assert_int_equal(drain(&o, 0xfffffff0), 20);
	assert_null(o.ring);
}

static void test_overlaps(void **state)
{
	struct tcp_ooo o = {0};

	expect(insert(&o, 100, 20), 20, 0, 0);
	expect(insert(&o, 110, 20), 10, 110, 10); /* its end is new */
	expect(insert(&o, 90, 20), 10, 100, 10);  /* its begin is */
	expect(insert(&o, 105, 10), 0, 105, 10);
	expect(insert(&o, 90, 40), 0, 90, 40);
	expect(insert(&o, 140, 5), 5, 0, 0);
	check(&o);
	assert_int_equal(o.n, 2);
	expect(insert(&o, 80, 70), 25, 90, 40); /* before, between and after */
	check(&o);
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 83), 150);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** A segment that lies over many islands fills each gap with a copy of what belongs there. */
static void test_many_gaps_at_once(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 100; i++)
		expect(insert(&o, 1000 + 3 * i, 1), 1, 0, 0);
	assert_int_equal(o.n, 100);
	expect(insert(&o, 990, 320), 220, 1000, 1);
	check(&o);
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 990), 1310);
}

static void test_delivered_islands_are_dropped(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_mbufs text;

	insert(&o, 100, 10);
	insert(&o, 120, 10);
	assert_false(tcp_ooo_take(&o, 115, &text));
	assert_int_equal(o.n, 1);
	check(&o);
	assert_int_equal(drain(&o, 124), 130);
}

static void test_find(void **state)
{
	struct tcp_ooo o = {0};

	assert_null(tcp_ooo_find(&o, 100));
	insert(&o, 100, 10);
	insert(&o, 200, 10);
	assert_null(tcp_ooo_find(&o, 99));
	assert_int_equal(tcp_ooo_find(&o, 100)->r.left, 100);
	assert_int_equal(tcp_ooo_find(&o, 109)->r.left, 100);
	assert_null(tcp_ooo_find(&o, 110));
	assert_int_equal(tcp_ooo_find(&o, 205)->r.left, 200);
	assert_null(tcp_ooo_find(&o, 210));
	tcp_ooo_clear(&o);
}

static void test_the_farthest_goes_first(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 10; i++)
		insert(&o, 1000 * i, 300);
	tcp_ooo_prune(&o, 3);
	assert_int_equal(o.n, 7);
	check(&o);
	assert_non_null(tcp_ooo_find(&o, 6000));
	tcp_ooo_prune(&o, 100);
	assert_null(o.ring);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** Neither direction of small steps costs more than its bytes do. */
static void test_small_pieces_are_packed(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 3000; i++)
		insert(&o, 10000 + i, 1);
	assert_true(o.held <= 3000 / 256 + 1);
	for (uint32_t i = 0; i < 3000; i++)
		insert(&o, 9999 - i, 1);
	assert_int_equal(o.n, 1);
	assert_true(o.held <= 2 * (6000 / 256 + 1));
	check(&o);
	assert_int_equal(drain(&o, 7000), 13000);
}

static void test_islands_are_bounded(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < TCP_OOO_ISLANDS; i++)
		assert_int_equal(insert(&o, 100 + 2 * i, 1).kept, 1);
	expect(insert(&o, 100 + 2 * TCP_OOO_ISLANDS, 1), 0, 0, 0);
	expect(insert(&o, 50, 10), 0, 0, 0);
	expect(insert(&o, 101, 1), 1, 0, 0); /* fills a gap: always welcome */
	check(&o);
	tcp_ooo_clear(&o);
	assert_int_equal(test_pool_missing(pool), 0);
}

static void test_no_packet_for_a_copy(void **state)
{
	struct tcp_ooo o = {0};
	struct rte_mbuf *all[20479];
	unsigned n = 0;
	struct rte_mbuf *m;

	insert(&o, 110, 10);
	m = packet(100, 30);
	while ((all[n] = rte_pktmbuf_alloc(pool)))
		n++;
	expect(tcp_ooo_insert(&o, m, 100, 30, pool), 0, 110, 10);
	rte_pktmbuf_free_bulk(all, n);
	check(&o);
	tcp_ooo_clear(&o);
}

/** Against a plain map of bytes, with everything that can overlap. */
static void test_random_segments(void **state)
{
	static uint8_t have[4096];
	struct tcp_ooo o = {0};
	uint32_t x = 7, base = 0xfffff800, next = base;

	memset(have, 0, sizeof have);
	for (unsigned round = 0; round < 40000; round++) {
		uint32_t at, len, kept = 0;
		struct tcp_ooo_result r;

		x = x * 1664525 + 1013904223;
		at = (x >> 8) % 3700;
		len = 1 + (x >> 20) % (round % 3 ? 40 : 380);
		if (seq_leq(base + at, next)) { /* the one that is missing, at times */
			uint32_t to;

			if (x & 0x40000000)
				continue;
			to = drain(&o, next + 1);
			have[(next - base) & 4095] = 0;
			for (uint32_t i = next + 1; i != to; i++) {
				assert_int_equal(have[(i - base) & 4095], 1);
				have[(i - base) & 4095] = 0;
			}
			assert_int_equal(have[(to - base) & 4095], 0);
			next = to;
			if (next - base > 3000) {
				tcp_ooo_clear(&o);
				memset(have, 0, sizeof have);
				base = next;
			}
			continue;
		}
		r = insert(&o, base + at, len);
		for (uint32_t i = at; i < at + len; i++) {
			kept += !have[i & 4095];
			have[i & 4095] = 1;
		}
		assert_int_equal(r.kept, kept);
		assert_true(kept == len || r.dup.right != r.dup.left);
		check(&o);
	}
	tcp_ooo_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_over_the_wrap),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_many_gaps_at_once),
		cmocka_unit_test(test_delivered_islands_are_dropped),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_the_farthest_goes_first),
		cmocka_unit_test(test_small_pieces_are_packed),
		cmocka_unit_test(test_islands_are_bounded),
		cmocka_unit_test(test_no_packet_for_a_copy),
		cmocka_unit_test(test_random_segments),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
