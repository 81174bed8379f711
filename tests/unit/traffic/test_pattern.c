/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct traffic_pattern p;

/* What other programs make of the formula in the header. */
static void follows_the_formula(void **state)
{
	static const uint8_t seed_0[] = {0xe2, 0x6e, 0x06, 0xf8, 0x1b, 0x53, 0x2c, 0xc5};

	traffic_pattern_init(&p, 0);
	assert_memory_equal(p.bytes, seed_0, sizeof seed_0);
}

static void seeds_differ(void **state)
{
	static struct traffic_pattern q;
	unsigned same = 0;

	traffic_pattern_init(&p, 1);
	traffic_pattern_init(&q, 2);
	for (unsigned i = 0; i < TRAFFIC_PATTERN_PERIOD; i++)
		same += p.bytes[i] == q.bytes[i];
	assert_in_range(same, 1, TRAFFIC_PATTERN_PERIOD / 128);
}

/* Any piece is the same, however it was cut. */
static void is_a_function_of_the_place(void **state)
{
	static uint8_t whole[3 * TRAFFIC_PATTERN_PERIOD], part[2 * TRAFFIC_PATTERN_PERIOD];
	static const size_t at[] = {0, 1, 1447, 65520, 65521, 65522, 100000};
	static const size_t len[] = {0, 1, 2, 1448, 65520, 65521, 90000};

	traffic_pattern_init(&p, 7);
	traffic_pattern_fill(&p, 0, whole, sizeof whole);
	for (unsigned i = 0; i < sizeof at / sizeof at[0]; i++)
		for (unsigned j = 0; j < sizeof len / sizeof len[0]; j++) {
			traffic_pattern_fill(&p, at[i], part, len[j]);
			assert_memory_equal(part, whole + at[i], len[j]);
			assert_int_equal(traffic_pattern_match(&p, at[i], part, len[j]), len[j]);
		}
}

static void finds_the_first_wrong_byte(void **state)
{
	static uint8_t b[2 * TRAFFIC_PATTERN_PERIOD];
	static const size_t wrong[] = {0, 1, 700, 65499, 65500, 65501, 131041};

	traffic_pattern_init(&p, 7);
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		traffic_pattern_fill(&p, 21, b, sizeof b);
		b[wrong[i]] ^= 0x10;
		b[sizeof b - 1] ^= 1;
		assert_int_equal(traffic_pattern_match(&p, 21, b, sizeof b), wrong[i]);
	}
}

/* A stack that loses or repeats a segment, or a period of anything near it, is found out. */
static void a_shift_is_seen(void **state)
{
	static const uint64_t shift[] = {1, 8, 536, 1440, 1448, 8948, 16384, 65520, 65535, 65536};
	uint8_t b[1448];

	traffic_pattern_init(&p, 7);
	for (unsigned i = 0; i < sizeof shift / sizeof shift[0]; i++) {
		traffic_pattern_fill(&p, 3000 + shift[i], b, sizeof b);
		assert_in_range(traffic_pattern_match(&p, 3000, b, sizeof b), 0, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_formula),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(is_a_function_of_the_place),
		cmocka_unit_test(finds_the_first_wrong_byte),
		cmocka_unit_test(a_shift_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
