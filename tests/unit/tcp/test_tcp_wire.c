/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <errno.h>

/** 40000 > 5000, seq 0x01020304, ack 0x05060708, window 0x1000; data offset and flags to fill in.
 */
#define HEADER(words, flags)                                                                     \
	0x9c, 0x40, 0x13, 0x88, 1, 2, 3, 4, 5, 6, 7, 8, (words) << 4, (flags), 0x10, 0x00, 0, 0, \
		0, 0

static int parse(const uint8_t *p, size_t len, struct tcp_segment *s)
{
	memset(s, 0xee, sizeof *s);
	return tcp_wire_parse(p, len, len, s);
}

static void test_plain_header(void **state)
{
	const uint8_t p[] = {HEADER(5, TCP_ACK | TCP_PSH), 'a', 'b', 'c'};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.sport, 40000);
	assert_int_equal(s.dport, 5000);
	assert_int_equal(s.seq, 0x01020304);
	assert_int_equal(s.ack, 0x05060708);
	assert_int_equal(s.flags, TCP_ACK | TCP_PSH);
	assert_int_equal(s.wnd, 0x1000);
	assert_int_equal(s.header_len, 20);
	assert_int_equal(s.len, 3);
	assert_int_equal(s.has, 0);
	assert_int_equal(s.n_sack, 0);
}

static void test_lengths_that_do_not_add_up(void **state)
{
	uint8_t p[60] = {HEADER(5, TCP_ACK)};
	struct tcp_segment s;

	assert_int_equal(parse(p, 19, &s), -EINVAL);
	assert_int_equal(parse(p, 0, &s), -EINVAL);
	p[12] = 4 << 4;
	assert_int_equal(parse(p, 60, &s), -EINVAL);
	p[12] = 6 << 4;
	assert_int_equal(parse(p, 23, &s), -EINVAL);
	p[12] = 15 << 4;
	assert_int_equal(parse(p, 59, &s), -EINVAL);
	p[20] = TCP_OPT_END;
	assert_int_equal(parse(p, 60, &s), 0);
	assert_int_equal(s.len, 0);
	assert_int_equal(tcp_wire_parse(p, 60, 59, &s), -EINVAL);
}

static void test_syn_options(void **state)
{
	const uint8_t p[] = {HEADER(10, TCP_SYN), 2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0,
		0, 7, 1, 3, 3, 7};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.has, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED | TCP_HAS_TS | TCP_HAS_WSCALE);
	assert_int_equal(s.mss, 1460);
	assert_int_equal(s.wscale, 7);
	assert_int_equal(s.tsval, 9);
	assert_int_equal(s.tsecr, 7);
}

static void test_syn_options_without_syn_do_not_count(void **state)
{
	const uint8_t p[] = {HEADER(8, TCP_ACK), 2, 4, 0x05, 0xb4, 3, 3, 7, 4, 2, 1, 1, 0};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.has, 0);
}

static void test_scale_above_14_means_14(void **state)
{
	const uint8_t p[] = {HEADER(6, TCP_SYN), 3, 3, 200, 0};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.wscale, 14);
}

static void test_first_of_two_counts(void **state)
{
	const uint8_t p[] = {HEADER(7, TCP_SYN), 2, 4, 0x05, 0xb4, 2, 4, 0x01, 0x00};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.mss, 1460);
}

static void test_illegal_option_lengths(void **state)
{
	static const uint8_t bad[][4] = {{2, 0, 0, 0}, {2, 1, 0, 0}, {2, 5, 0, 0}, {1, 1, 1, 2},
		{99, 0, 0, 0}, {1, 1, 99, 3}, {8, 255, 0, 0}};
	struct tcp_segment s;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint8_t p[24] = {HEADER(6, TCP_SYN)};

		memcpy(p + 20, bad[i], 4);
		assert_int_equal(parse(p, sizeof p, &s), -EINVAL);
	}
}

static void test_wrong_length_of_known_option_is_passed_over(void **state)
{
	const uint8_t p[] = {HEADER(9, TCP_SYN), 2, 3, 9, 3, 4, 7, 7, 8, 3, 1, 4, 3, 0, 1, 0, 0};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.has, 0);
}

static void test_unknown_options_are_passed_over(void **state)
{
	const uint8_t p[] = {HEADER(8, TCP_SYN), 253, 6, 1, 2, 3, 4, 2, 4, 0x02, 0x18, 1, 1};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.mss, 536);
}

static void test_end_of_options(void **state)
{
	const uint8_t p[] = {HEADER(7, TCP_SYN), 0, 2, 0, 0, 2, 4, 1, 1};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.has, 0);
}

