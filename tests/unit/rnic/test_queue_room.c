/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a queue has room again: a program that posts until there is none, and polls when it likes,
 * cannot overrun a CQ as large as its queues.
 */
#include "rnic/qp.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Each end with a CQ that is just as large as one of its queues. */
static int setup(void **state)
{
	static struct pair p;

	pair_init(&p, NULL);
	for (struct side *s = &p.a; s; s = s == &p.a ? &p.b : NULL) {
		assert_int_equal(rnic_qp_destroy(s->qp), 0);
		assert_int_equal(rnic_cq_resize(s->cq, PAIR_DEPTH), 0);
		s->qp = pair_qp(s, s->cq, NULL);
	}
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_CQ_ERROR), 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_CQ_ERROR), 0);
	pair_fini(p);
	return 0;
}

static bool write_one(struct pair *p, unsigned flags)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	w = rnic_sq_next(p->a.qp);
	if (w) {
		w->op = RDMAP_WR_WRITE;
		w->flags = (uint8_t)flags;
		w->length = 8;
		w->remote_to = (uintptr_t)p->b.buf;
		w->remote_stag = rnic_mr_stag(p->b.mr);
		w->num_sge = 1;
		w->sge[0] = (struct rdmap_sge){(uintptr_t)p->a.buf, 8, rnic_mr_stag(p->a.mr)};
		rnic_sq_commit(p->a.qp);
	}
	rnic_sq_end(p->a.qp);
	pair_run(p);
	return w;
}

/** Post and let each complete until there is no room; @p most of them at most. */
static unsigned write_until_full(struct pair *p, unsigned flags, unsigned most)
{
	unsigned n = 0;

	while (n < most && write_one(p, flags))
		n++;
	return n;
}

static unsigned poll_at_most(struct side *s, int n)
{
	struct rnic_wc wc[4 * PAIR_DEPTH];
	int got = rnic_cq_poll(s->cq, n, wc);

	assert_true(got >= 0);
	return (unsigned)got;
}

#define MANY (10 * PAIR_DEPTH)

static void a_send_counts_until_it_is_polled(void **state)
{
	struct pair *p = *state;

	pair_connect(p);
	assert_int_equal(write_until_full(p, RDMAP_WR_SIGNALED, MANY), PAIR_DEPTH);
	for (unsigned n = 1; n <= PAIR_DEPTH; n++) {
		assert_int_equal(poll_at_most(&p->a, (int)n), n);
		assert_int_equal(write_until_full(p, RDMAP_WR_SIGNALED, MANY), n);
	}
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_RTS);
}

/** What makes no completion cannot overrun the CQ: done, it is free. */
static void an_unsignalled_send_counts_until_it_is_done(void **state)
{
	struct pair *p = *state;

	pair_connect(p);
	assert_int_equal(write_until_full(p, 0, MANY), MANY);
	assert_int_equal(write_until_full(p, RDMAP_WR_SIGNALED, PAIR_DEPTH - 1), PAIR_DEPTH - 1);
	assert_int_equal(write_until_full(p, 0, MANY), MANY);
	assert_int_equal(write_until_full(p, RDMAP_WR_SIGNALED, MANY), 1);
	assert_int_equal(write_until_full(p, 0, MANY), 0);
	assert_int_equal(poll_at_most(&p->a, 1), 1);
	assert_int_equal(write_until_full(p, 0, MANY), MANY);
}

/** Flushed ones complete, signalled or not. */
static void a_flushed_send_counts_until_it_is_polled(void **state)
{
	struct pair *p = *state;

	pair_connect(p);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	assert_int_equal(write_until_full(p, 0, MANY), PAIR_DEPTH);
	assert_int_equal(poll_at_most(&p->a, 3), 3);
	assert_int_equal(write_until_full(p, RDMAP_WR_SIGNALED, MANY), 3);
}

