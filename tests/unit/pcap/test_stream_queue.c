/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const uint8_t text[] = "text that was captured";

static bool push(struct stream *s, const uint8_t *bytes, uint32_t len)
{
	return stream_push(s, &(struct piece){.bytes = bytes, .len = len});
}

static void done(struct stream *s)
{
	free(s->v);
	free(s->meta);
}

static void test_pieces(void **state)
{
	struct stream s = {0};
	struct mpa_cursor c;
	uint8_t copy[8];

	for (unsigned i = 0; i < 20; i++)
		assert_true(push(&s, text + i, 1));
	assert_int_equal(s.total, 20);
	stream_drop(&s, 5);
	assert_true(push(&s, text, 8));
	stream_drop(&s, 16);
	assert_int_equal(s.total, 7);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.deframe.at, 21);
	c = stream_cursor(&s);
	mpa_cursor_copy(&c, copy, 7);
	assert_memory_equal(copy, "ext tha", 7);
	stream_drop(&s, 7);
	assert_int_equal(s.n, 0);
	done(&s);
}

/* What is not in the capture takes its place, and is known for what it is. */
static void test_captured(void **state)
{
	struct stream s = {0};

	assert_true(push(&s, text, 10));
	assert_true(push(&s, NULL, 10));
	assert_true(push(&s, text, 10));
	stream_drop(&s, 2);
	assert_true(stream_captured(&s, 0, 8));
	assert_false(stream_captured(&s, 0, 9));
	assert_false(stream_captured(&s, 8, 10));
	assert_false(stream_captured(&s, 17, 2));
	assert_true(stream_captured(&s, 18, 10));
	assert_false(stream_captured(&s, 18, 11)); /* beyond the end */
	done(&s);
}

/* No FPDU is as long as what is missing here. */
static void test_bounds(void **state)
{
	struct stream s = {0};
	unsigned n = 0;

	assert_true(push(&s, NULL, 1 << 17));
	assert_false(push(&s, NULL, (1 << 17) + 1));
	while (n < 10000 && push(&s, text, 1))
		n++;
	assert_int_equal(n, 8191);
	assert_int_equal(s.total, (1 << 17) + n);
	done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_captured),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