static void test_sack_blocks(void **state)
{
	const uint8_t p[] = {HEADER(10, TCP_ACK), 1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff,
		0xff, 0xff, 0, 0, 0, 9};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.n_sack, 2);
	assert_int_equal(s.sack[0].left, 1);
	assert_int_equal(s.sack[0].right, 2);
	assert_int_equal(s.sack[1].left, 0xffffffff);
	assert_int_equal(s.sack[1].right, 9);
}

/* Of two options of a kind the first counts, here too. */
static void test_first_of_two_sacks_counts(void **state)
{
	const uint8_t p[] = {
		HEADER(10, TCP_ACK), 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.n_sack, 1);
	assert_int_equal(s.sack[0].left, 1);
	assert_int_equal(s.sack[0].right, 2);
}

static void test_sack_of_wrong_length(void **state)
{
	static const uint8_t lens[] = {2, 9, 11, 17, 38};
	struct tcp_segment s;

	for (size_t i = 0; i < sizeof lens; i++) {
		uint8_t p[60] = {HEADER(15, TCP_ACK), 5};

		p[21] = lens[i];
		assert_int_equal(parse(p, sizeof p, &s), 0);
		assert_int_equal(s.n_sack, 0);
	}
}

static void test_timestamp_in_the_usual_place(void **state)
{
	const uint8_t p[] = {HEADER(8, TCP_ACK), 1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 2, 0};
	struct tcp_segment s;

	assert_int_equal(parse(p, sizeof p, &s), 0);
	assert_int_equal(s.has, TCP_HAS_TS);
	assert_int_equal(s.tsval, 256);
	assert_int_equal(s.tsecr, 512);
}

static void test_emit_syn(void **state)
{
	const struct tcp_segment s = {.sport = 40000,
		.dport = 5000,
		.seq = 0x01020304,
		.ack = 0x05060708,
		.flags = TCP_SYN,
		.wnd = 0x1000,
		.has = TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_TS | TCP_HAS_SACK_PERMITTED,
		.mss = 1460,
		.wscale = 5,
		.tsval = 0x11,
		.tsecr = 0x22};
	const uint8_t want[] = {HEADER(10, TCP_SYN), 2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 0x11,
		0, 0, 0, 0x22, 1, 3, 3, 5};
	uint8_t got[TCP_HEADER_MAX];

	assert_int_equal(tcp_wire_len(&s), sizeof want);
	assert_int_equal(tcp_wire_emit(&s, got), sizeof want);
	assert_memory_equal(got, want, sizeof want);
}

static void test_emit_sack(void **state)
{
	const struct tcp_segment s = {.sport = 40000,
		.dport = 5000,
		.seq = 0x01020304,
		.ack = 0x05060708,
		.flags = TCP_ACK,
		.wnd = 0x1000,
		.n_sack = 1,
		.sack = {{3, 4}}};
	const uint8_t want[] = {HEADER(8, TCP_ACK), 1, 1, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4};
	uint8_t got[TCP_HEADER_MAX];

	assert_int_equal(tcp_wire_emit(&s, got), sizeof want);
	assert_int_equal(tcp_wire_len(&s), sizeof want);
	assert_memory_equal(got, want, sizeof want);
}

static void test_comparisons_wrap(void **state)
{
	assert_true(seq_lt(0xffffffff, 0));
	assert_true(seq_gt(5, 0xfffffff0));
	assert_false(seq_lt(7, 7));
	assert_true(seq_leq(7, 7));
	assert_true(seq_geq(0, 0xffffffff));
	assert_int_equal(seq_max(0xffffffff, 1), 1);
	assert_int_equal(seq_min(0xffffffff, 1), 0xffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_of_two_sacks_counts),
		cmocka_unit_test(test_plain_header),
		cmocka_unit_test(test_lengths_that_do_not_add_up),
		cmocka_unit_test(test_syn_options),
		cmocka_unit_test(test_syn_options_without_syn_do_not_count),
		cmocka_unit_test(test_scale_above_14_means_14),
		cmocka_unit_test(test_first_of_two_counts),
		cmocka_unit_test(test_illegal_option_lengths),
		cmocka_unit_test(test_wrong_length_of_known_option_is_passed_over),
		cmocka_unit_test(test_unknown_options_are_passed_over),
		cmocka_unit_test(test_end_of_options),
		cmocka_unit_test(test_sack_blocks),
		cmocka_unit_test(test_sack_of_wrong_length),
		cmocka_unit_test(test_timestamp_in_the_usual_place),
		cmocka_unit_test(test_emit_syn),
		cmocka_unit_test(test_emit_sack),
		cmocka_unit_test(test_comparisons_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
