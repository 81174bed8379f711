/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/qp.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

/** All 7 x 7 transitions without a connection; capital: allowed. */
static void transitions(void **state)
{
	struct pair *p = *state;
	/* RESET INIT RTR RTS SQD SQE ERROR; from ERROR to SQD nothing happens. */
	static const char table[7][8] = {
		"YYnnnnY", /* RESET */
		"YYYnnnY", /* INIT */
		"YnnYnnY", /* RTR */
		"YnnYYnY", /* RTS */
		"YnnYYnY", /* SQD */
		"",        /* SQE: never entered */
		"YnnnYnY", /* ERROR */
	};
	static const enum rnic_qp_state path[7][5] = {
		[RNIC_QP_INIT] = {RNIC_QP_INIT},
		[RNIC_QP_RTR] = {RNIC_QP_INIT, RNIC_QP_RTR},
		[RNIC_QP_RTS] = {RNIC_QP_INIT, RNIC_QP_RTR, RNIC_QP_RTS},
		[RNIC_QP_SQD] = {RNIC_QP_INIT, RNIC_QP_RTR, RNIC_QP_RTS, RNIC_QP_SQD},
		[RNIC_QP_ERROR] = {RNIC_QP_ERROR},
	};
	struct rnic_qp *qp = p->a.qp;

	for (unsigned from = 0; from < 7; from++) {
		for (unsigned to = 0; table[from][0] && to < 7; to++) {
			bool quiet_sqd = to == RNIC_QP_SQD && from == RNIC_QP_ERROR;

			assert_int_equal(pair_go(qp, RNIC_QP_RESET), 0);
			for (unsigned i = 0; i < 5 && path[from][i] != RNIC_QP_RESET; i++)
				assert_int_equal(pair_go(qp, path[from][i]), 0);
			assert_int_equal(rnic_qp_get_state(qp), from);
			if (table[from][to] == 'n') {
				assert_int_equal(pair_go(qp, to), -EINVAL);
				assert_int_equal(rnic_qp_get_state(qp), from);
			} else {
				assert_int_equal(pair_go(qp, to), 0);
				assert_int_equal(rnic_qp_get_state(qp), quiet_sqd ? from : to);
			}
		}
	}
}

static void attributes(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_attr attr = {.access = RNIC_ACCESS_REMOTE_READ, .ird = 128, .ord = 7};
	struct rnic_qp_init init;

	assert_int_equal(rnic_qp_modify(p->a.qp, 0, NULL), 0);
	assert_int_equal(
		rnic_qp_modify(p->a.qp, RNIC_QP_ACCESS | RNIC_QP_IRD | RNIC_QP_ORD, &attr), 0);
	attr.ird = 129;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_IRD, &attr), -EINVAL);
	attr.ord = 129;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_ORD, &attr), -EINVAL);
	rnic_qp_query(p->a.qp, &attr, &init);
	assert_int_equal(attr.access, RNIC_ACCESS_REMOTE_READ);
	assert_int_equal(attr.ird, 128);
	assert_int_equal(attr.ord, 7);
	assert_int_equal(attr.state, RNIC_QP_INIT);
	/* They were for the peer of before. */
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RESET), 0);
	rnic_qp_query(p->a.qp, &attr, &init);
	assert_int_equal(attr.access, 0);
	assert_int_equal(attr.ird, 0);
	assert_int_equal(attr.ord, 0);
}

/** Posted before and after: everything completes flushed, in order, sends and receives. */
static void error_flushes(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	for (unsigned i = 0; i < 3; i++)
		pair_post_recv(&p->a, p->a.qp, 100 + i, 0, 8);
	pair_go(p->a.qp, RNIC_QP_RTR);
	pair_go(p->a.qp, RNIC_QP_RTS);
	for (unsigned i = 0; i < 3; i++)
		pair_post(&p->a, p->a.qp, 200 + i, RDMAP_WR_WRITE, 0, 8, 0, 0);
	pair_expect_none(p, &p->a);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	for (unsigned i = 0; i < 3; i++) {
		wc = pair_expect(p, &p->a, 200 + i, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wc.op, RDMAP_WC_WRITE);
	}
	for (unsigned i = 0; i < 3; i++) {
		wc = pair_expect(p, &p->a, 100 + i, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wc.op, RDMAP_WC_RECV);
	}
	pair_expect_none(p, &p->a);
	pair_post(&p->a, p->a.qp, 300, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->a, 300, RDMAP_WC_WR_FLUSH_ERR);
	pair_post_recv(&p->a, p->a.qp, 301, 0, 8);
	pair_expect(p, &p->a, 301, RDMAP_WC_WR_FLUSH_ERR);
	/* Unsignalled ones as well: an error is always told. */
	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	rnic_sq_next(p->a.qp)->wr_id = 302;
	rnic_sq_commit(p->a.qp);
	rnic_sq_end(p->a.qp);
	pair_expect(p, &p->a, 302, RDMAP_WC_WR_FLUSH_ERR);
	/* The program asked for it: no event. */
	assert_int_equal(p->a.n_events, 0);
}

static void reset_empties(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	pair_go(p->a.qp, RNIC_QP_RTR);
	pair_go(p->a.qp, RNIC_QP_RTS);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_WRITE, 0, 8, 0, 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	/* Completions of before are gone too. */
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RESET), 0);
	pair_expect_none(p, &p->a);
	assert_int_equal(rnic_rq_begin(p->a.qp), -EINVAL);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_INIT), 0);
	pair_post_recv(&p->a, p->a.qp, 3, 0, 8);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	pair_expect(p, &p->a, 3, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->a);
}

