/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/buffer.h"

#include "tests/unit/sock/fixture.h"

static void a_ring_wraps_and_begins_anew_when_empty(void **state)
{
	struct sock_buffers all = {0};
	struct sock_buffer *b = sock_buffer_take(&all);
	struct iovec v[2];

	assert_int_equal(sock_buffer_content(b, v), 0);
	assert_int_equal(sock_buffer_space(b, v), 1);
	assert_int_equal(v[0].iov_len, SOCK_BUFFER);
	b->len = SOCK_BUFFER - 10;
	sock_buffer_consume(b, SOCK_BUFFER - 20);
	assert_int_equal(sock_buffer_space(b, v), 2);
	assert_int_equal(v[0].iov_len, 10);
	assert_ptr_equal(v[1].iov_base, b->data);
	assert_int_equal(v[1].iov_len, SOCK_BUFFER - 20);
	b->len += 15;
	assert_int_equal(sock_buffer_content(b, v), 2);
	assert_int_equal(v[0].iov_len, 20);
	assert_int_equal(v[1].iov_len, 5);
	b->len = SOCK_BUFFER;
	assert_int_equal(sock_buffer_space(b, v), 0);
	sock_buffer_consume(b, SOCK_BUFFER);
	assert_int_equal(b->head, 0);
	sock_buffer_give(&all, b);
	sock_buffers_fini(&all);
}

static void spare_ones_are_kept_up_to_a_limit(void **state)
{
	struct sock_buffer *b[SOCK_BUFFERS_SPARE + 1];
	struct sock_buffers all = {0};

	for (unsigned i = 0; i <= SOCK_BUFFERS_SPARE; i++)
		b[i] = sock_buffer_take(&all);
	for (unsigned i = 0; i <= SOCK_BUFFERS_SPARE; i++)
		sock_buffer_give(&all, b[i]);
	assert_int_equal(all.count, SOCK_BUFFERS_SPARE);
	/* The last that was given is the first. */
	assert_ptr_equal(sock_buffer_take(&all), b[SOCK_BUFFERS_SPARE - 1]);
	sock_buffer_give(&all, b[SOCK_BUFFERS_SPARE - 1]);
	sock_buffers_fini(&all);
	assert_null(all.spare);
}

/** One that is as large as what is in it, of a ring that has wrapped, and back. */
static void what_is_in_one_moves_to_another(void **state)
{
	struct sock_buffers all = {0};
	struct sock_buffer *whole = sock_buffer_take(&all), *cut = sock_buffer_new(30);
	struct iovec v[2];

	whole->len = SOCK_BUFFER - 10;
	sock_buffer_consume(whole, SOCK_BUFFER - 20);
	whole->len += 20;
	assert_int_equal(sock_buffer_content(whole, v), 2);
	for (unsigned i = 0, n = 0; i < 2; i++)
		for (size_t at = 0; at < v[i].iov_len; at++)
			((uint8_t *)v[i].iov_base)[at] = (uint8_t)n++;
	sock_buffer_move(cut, whole);
	assert_int_equal(whole->len, 0);
	assert_int_equal(cut->len, 30);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(cut->data[i], i);
	assert_int_equal(sock_buffer_space(cut, v), 0);
	assert_int_equal(sock_buffer_tail_room(cut), 0);
	sock_buffer_consume(cut, 29);
	assert_int_equal(sock_buffer_content(cut, v), 1);
	assert_int_equal(*(uint8_t *)v[0].iov_base, 29);
	/* It is no spare one. */
	sock_buffer_give(&all, cut);
	assert_int_equal(all.count, 0);
	sock_buffer_give(&all, whole);
	sock_buffers_fini(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_wraps_and_begins_anew_when_empty),
		cmocka_unit_test(spare_ones_are_kept_up_to_a_limit),
		cmocka_unit_test(what_is_in_one_moves_to_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
