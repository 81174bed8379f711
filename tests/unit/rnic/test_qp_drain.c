/* SPDX-License-Identifier: BSD-2-Clause */
/** SQD: what has started is finished, and what has not waits. */
#include "rnic/qp.h"

#include "pair.h"
#include "rnic/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static const struct rnic_qp_attr drain_and_tell = {.state = RNIC_QP_SQD, .drain_notify = true};

/** With a Read under way; nothing moves, as the pair is quiet. */
static void begin_to_drain(struct pair *p)
{
	p->quiet = true;
	pair_post(
		&p->a, p->a.qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(&p->b, 0), rnic_mr_stag(p->b.mr));
	assert_int_equal(
		rnic_qp_modify(p->a.qp, RNIC_QP_STATE | RNIC_QP_DRAIN_NOTIFY, &drain_and_tell), 0);
}

/**
 * SQD: what has started is finished, which is told if that was wanted; what has not waits, until
 * the program goes back to RTS. Receiving goes on.
 */
static void drain(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_attr attr = {.state = RNIC_QP_SQD, .drain_notify = true}, now;
	struct rnic_qp_init init;

	begin_to_drain(p);
	rnic_qp_query(p->a.qp, &now, &init);
	assert_int_equal(now.state, RNIC_QP_SQD);
	assert_true(now.draining);
	pair_post(
		&p->a, p->a.qp, 2, RDMAP_WR_READ, 8, 8, pair_addr(&p->b, 8), rnic_mr_stag(p->b.mr));
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 0);
	p->quiet = false;
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect_none(p, &p->a);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 1);
	rnic_qp_query(p->a.qp, &now, &init);
	assert_false(now.draining);
	pair_post_recv(&p->a, p->a.qp, 3, 100, 8);
	pair_post(&p->b, p->b.qp, 4, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	attr.state = RNIC_QP_RTS;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE, &attr), 0);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	/* Nothing under way: at once; and without being wanted, nothing is told. */
	attr.state = RNIC_QP_SQD;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE | RNIC_QP_DRAIN_NOTIFY, &attr), 0);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 2);
	attr.state = RNIC_QP_RTS;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE, &attr), 0);
	attr.state = RNIC_QP_SQD;
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE, &attr), 0);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 2);
}

/** Each time it is said anew whether the end is to be told: nothing is left of a wish before. */
static void drain_untold(void **state)
{
	struct pair *p = *state;

	begin_to_drain(p);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RTS), 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_SQD), 0);
	p->quiet = false;
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 0);
}

/**
 * The end of the connection comes while it drains: that is told all the same, when what was posted
 * behind has been sent as well.
 */
static void drain_until_the_close(void **state)
{
	struct pair *p = *state;

	begin_to_drain(p);
	pair_post(
		&p->a, p->a.qp, 2, RDMAP_WR_READ, 8, 8, pair_addr(&p->b, 8), rnic_mr_stag(p->b.mr));
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 0);
	p->quiet = false;
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 1);
	assert_int_equal(p->a.n_events, 1);
}

/** And where the stream ends in an error instead, nothing has drained. */
static void drain_until_an_error(void **state)
{
	struct pair *p = *state;

	begin_to_drain(p);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	llp_mem_fail(p->a.qp->conn->mpa.llp, -ETIMEDOUT);
	p->quiet = false;
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 0);
}

/** A message that is half sent has started: its rest goes out, and what is behind it does not. */
static void drain_in_the_middle(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_attr attr = {.state = RNIC_QP_SQD, .drain_notify = true};

	pair_post_recv(&p->b, p->b.qp, 1, 0, 30000);
	llp_mem_set_buffer(p->mem, 5000);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 30000, 0, 0);
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_SEND, 0, 8, 0, 0);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE | RNIC_QP_DRAIN_NOTIFY, &attr), 0);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 0);
	p->quiet = false;
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 1);
	pair_expect_none(p, &p->a);
	/* The end of the connection lets it go, and sends it. */
	pair_post_recv(&p->b, p->b.qp, 4, 0, 8);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 4, RDMAP_WC_SUCCESS);
}

/**
 * A program that brings its QP to RTS itself, and drains it while its connection begins: SQD is as
 * before when there is one, and the program alone ends it.
 */
static void drain_during_the_start_up(void **state)
{
	static struct pair pair;
	struct pair *p = &pair;
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};

	(void)state;
	pair_init(p, NULL);
	cp.qp = p->b.qp;
	pair_request(p, NULL);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RTR), 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RTS), 0);
	assert_int_equal(
		rnic_qp_modify(p->a.qp, RNIC_QP_STATE | RNIC_QP_DRAIN_NOTIFY, &drain_and_tell), 0);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_SQ_DRAINED), 1);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_run(p);
	assert_int_equal(pair_count(&p->a, RNIC_EP_ESTABLISHED), 1);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_SQD);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 8);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect_none(p, &p->a);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RTS), 0);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	pair_fini(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(drain, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(drain_untold, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(drain_until_the_close, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(drain_until_an_error, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(drain_in_the_middle, pair_setup, pair_teardown),
		cmocka_unit_test(drain_during_the_start_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
