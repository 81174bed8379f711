/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/qp.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static void states_that_take_posts(void **state)
{
	struct pair *p = *state;
	static const struct {
		enum rnic_qp_state state;
		int sq, rq;
	} t[] = {
		{RNIC_QP_RESET, -EINVAL, -EINVAL},
		{RNIC_QP_INIT, -EINVAL, 0},
		{RNIC_QP_RTR, -EINVAL, 0},
		{RNIC_QP_RTS, 0, 0},
		{RNIC_QP_SQD, 0, 0},
		{RNIC_QP_ERROR, 0, 0},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
					 &(struct rnic_qp_attr){.state = t[i].state}),
			0);
		/* Refused, the queue is not left locked: twice. */
		for (unsigned n = 0; n < 2; n++) {
			assert_int_equal(rnic_sq_begin(p->a.qp), t[i].sq);
			if (!t[i].sq)
				rnic_sq_end(p->a.qp);
			assert_int_equal(rnic_rq_begin(p->a.qp), t[i].rq);
			if (!t[i].rq)
				rnic_rq_end(p->a.qp);
		}
	}
}

static void full(void **state)
{
	struct pair *p = *state;

	pair_go(p->a.qp, RNIC_QP_RTR);
	pair_go(p->a.qp, RNIC_QP_RTS);
	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	for (unsigned i = 0; i < PAIR_DEPTH; i++) {
		assert_non_null(rnic_sq_next(p->a.qp));
		rnic_sq_commit(p->a.qp);
	}
	assert_null(rnic_sq_next(p->a.qp));
	rnic_sq_end(p->a.qp);
	assert_int_equal(rnic_rq_begin(p->a.qp), 0);
	for (unsigned i = 0; i < PAIR_DEPTH; i++) {
		assert_non_null(rnic_rq_next(p->a.qp));
		rnic_rq_commit(p->a.qp);
	}
	assert_null(rnic_rq_next(p->a.qp));
	rnic_rq_end(p->a.qp);
}

/** The header is zeroed whatever stood there; a batch goes out at its end. */
static void elements_are_clean_and_shown_together(void **state)
{
	struct pair *p = *state;
	struct rdmap_wqe *w;
	struct rnic_wc wc;

	pair_connect(p);
	for (unsigned round = 0; round < 3 * PAIR_DEPTH; round += 2) {
		assert_int_equal(rnic_sq_begin(p->a.qp), 0);
		for (unsigned i = 0; i < 2; i++) {
			w = rnic_sq_next(p->a.qp);
			assert_int_equal(w->wr_id, 0);
			assert_int_equal(w->flags, 0);
			assert_int_equal(w->num_sge, 0);
			assert_false(w->done);
			w->wr_id = round + i;
			w->op = RDMAP_WR_WRITE;
			w->flags = RDMAP_WR_SIGNALED;
			w->num_sge = 1;
			rnic_sq_commit(p->a.qp);
			assert_int_equal(p->a.qp->sq.head, round);
		}
		rnic_sq_end(p->a.qp);
		assert_int_equal(p->a.qp->sq.head, round + 2);
		pair_expect(p, &p->a, round, RDMAP_WC_SUCCESS);
		pair_expect(p, &p->a, round + 1, RDMAP_WC_SUCCESS);
	}
	assert_int_equal(rnic_cq_poll(p->a.cq, 1, &wc), 0);
}

static void signalled_when_all_are(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_init init = {.send_cq = p->a.cq,
		.recv_cq = p->a.cq,
		.max_send_wr = 4,
		.max_recv_wr = 1,
		.sq_sig_all = true};

	/* Not signalled: no completion. */
	pair_connect(p);
	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	assert_non_null(rnic_sq_next(p->a.qp));
	rnic_sq_next(p->a.qp)->op = RDMAP_WR_WRITE;
	rnic_sq_commit(p->a.qp);
	rnic_sq_end(p->a.qp);
	pair_expect_none(p, &p->a);
	assert_int_equal(p->a.qp->sq.tail, 1);

	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	assert_int_equal(rnic_qp_create(p->a.pd, &init, &p->a.qp), 0);
	pair_go(p->a.qp, RNIC_QP_INIT);
	pair_go(p->a.qp, RNIC_QP_RTR);
	pair_go(p->a.qp, RNIC_QP_RTS);
	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	assert_non_null(rnic_sq_next(p->a.qp));
	rnic_sq_commit(p->a.qp);
	assert_true(rdmap_sq_at(&p->a.qp->sq, 0)->flags & RDMAP_WR_SIGNALED);
	rnic_sq_end(p->a.qp);
}

