/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#define R(l, r) ((struct tcp_range){l, r})

static void expect_block(const struct tcp_segment *s, unsigned i, uint32_t left, uint32_t right)
{
	assert_true(i < s->n_sack);
	assert_int_equal(s->sack[i].left, left);
	assert_int_equal(s->sack[i].right, right);
}

static void test_most_recent_first(void **state)
{
	struct tcp_sack_out s = {0};
	struct tcp_segment seg = {0};

	tcp_sack_add(&s, R(200, 300));
	tcp_sack_add(&s, R(400, 500));
	tcp_sack_add(&s, R(300, 350)); /* joins the older one */
	tcp_sack_emit(&s, &seg, 4);
	assert_int_equal(seg.n_sack, 2);
	expect_block(&seg, 0, 200, 350);
	expect_block(&seg, 1, 400, 500);
}

static void test_one_segment_joins_two_blocks(void **state)
{
	struct tcp_sack_out s = {0};
	struct tcp_segment seg = {0};

	tcp_sack_add(&s, R(0xffffff00, 0xffffff80));
	tcp_sack_add(&s, R(0x10, 0x20));
	tcp_sack_add(&s, R(0xffffff80, 0x10));
	tcp_sack_emit(&s, &seg, 4);
	assert_int_equal(seg.n_sack, 1);
	expect_block(&seg, 0, 0xffffff00, 0x20);
}

static void test_advance_forgets(void **state)
{
	struct tcp_sack_out s = {0};
	struct tcp_segment seg = {0};

	tcp_sack_add(&s, R(200, 300));
	tcp_sack_add(&s, R(400, 500));
	tcp_sack_advance(&s, 300);
	tcp_sack_emit(&s, &seg, 4);
	assert_int_equal(seg.n_sack, 1);
	expect_block(&seg, 0, 400, 500);
}

static void test_duplicate_is_told_once_and_first(void **state)
{
	struct tcp_sack_out s = {0};
	struct tcp_segment seg = {0};

	tcp_sack_add(&s, R(200, 300));
	tcp_sack_duplicate(&s, R(50, 60));
	tcp_sack_emit(&s, &seg, 3);
	assert_int_equal(seg.n_sack, 2);
	expect_block(&seg, 0, 50, 60);
	expect_block(&seg, 1, 200, 300);
	tcp_sack_emit(&s, &seg, 3);
	assert_int_equal(seg.n_sack, 1);
}

static void test_more_blocks_than_fit(void **state)
{
	struct tcp_sack_out s = {0};
	struct tcp_segment seg = {0};

	for (uint32_t i = 0; i < 20; i++)
		tcp_sack_add(&s, R(100 * i, 100 * i + 50));
	tcp_sack_emit(&s, &seg, 3);
	assert_int_equal(seg.n_sack, 3);
	expect_block(&seg, 0, 1900, 1950);
	expect_block(&seg, 2, 1700, 1750);
	tcp_sack_emit(&s, &seg, 0);
	assert_int_equal(seg.n_sack, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_recent_first),
		cmocka_unit_test(test_one_segment_joins_two_blocks),
		cmocka_unit_test(test_advance_forgets),
		cmocka_unit_test(test_duplicate_is_told_once_and_first),
		cmocka_unit_test(test_more_blocks_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
