/* SPDX-License-Identifier: BSD-2-Clause */
/** A Terminate that waits for room in the send buffer. */
#include "rnic/qp.h"

#include "pair.h"
#include "rdmap/rdmap.h"
#include "rnic/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

/**
 * The error is found while the send buffer is full, so the Terminate waits: the connection lingers
 * for it, whatever the program does with the QP meanwhile.
 */
static void fill_then_fail(struct pair *p)
{
	llp_mem_set_buffer(p->mem, 2900);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 30000, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	p->quiet = false;
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(llp_mem_open_count(p->mem), 2);
}

static void a_terminate_that_waits_is_sent(void **state)
{
	struct pair *p = *state;

	fill_then_fail(p);
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->b)->status, -EPROTO); /* not -ECONNRESET: it came */
	pair_advance(p, 5100);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	assert_null(p->a.qp->lingering);
}

static void a_terminate_that_cannot_be_sent_is_given_up(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	fill_then_fail(p);
	pair_advance(p, 4900);
	assert_non_null(p->a.qp->lingering);
	pair_advance(p, 200);
	assert_null(p->a.qp->lingering);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

/** It has found room, but does not arrive for longer than a close may take: TCP goes on with it. */
static void a_terminate_that_is_on_its_way_is_not_reset(void **state)
{
	struct pair *p = *state;

	fill_then_fail(p);
	llp_mem_set_silent(p->mem, 1, true);
	llp_mem_set_buffer(p->mem, 1 << 20);
	pair_run(p);
	assert_non_null(p->a.qp->lingering);
	assert_false(rdmap_terminate_waits(&p->a.qp->rdmap));
	pair_advance(p, 5100);
	assert_null(p->a.qp->lingering);
	llp_mem_set_silent(p->mem, 1, false);
	pair_run(p);
	assert_int_equal(pair_last(&p->b)->status, -EPROTO);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

/** The peer takes a little now and then: what the Terminate waits for gets on. */
static void a_terminate_that_waits_has_time_while_the_peer_reads(void **state)
{
	struct pair *p = *state;

	llp_mem_set_segment(p->mem, 100);
	fill_then_fail(p);
	for (unsigned i = 0; i < 5; i++) {
		llp_mem_set_silent(p->mem, 1, true);
		pair_advance(p, 4000);
		assert_non_null(p->a.qp->lingering);
		llp_mem_set_silent(p->mem, 1, false);
		engine_lock(&p->engine);
		p->quiet = true;
		llp_mem_step(p->mem);
		engine_unlock(&p->engine);
		p->quiet = false;
	}
	assert_true(rdmap_terminate_waits(&p->a.qp->rdmap));
	pair_run(p);
	assert_int_equal(pair_last(&p->b)->status, -EPROTO);
}

static void a_terminate_that_waits_dies_with_its_qp(void **state)
{
	struct pair *p = *state;

	fill_then_fail(p);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_RESET}),
		0);
	assert_null(p->a.qp->lingering);
	pair_run(p);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
}

/** The connection is over, which the LLP tells of while the QP is about to say why it ends. */
static void a_terminate_finds_the_connection_over(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	llp_mem_fail(mpa_llp(&p->a.qp->conn->mpa), -ECONNRESET);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->a)->status, -ECONNRESET);
	assert_null(p->a.qp->conn);
	assert_null(p->a.qp->lingering);
	p->quiet = false;
	pair_run(p);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_terminate_that_waits_is_sent, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_terminate_that_cannot_be_sent_is_given_up, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_terminate_that_is_on_its_way_is_not_reset, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_terminate_that_waits_has_time_while_the_peer_reads, pair_setup,
			pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_terminate_that_waits_dies_with_its_qp, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_terminate_finds_the_connection_over, pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