/** A post while another drives the engine waits for nothing, and is served by the other. */
static void a_busy_engine_serves_later(void **state)
{
	struct pair *p = *state;

	pair_connect(p);
	p->quiet = true;
	engine_lock(&p->engine);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 8, (uintptr_t)p->b.buf,
		rnic_mr_stag(p->b.mr));
	assert_int_equal(p->a.qp->sq.tail, 0);
	engine_unlock(&p->engine);
	assert_int_equal(p->a.qp->sq.tail, 1);
	p->quiet = false;
}

static uint64_t clock_unlocked(void *ctx)
{
	return ((struct pair *)ctx)->clock;
}

static void write_8(struct pair *p)
{
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 8, (uintptr_t)p->b.buf,
		rnic_mr_stag(p->b.mr));
}

static int setup_batching(void **state)
{
	static struct engine_ops batching;
	struct pair *p;

	pair_setup_apart(state);
	p = *state;
	batching = *p->engine.ops;
	batching.clock_unlocked = clock_unlocked;
	p->engine.ops = &batching;
	pair_connect(p);
	return 0;
}

/** A series: its first go at once, the others when the program polls, whatever it finds. */
static void posts_batch_until_a_poll(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST + 3; i++)
		write_8(p);
	assert_int_equal(p->a.qp->sq.tail, RNIC_POST_BATCH_FIRST);
	assert_int_equal(rnic_cq_poll(p->a.cq, 1, &wc), 1);
	assert_int_equal(p->a.qp->sq.tail, RNIC_POST_BATCH_FIRST + 3);
	/* A program that may be about to sleep is not made to wait. */
	rnic_cq_arm(p->a.cq, true);
	write_8(p);
	assert_int_equal(p->a.qp->sq.tail, RNIC_POST_BATCH_FIRST + 4);
}

/** What was not asked whether it may wait, as the CQ was armed, makes no later post go at once. */
static void a_large_post_does_not_hurry_the_next(void **state)
{
	struct pair *p = *state;

	rnic_cq_arm(p->a.cq, false);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, RNIC_POST_BATCH_BYTES + 1,
		(uintptr_t)p->b.buf, rnic_mr_stag(p->b.mr));
	pair_run(p);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST + 1; i++)
		write_8(p);
	assert_int_equal(p->a.qp->sq.tail, 1 + RNIC_POST_BATCH_FIRST);
}

/** A thread's posts are a series whichever queues they are for. */
static void posts_to_several_queues_batch(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *other = pair_qp(&p->a, p->a.cq, NULL);
	struct rnic_wc wc;

	pair_go(other, RNIC_QP_INIT);
	pair_go(other, RNIC_QP_RTR);
	pair_go(other, RNIC_QP_RTS);
	for (unsigned i = 0; i < RNIC_POST_BATCH_FIRST; i++) {
		assert_int_equal(rnic_sq_begin(other), 0);
		rnic_sq_end(other);
	}
	write_8(p);
	assert_int_equal(p->a.qp->sq.tail, 0);
	assert_int_equal(rnic_cq_poll(p->a.cq, 1, &wc), 1);
	assert_int_equal(p->a.qp->sq.tail, 1);
	assert_int_equal(rnic_qp_destroy(other), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			states_that_take_posts, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(full, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			elements_are_clean_and_shown_together, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			signalled_when_all_are, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_busy_engine_serves_later, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			posts_batch_until_a_poll, setup_batching, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_large_post_does_not_hurry_the_next, setup_batching, pair_teardown),
		cmocka_unit_test_setup_teardown(
			posts_to_several_queues_batch, setup_batching, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