/** Completions that nobody polled are gone, and so is what they held. */
static void a_reset_makes_room(void **state)
{
	struct pair *p = *state;

	for (unsigned n = 0; n < 3; n++) {
		assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
		assert_int_equal(write_until_full(p, 0, MANY), PAIR_DEPTH);
		assert_int_equal(poll_at_most(&p->a, (int)n), n);
		assert_int_equal(pair_go(p->a.qp, RNIC_QP_RESET), 0);
		assert_int_equal(poll_at_most(&p->a, MANY / 4), 0);
	}
}

/* ---- receives ------------------------------------------------------------------------------- */

static bool recv_one(struct side *s, struct rnic_srq *srq)
{
	struct rdmap_rqe *e;

	assert_int_equal(srq ? rnic_srq_begin(srq) : rnic_rq_begin(s->qp), 0);
	e = srq ? rnic_srq_next(srq) : rnic_rq_next(s->qp);
	if (e && srq)
		rnic_srq_commit(srq);
	else if (e)
		rnic_rq_commit(s->qp);
	if (srq)
		rnic_srq_end(srq);
	else
		rnic_rq_end(s->qp);
	return e;
}

/** Each receive that goes is taken by a Send at once. */
static unsigned recv_until_full(struct pair *p, struct rnic_srq *srq)
{
	unsigned n = 0;

	while (n < MANY && recv_one(&p->b, srq)) {
		n++;
		if (rnic_qp_get_state(p->b.qp) == RNIC_QP_RTS) {
			pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 0, 0, 0);
			pair_run(p);
			assert_int_equal(poll_at_most(&p->a, 1), 1);
		}
		pair_run(p);
	}
	return n;
}

static void a_receive_counts_until_it_is_polled(void **state)
{
	struct pair *p = *state;

	pair_connect(p);
	assert_int_equal(recv_until_full(p, NULL), PAIR_DEPTH);
	assert_int_equal(poll_at_most(&p->b, 5), 5);
	assert_int_equal(recv_until_full(p, NULL), 5);
	/* Flushed ones as well. */
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_ERROR), 0);
	assert_int_equal(poll_at_most(&p->b, 7), 7);
	assert_int_equal(recv_until_full(p, NULL), 7);
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_RESET), 0);
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_INIT), 0);
	assert_int_equal(recv_until_full(p, NULL), PAIR_DEPTH);
}

/** The SRQ outlives the QP that took from it, and gets back what was never polled. */
static void a_shared_receive_counts_until_it_is_polled(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(p->b.pd, PAIR_DEPTH, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	pair_connect(p);
	assert_int_equal(recv_until_full(p, srq), PAIR_DEPTH);
	assert_int_equal(poll_at_most(&p->b, 5), 5);
	assert_int_equal(recv_until_full(p, srq), 5);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	assert_int_equal(recv_until_full(p, srq), PAIR_DEPTH);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

/** A completion that found no room holds nothing of an SRQ that others use. */
static void an_overrun_gives_the_shared_receive_back(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq;
	struct rnic_wc wc;

	assert_int_equal(rnic_srq_create(p->b.pd, PAIR_DEPTH, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	assert_int_equal(rnic_cq_resize(p->b.cq, 2), 0);
	p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	pair_connect(p);
	for (unsigned i = 0; i < 3; i++)
		assert_true(recv_one(&p->b, srq));
	for (unsigned i = 0; i < 3; i++)
		pair_post(&p->a, p->a.qp, i, RDMAP_WR_SEND, 0, 0, 0, 0);
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(poll_at_most(&p->b, 2), 2);
	assert_true(rnic_cq_poll(p->b.cq, 1, &wc) < 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_CQ_ERROR), 1);
	p->b.n_events = 0;
	assert_int_equal(recv_until_full(p, srq), PAIR_DEPTH);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_send_counts_until_it_is_polled, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_unsignalled_send_counts_until_it_is_done, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_flushed_send_counts_until_it_is_polled, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reset_makes_room, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_receive_counts_until_it_is_polled, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_shared_receive_counts_until_it_is_polled, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_overrun_gives_the_shared_receive_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
