/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Between the halves of their destruction, when other threads may use queues yet: verbs destroys
 * them, and waits for events to be acknowledged before it frees them.
 */
#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static int setup(void **state)
{
	static struct pair p;

	pair_init(&p, NULL);
	*state = &p;
	return 0;
}

static void on_notify(void *context)
{
	++*(unsigned *)context;
}

/** No QP begins to use what is retired. */
static void refuse_qp(
	struct side *s, struct rnic_cq *send, struct rnic_cq *recv, struct rnic_srq *srq)
{
	struct rnic_qp_init init = {.send_cq = send, .recv_cq = recv, .srq = srq};
	struct rnic_qp *qp;

	assert_int_equal(rnic_qp_create(s->pd, &init, &qp), -EINVAL);
}

static void a_cq_is_empty_and_silent(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct rnic_wc wc;
	unsigned n = 0;

	assert_int_equal(rnic_cq_create(p->a.rnic, 4, on_notify, &n, &cq), 0);
	qp = pair_qp(&p->a, cq, NULL);
	/* A notification is withheld until there is another completion. */
	rnic_cq_moderate(cq, 2, 0);
	assert_int_equal(rnic_cq_arm(cq, false), 0);
	pair_post_recv(&p->a, qp, 1, 0, 8);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	assert_int_equal(rnic_cq_retire(cq), -EBUSY);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	assert_int_equal(rnic_cq_retire(cq), 0);
	rnic_cq_moderate(cq, 0, 0);
	assert_int_equal(n, 0);
	assert_int_equal(rnic_cq_arm(cq, false), 0);
	assert_int_equal(rnic_cq_poll(cq, 1, &wc), 0);
	assert_int_equal(rnic_cq_resize(cq, 64), 0);
	refuse_qp(&p->a, cq, p->a.cq, NULL);
	refuse_qp(&p->a, p->a.cq, cq, NULL);
	rnic_cq_free(cq);
	assert_int_equal(n, 0);
}

static void an_srq_takes_no_posts_and_tells_nothing(void **state)
{
	struct pair *p = *state;
	uint32_t wr, sge, limit;
	struct rnic_srq *srq;
	struct rnic_qp *qp;

	assert_int_equal(rnic_srq_create(p->a.pd, 4, 1, 0, &p->a, &srq), 0);
	qp = pair_qp(&p->a, p->a.cq, srq);
	assert_int_equal(rnic_srq_retire(srq), -EBUSY);
	assert_int_equal(rnic_srq_begin(srq), 0);
	rnic_srq_end(srq);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	assert_int_equal(rnic_srq_retire(srq), 0);
	/* The queue is not locked by those that fail. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(rnic_srq_begin(srq), -EINVAL);
	assert_int_equal(rnic_srq_set_limit(srq, 1), -EINVAL);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SRQ_LIMIT), 0);
	rnic_srq_get(srq, &wr, &sge, &limit);
	assert_int_equal(wr, 4);
	assert_int_equal(limit, 0);
	refuse_qp(&p->a, p->a.cq, p->a.cq, srq);
	rnic_srq_free(srq);
}

static void refuse_all(struct pair *p, struct rnic_qp *qp)
{
	static const enum rnic_qp_state states[] = {RNIC_QP_RESET, RNIC_QP_INIT, RNIC_QP_ERROR};
	const struct rnic_conn_param cp = {.qp = qp};
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_ep *ep;

	for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++)
		assert_int_equal(pair_go(qp, states[i]), -EINVAL);
	assert_int_equal(rnic_sq_begin(qp), -EINVAL);
	assert_int_equal(rnic_rq_begin(qp), -EINVAL);
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &ep), 0);
	assert_int_equal(rnic_ep_resolve(ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(ep, &cp), -EINVAL);
	rnic_ep_destroy(ep);
}

/** Its CQ stays for it. */
static void a_qp_stays_in_reset(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_init init;
	struct rnic_qp_attr attr;
	struct rnic_cq *cq;
	struct rnic_qp *qp;

	assert_int_equal(rnic_cq_create(p->a.rnic, 4, NULL, NULL, &cq), 0);
	qp = pair_qp(&p->a, cq, NULL);
	pair_post_recv(&p->a, qp, 1, 0, 8);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	pair_post_recv(&p->a, qp, 2, 0, 8);
	rnic_qp_retire(qp);
	/* A post that has begun may look at it. */
	assert_int_equal(rnic_cq_destroy(cq), -EBUSY);
	engine_lock(&p->engine);
	assert_null(rnic_qp_find(p->a.rnic, rnic_qp_num(qp)));
	engine_unlock(&p->engine);
	refuse_all(p, qp);
	rnic_qp_query(qp, &attr, &init);
	assert_int_equal(attr.state, RNIC_QP_RESET);
	assert_int_equal(init.max_send_wr, PAIR_DEPTH);
	rnic_qp_free(qp);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** Of a thread that was posting meanwhile, and tells the engine of it later. */
static void a_post_that_had_begun_is_dropped(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = pair_qp(&p->a, p->a.cq, NULL);

	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	assert_int_equal(rnic_sq_begin(qp), 0);
	rnic_sq_next(qp)->wr_id = 1;
	rnic_sq_commit(qp);
	rnic_qp_retire(qp);
	assert_false(rnic_sq_end(qp));
	/* As of one whose CQ had overflowed just before. */
	qp->cq_failed = true;
	qp->in_error = false;
	engine_ring_begin_lazy(&p->engine, &qp->doorbell);
	pair_expect_none(p, &p->a);
	assert_int_equal(rnic_qp_get_state(qp), RNIC_QP_RESET);
	engine_ring_begin_lazy(&p->engine, &qp->doorbell);
	rnic_qp_free(qp);
	pair_expect_none(p, &p->a);
	assert_false(engine_has_doorbells(&p->engine));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, pair_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_cq_is_empty_and_silent),
		CASE(an_srq_takes_no_posts_and_tells_nothing),
		CASE(a_qp_stays_in_reset),
		CASE(a_post_that_had_begun_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
