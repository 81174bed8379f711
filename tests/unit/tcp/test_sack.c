/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <rte_mbuf.h>

static struct rte_mempool *pool;
static struct tcp_ooo o;
static struct tcp_sack_out s;
static struct tcp_segment seg;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("sack", 255, 128);
	return 0;
}

static int tear_down(void **state)
{
	rte_mempool_free(pool);
	return 0;
}

static int begin(void **state)
{
	s = (struct tcp_sack_out){0};
	return 0;
}

static int end(void **state)
{
	tcp_ooo_clear(&o);
	return test_pool_missing(pool) ? -1 : 0;
}

/** A segment comes. */
static void add(uint32_t left, uint32_t right)
{
	uint8_t text[100] = {0};

	tcp_ooo_insert(&o, test_packet(pool, text, right - left), left, right - left, pool);
	tcp_sack_add(&s, &o, left);
}

static void emit(unsigned max)
{
	tcp_sack_emit(&s, &o, &seg, max);
}

static void expect_block(unsigned i, uint32_t left, uint32_t right)
{
	assert_true(i < seg.n_sack);
	assert_int_equal(seg.sack[i].left, left);
	assert_int_equal(seg.sack[i].right, right);
}

static void test_most_recent_first(void **state)
{
	add(200, 300);
	add(400, 500);
	add(300, 350); /* joins the older one */
	emit(4);
	assert_int_equal(seg.n_sack, 2);
	expect_block(0, 200, 350);
	expect_block(1, 400, 500);
}

static void test_one_segment_joins_two_blocks(void **state)
{
	add(0xffffff40, 0xffffff80);
	add(0x10, 0x20);
	add(0xffffff80, 0xffffffe0);
	add(0xffffffe0, 0x10);
	emit(4);
	assert_int_equal(seg.n_sack, 1);
	expect_block(0, 0xffffff40, 0x20);
}

static void test_what_was_delivered_is_not_told(void **state)
{
	struct tcp_ooo_run run;

	add(200, 300);
	add(400, 500);
	assert_true(tcp_ooo_take(&o, 200, &run));
	tcp_mbufs_free(&run.text);
	emit(4);
	assert_int_equal(seg.n_sack, 1);
	expect_block(0, 400, 500);
}

/** RFC 2018 section 8: no block tells of what is no longer held. */
static void test_what_was_dropped_is_not_told(void **state)
{
	add(200, 300);
	add(400, 500);
	emit(4);
	tcp_ooo_prune(&o, 1);
	emit(4);
	assert_int_equal(seg.n_sack, 1);
	expect_block(0, 200, 300);
}

static void test_duplicate_is_told_once_and_first(void **state)
{
	add(200, 300);
	tcp_sack_duplicate(&s, (struct tcp_range){50, 60});
	assert_true(tcp_sack_is_news(&s));
	emit(3);
	assert_false(tcp_sack_is_news(&s));
	assert_int_equal(seg.n_sack, 2);
	expect_block(0, 50, 60);
	expect_block(1, 200, 300);
	emit(3);
	assert_int_equal(seg.n_sack, 1);
}

/** Each block is told in three options at least: RFC 2018 section 4. */
/** Options that fill the header leave no room: what was to be told is told later. */
static void test_duplicate_waits_for_room(void **state)
{
	add(10, 20);
	s.dup = (struct tcp_range){1, 2};
	s.has_dup = true;
	emit(0);
	assert_int_equal(seg.n_sack, 0);
	emit(1);
	assert_int_equal(seg.n_sack, 1);
	expect_block(0, 1, 2);
}

static void test_more_blocks_than_fit(void **state)
{
	for (uint32_t i = 1; i <= 20; i++) {
		add(100 * i, 100 * i + 50);
		emit(3);
	}
	assert_int_equal(seg.n_sack, 3);
	expect_block(0, 2000, 2050);
	expect_block(1, 1900, 1950);
	expect_block(2, 1800, 1850);
	emit(0);
	assert_int_equal(seg.n_sack, 0);
}

static void test_room_is_filled_with_the_lowest(void **state)
{
	struct tcp_ooo_run run;

	for (uint32_t i = 1; i <= 20; i++)
		add(100 * i, 100 * i + 50);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(tcp_ooo_take(&o, 100 * i, &run));
		tcp_mbufs_free(&run.text);
	}
	tcp_ooo_prune(&o, 6); /* all that was recent */
	emit(4);
	assert_int_equal(seg.n_sack, 4);
	expect_block(0, 400, 450);
	expect_block(3, 700, 750);
}

static void test_news_that_did_not_fit_stays_news(void **state)
{
	add(100, 150);
	add(200, 250);
	assert_true(tcp_sack_is_full(&s, 3));
	assert_false(tcp_sack_is_full(&s, 4));
	emit(1); /* beside text, say */
	assert_true(tcp_sack_is_news(&s));
	emit(3);
	assert_false(tcp_sack_is_news(&s));
	assert_false(tcp_sack_is_full(&s, 3));
	add(250, 300); /* the same island: one piece of news */
	add(300, 350);
	assert_false(tcp_sack_is_full(&s, 3));
	tcp_sack_duplicate(&s, (struct tcp_range){50, 60});
	assert_true(tcp_sack_is_full(&s, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_most_recent_first, begin, end),
		cmocka_unit_test_setup_teardown(test_one_segment_joins_two_blocks, begin, end),
		cmocka_unit_test_setup_teardown(test_what_was_delivered_is_not_told, begin, end),
		cmocka_unit_test_setup_teardown(test_what_was_dropped_is_not_told, begin, end),
		cmocka_unit_test_setup_teardown(test_duplicate_is_told_once_and_first, begin, end),
		cmocka_unit_test_setup_teardown(test_duplicate_waits_for_room, begin, end),
		cmocka_unit_test_setup_teardown(test_more_blocks_than_fit, begin, end),
		cmocka_unit_test_setup_teardown(test_room_is_filled_with_the_lowest, begin, end),
		cmocka_unit_test_setup_teardown(test_news_that_did_not_fit_stays_news, begin, end),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
