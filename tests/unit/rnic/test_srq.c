/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/srq.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void post(struct side *s, struct rnic_srq *srq, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct rdmap_rqe *w;

	assert_int_equal(rnic_srq_begin(srq), 0);
	w = rnic_srq_next(srq);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){(uintptr_t)s->buf + at, len, rnic_mr_stag(s->mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
}

static void what_can_be_created(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq;
	uint32_t wr, sge, limit;

	assert_int_equal(rnic_srq_create(p->b.pd, 0, 1, 0, NULL, &srq), -EINVAL);
	assert_int_equal(rnic_srq_create(p->b.pd, 16385, 1, 0, NULL, &srq), -EINVAL);
	assert_int_equal(rnic_srq_create(p->b.pd, 1, 17, 0, NULL, &srq), -EINVAL);
	assert_int_equal(rnic_srq_create(p->b.pd, 4, 1, 5, NULL, &srq), -EINVAL);
	assert_int_equal(rnic_srq_create(p->b.pd, 5, 3, 2, NULL, &srq), 0);
	rnic_srq_get(srq, &wr, &sge, &limit);
	assert_int_equal(wr, 8);
	assert_int_equal(sge, 3);
	assert_int_equal(limit, 2);
	assert_int_equal(rnic_srq_set_limit(srq, 9), -EINVAL);
	for (unsigned i = 0; i < 8; i++)
		post(&p->b, srq, i, 0, 1);
	assert_int_equal(rnic_srq_set_limit(srq, 8), 0);
	rnic_srq_get(srq, &wr, &sge, &limit);
	assert_int_equal(limit, 8);
	rnic_srq_begin(srq);
	assert_null(rnic_srq_next(srq));
	rnic_srq_end(srq);
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

static void limit_of_the_device(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_srq = 1};
	struct pair p;
	struct rnic_srq *srq, *more;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &p.a.pd), 0);
	assert_int_equal(rnic_srq_create(p.a.pd, 1, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_srq_create(p.a.pd, 1, 1, 0, NULL, &more), -ENOMEM);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	pair_fini(&p);
}

/** B's QP takes from an SRQ. */
static struct rnic_srq *with_srq(struct pair *p)
{
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(p->b.pd, 8, 2, 0, &p->b, &srq), 0);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	assert_int_equal(rnic_rq_begin(p->b.qp), -EINVAL);
	assert_int_equal(rnic_srq_destroy(srq), -EBUSY);
	return srq;
}

static void finish(struct pair *p, struct rnic_srq *srq)
{
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

static void sends_take_in_order_and_the_limit_tells_once(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);

	pair_connect(p);
	for (unsigned i = 0; i < 4; i++)
		post(&p->b, srq, 10 + i, 100 * i, 100);
	assert_int_equal(rnic_srq_set_limit(srq, 3), 0);
	memcpy(p->a.buf, "one", 4);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_expect(p, &p->b, 10, RDMAP_WC_SUCCESS);
	assert_string_equal((char *)p->b.buf, "one");
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 0);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_expect(p, &p->b, 11, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 1);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_expect(p, &p->b, 12, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 1);
	finish(p, srq);
}

/** A limit that comes too late: the event does not wait for a message, which may find nothing. */
static void a_limit_above_what_is_there_tells_at_once(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);
	uint32_t wr, sge, limit;

	assert_int_equal(rnic_srq_set_limit(srq, 1), 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 1);
	rnic_srq_get(srq, &wr, &sge, &limit);
	assert_int_equal(limit, 0);
	post(&p->b, srq, 10, 0, 100);
	post(&p->b, srq, 11, 0, 100);
	assert_int_equal(rnic_srq_set_limit(srq, 2), 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 1);
	assert_int_equal(rnic_srq_set_limit(srq, 3), 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 2);
	assert_int_equal(rnic_srq_set_limit(srq, 0), 0);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_SRQ_LIMIT), 2);
	finish(p, srq);
}

/** Half of a message of 30,000 octets comes, and has its element. */
static void half_a_message(struct pair *p)
{
	llp_mem_set_buffer(p->mem, 10000);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 30000, 0, 0);
	engine_lock(&p->engine);
	for (unsigned i = 0; i < 4; i++)
		llp_mem_step(p->mem);
	engine_unlock(&p->engine);
}

/** The QP fails: what it had taken is flushed, what is in the SRQ stays for the others. */
static void an_error_leaves_the_srq_alone(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);
	struct rnic_wc wc;

	pair_connect(p);
	post(&p->b, srq, 20, 0, 30000);
	post(&p->b, srq, 21, 0, 100);
	half_a_message(p);
	assert_int_equal(recv_queue_count(&srq->rq), 1);
	assert_int_equal(rnic_qp_modify(p->b.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	assert_int_equal(rnic_cq_poll(p->b.cq, 1, &wc), 1);
	assert_int_equal(wc.wc.wr_id, 20);
	assert_int_equal(wc.wc.status, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(rnic_cq_poll(p->b.cq, 1, &wc), 0);
	assert_int_equal(recv_queue_count(&srq->rq), 1);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_LAST_WQE), 1);
	finish(p, srq);
}

