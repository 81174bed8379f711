/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/recv_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void post(struct recv_queue *q, uint64_t wr_id)
{
	struct rdmap_rqe *e;

	recv_queue_begin(q);
	e = recv_queue_next(q);
	assert_non_null(e);
	assert_int_equal(e->wr_id, 0);
	assert_int_equal(e->num_sge, 0);
	e->wr_id = wr_id;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){1, 2, 3};
	recv_queue_commit(q);
	recv_queue_publish(q);
	recv_queue_end(q, NULL, NULL);
}

static void first_in_first_out_round_the_ring(void **state)
{
	struct recv_queue q;

	assert_int_equal(recv_queue_init(&q, 3, 2), 0);
	assert_int_equal(q.size, 4);
	assert_null(recv_queue_first(&q));
	for (uint64_t i = 1; i < 50; i++) {
		post(&q, i);
		post(&q, 1000 + i);
		assert_int_equal(recv_queue_count(&q), 2);
		assert_int_equal(recv_queue_first(&q)->wr_id, i);
		assert_int_equal(recv_queue_peek(&q, 1)->wr_id, 1000 + i);
		assert_null(recv_queue_peek(&q, 2));
		assert_null(recv_queue_peek(&q, UINT32_MAX));
		recv_queue_pop(&q);
		assert_int_equal(recv_queue_first(&q)->wr_id, 1000 + i);
		recv_queue_pop(&q);
		assert_null(recv_queue_first(&q));
		recv_queue_release(&q);
		recv_queue_release_shared(&q);
	}
	recv_queue_fini(&q);
}

static void full_when_all_are_in_use(void **state)
{
	struct recv_queue q;

	assert_int_equal(recv_queue_init(&q, 4, 1), 0);
	for (unsigned i = 1; i <= 4; i++)
		post(&q, i);
	recv_queue_begin(&q);
	assert_null(recv_queue_next(&q));
	recv_queue_publish(&q);
	recv_queue_end(&q, NULL, NULL);
	/* Not yet when one is done: when the program knows. */
	recv_queue_pop(&q);
	recv_queue_begin(&q);
	assert_null(recv_queue_next(&q));
	recv_queue_publish(&q);
	recv_queue_end(&q, NULL, NULL);
	recv_queue_release(&q);
	post(&q, 5);
	recv_queue_fini(&q);
}

static void shown_at_the_end_only(void **state)
{
	struct recv_queue q;

	assert_int_equal(recv_queue_init(&q, 4, 1), 0);
	recv_queue_begin(&q);
	assert_non_null(recv_queue_next(&q));
	recv_queue_commit(&q);
	assert_null(recv_queue_first(&q));
	/* Asked for and not committed: as if never asked for. */
	assert_non_null(recv_queue_next(&q));
	recv_queue_publish(&q);
	recv_queue_end(&q, NULL, NULL);
	assert_int_equal(recv_queue_count(&q), 1);
	recv_queue_clear(&q);
	assert_null(recv_queue_first(&q));
	post(&q, 9);
	assert_int_equal(recv_queue_first(&q)->wr_id, 9);
	recv_queue_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_in_first_out_round_the_ring),
		cmocka_unit_test(full_when_all_are_in_use),
		cmocka_unit_test(shown_at_the_end_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