/** @return how many sends there is room for; they are posted. */
static unsigned fill(struct rnic_qp *qp)
{
	unsigned n = 0;

	assert_int_equal(rnic_sq_begin(qp), 0);
	for (struct rdmap_wqe *w; (w = rnic_sq_next(qp)); n++) {
		w->wr_id = 1000 + n;
		w->op = RDMAP_WR_WRITE;
		rnic_sq_commit(qp);
	}
	rnic_sq_end(qp);
	return n;
}

static void to_rtr(struct rnic_qp *qp)
{
	assert_int_equal(pair_go(qp, RNIC_QP_INIT), 0);
	assert_int_equal(pair_go(qp, RNIC_QP_RTR), 0);
}

static void to_rts(struct rnic_qp *qp)
{
	to_rtr(qp);
	assert_int_equal(pair_go(qp, RNIC_QP_RTS), 0);
}

/** Between begin and end, by the same thread as well as by another: nothing waits for the end. */
static void reset_while_sends_are_built(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = p->a.qp;

	to_rts(qp);
	fill(qp);
	assert_int_equal(pair_go(qp, RNIC_QP_RESET), 0);
	to_rts(qp);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rnic_sq_begin(qp), 0);
		assert_non_null(rnic_sq_next(qp));
		rnic_sq_commit(qp);
		assert_int_equal(pair_go(qp, i ? RNIC_QP_ERROR : RNIC_QP_RESET), 0);
		assert_int_equal(pair_go(qp, RNIC_QP_RESET), 0);
		assert_non_null(rnic_sq_next(qp));
		rnic_sq_commit(qp);
		if (i)
			to_rtr(qp);
		rnic_sq_end(qp);
		assert_int_equal(rnic_sq_begin(qp), -EINVAL);
		if (!i)
			to_rtr(qp);
		assert_int_equal(pair_go(qp, RNIC_QP_RTS), 0);
	}
	/* Nothing of that is left, and all of the room. */
	assert_int_equal(fill(qp), qp->sq.size);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	for (unsigned i = 0; i < qp->sq.size; i++)
		pair_expect(p, &p->a, 1000 + i, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->a);
}

/** The QP takes sends again before what was begun is complete: that was for its last peer. */
static void reset_and_used_again_while_sends_are_built(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = p->a.qp;

	to_rts(qp);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rnic_sq_begin(qp), 0);
		assert_non_null(rnic_sq_next(qp));
		rnic_sq_commit(qp);
		assert_int_equal(pair_go(qp, RNIC_QP_RESET), 0);
		to_rts(qp);
		if (i) {
			assert_non_null(rnic_sq_next(qp));
			rnic_sq_commit(qp);
		}
		assert_false(rnic_sq_end(qp));
		assert_int_equal(atomic_load(&qp->sq.head), atomic_load(&qp->sq.tail));
	}
	assert_int_equal(fill(qp), qp->sq.size);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	for (unsigned i = 0; i < qp->sq.size; i++)
		pair_expect(p, &p->a, 1000 + i, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->a);
}

/** One whose end looks at the state just before: whom it rings finds it in RESET or INIT. */
static void reset_while_sends_are_posted(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = p->a.qp;

	to_rts(qp);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rnic_sq_begin(qp), 0);
		assert_non_null(rnic_sq_next(qp));
		rnic_sq_commit(qp);
		assert_int_equal(pair_go(qp, RNIC_QP_RESET), 0);
		if (i)
			assert_int_equal(pair_go(qp, RNIC_QP_INIT), 0);
		/* What is left of rnic_sq_end(). */
		atomic_store(&qp->sq.head, qp->sq_posted);
		pthread_spin_unlock(&qp->sq_lock);
		engine_ring(&p->engine, &qp->doorbell);
		if (!i)
			assert_int_equal(pair_go(qp, RNIC_QP_INIT), 0);
		assert_int_equal(pair_go(qp, RNIC_QP_RTR), 0);
		assert_int_equal(pair_go(qp, RNIC_QP_RTS), 0);
	}
	assert_int_equal(fill(qp), qp->sq.size);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	pair_expect(p, &p->a, 1000, RDMAP_WC_WR_FLUSH_ERR);
}

/** A QP that was used, failed and reset is as good as new. */
static void connects_again_after_reset(void **state)
{
	struct pair *p = *state;
	struct rnic_conn_param cp = {.ird = 1, .ord = 1};
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	pair_connect(p);
	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RESET), 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_INIT), 0);
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_RESET), 0);
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_INIT), 0);
	rnic_ep_destroy(p->b.request);
	p->b.request = NULL;
	rnic_ep_destroy(p->a.ep);
	/* The listener's handler will do: it records all the same. */
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &p->a.ep), 0);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	cp.qp = p->a.qp;
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_run(p);
	assert_non_null(p->b.request);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	cp.qp = p->b.qp;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_post_recv(&p->b, p->b.qp, 2, 0, 8);
	pair_run(p);
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->b, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(transitions, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(attributes, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(error_flushes, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(reset_empties, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			reset_while_sends_are_built, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(reset_and_used_again_while_sends_are_built,
			pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			reset_while_sends_are_posted, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			connects_again_after_reset, pair_setup_apart, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