/** Half of a message has an element, and its QP leaves: the element's room is there again. */
static void who_leaves_gives_its_room_back(struct pair *p, bool reset)
{
	struct rnic_srq *srq = with_srq(p);
	struct rnic_wc wc;

	pair_connect(p);
	for (unsigned i = 0; i < 8; i++)
		post(&p->b, srq, 20 + i, 0, 30000);
	half_a_message(p);
	assert_int_equal(recv_queue_count(&srq->rq), 7);
	if (reset) {
		assert_int_equal(pair_go(p->b.qp, RNIC_QP_RESET), 0);
	} else {
		assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
		p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	}
	assert_int_equal(rnic_cq_poll(p->b.cq, 1, &wc), 0);
	post(&p->b, srq, 30, 0, 100);
	rnic_srq_begin(srq);
	assert_null(rnic_srq_next(srq));
	rnic_srq_end(srq);
	p->quiet = false;
	finish(p, srq);
}

static void a_qp_that_is_destroyed_gives_its_room_back(void **state)
{
	who_leaves_gives_its_room_back(*state, false);
}

static void a_qp_that_is_reset_gives_its_room_back(void **state)
{
	who_leaves_gives_its_room_back(*state, true);
}

/** Verbs: the event of the last WQE is of a QP that goes to the error state, and comes once. */
static void only_a_qp_in_error_tells_of_its_last(void **state)
{
	static const enum rnic_qp_state ways[] = {
		RNIC_QP_RESET, RNIC_QP_RESET, RNIC_QP_ERROR, RNIC_QP_RESET};
	static const unsigned events[] = {0, 0, 1, 1};
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);

	pair_connect(p);
	for (unsigned i = 0; i < 4; i++) {
		/* The first with a request under way, which is reset; the second without a stream.
		 */
		if (i == 0)
			pair_post(&p->b, p->b.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
		assert_int_equal(pair_go(p->b.qp, ways[i]), 0);
		assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_LAST_WQE), events[i]);
	}
	finish(p, srq);
}

/** One that is destroyed with its stream is not in the error state either. */
static void a_qp_that_is_destroyed_tells_nothing(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);

	pair_connect(p);
	finish(p, srq);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_LAST_WQE), 0);
}

static void an_empty_srq_ends_the_stream(void **state)
{
	struct pair *p = *state;
	struct rnic_srq *srq = with_srq(p);

	pair_connect(p);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_REQUEST_ERROR), 1);
	finish(p, srq);
}

/** That of the QPs may be another. */
static void memory_is_of_the_pd_of_the_srq(void **state)
{
	struct pair *p = *state;
	struct side of_srq = p->b;
	struct rnic_srq *srq;

	assert_int_equal(rnic_pd_alloc(p->b.rnic, &of_srq.pd), 0);
	assert_int_equal(rnic_mr_reg(of_srq.pd, p->b.buf, PAIR_BUF, (uintptr_t)p->b.buf,
				 RNIC_ACCESS_LOCAL_WRITE, &of_srq.mr),
		0);
	assert_int_equal(rnic_srq_create(of_srq.pd, 8, 2, 0, &p->b, &srq), 0);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = pair_qp(&p->b, p->b.cq, srq);
	pair_connect(p);
	post(&of_srq, srq, 10, 0, 100);
	post(&p->b, srq, 11, 0, 100);
	memcpy(p->a.buf, "one", 4);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_expect(p, &p->b, 10, RDMAP_WC_SUCCESS);
	assert_string_equal((char *)p->b.buf, "one");
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 4, 0, 0);
	pair_expect(p, &p->b, 11, RDMAP_WC_LOC_PROT_ERR);
	finish(p, srq);
	assert_int_equal(rnic_mr_dereg(of_srq.mr), 0);
	assert_int_equal(rnic_pd_dealloc(of_srq.pd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_can_be_created, pair_setup_apart, pair_teardown),
		cmocka_unit_test(limit_of_the_device),
		cmocka_unit_test_setup_teardown(sends_take_in_order_and_the_limit_tells_once,
			pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_limit_above_what_is_there_tells_at_once, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_error_leaves_the_srq_alone, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			only_a_qp_in_error_tells_of_its_last, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_qp_that_is_destroyed_tells_nothing, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(a_qp_that_is_destroyed_gives_its_room_back,
			pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_qp_that_is_reset_gives_its_room_back, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_empty_srq_ends_the_stream, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			memory_is_of_the_pd_of_the_srq, pair_setup_apart, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
