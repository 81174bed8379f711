/* SPDX-License-Identifier: BSD-2-Clause */
/* Paired QPs whose peer leaves, is lost or never comes. */
#include "rnic/pairing.h"

#include "paired.h"
#include "rnic/conn.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct pair p;

/* A pure receiver does not see, as over InfiniBand, that its peer is done and gone. */
static void test_peer_leaves_in_good_order(void **state)
{
	paired_connect(&p);
	paired_recv(&p.b, 1);
	paired_recv(&p.b, 2);
	paired_send(&p.a, 3, 'z');
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 10000);
	paired_expect_message(&p.b, 1, 'z');
	pair_expect_none(&p, &p.b);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
	paired_send(&p.b, 4, 'y');
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 4, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.b, 2, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

static void test_retries_while_all_stand_still(void **state)
{
	paired_connect(&p);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 10000);
	paired_send(&p.b, 4, 'y');
	pair_stand_still(&p, 60000);
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 4, RDMAP_WC_RETRY_EXC_ERR);
}

/* A program that was told no end to its retries is told of theirs all the same. */
static void test_peer_leaves_for_ever(void **state)
{
	struct rnic_qp_attr attr = {.patience = 0};

	paired_connect(&p);
	assert_int_equal(rnic_qp_modify(p.b.qp, RNIC_QP_PATIENCE, &attr), 0);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 100);
	paired_send(&p.b, 1, 'y');
	pair_advance(&p, 9990);
	pair_expect_none(&p, &p.b);
	pair_advance(&p, 20);
	pair_expect(&p, &p.b, 1, RDMAP_WC_RETRY_EXC_ERR);
}

static void test_peer_goes_to_error(void **state)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_ERROR};

	paired_connect(&p);
	paired_recv(&p.b, 1);
	assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE, &attr), 0);
	pair_expect_none(&p, &p.b);
	paired_send(&p.b, 2, 'y');
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 2, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.b, 1, RDMAP_WC_WR_FLUSH_ERR);
}

static void test_peer_is_lost(void **state)
{
	paired_connect(&p);
	paired_recv(&p.b, 1);
	llp_mem_fail(p.b.qp->conn->mpa.llp, -ETIMEDOUT);
	pair_expect(&p, &p.b, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

/* The side that connects is gone before it has said anything: what was posted meanwhile finds it.
 */
static void test_peer_leaves_before_it_speaks(void **state)
{
	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	paired_rtr(&p.a);
	pair_advance(&p, 100);
	p.quiet = true;
	paired_rtr(&p.b);
	paired_rts(&p.b);
	assert_true(qp_has_stream(p.b.qp));
	paired_send(&p.b, 1, 'y');
	engine_round(&p.engine);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	p.quiet = false;
	pair_advance(&p, 9900);
	pair_expect_none(&p, &p.b);
	assert_false(qp_has_stream(p.b.qp));
	pair_advance(&p, 200);
	pair_expect(&p, &p.b, 1, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

/* The path is dark just where the side that waits has answered: it waits to be asked again. */
static void test_peer_speaks_too_late(void **state)
{
	const struct pairing *b;

	p.quiet = true;
	paired_recv(&p.b, 2);
	b = paired_answer(&p);
	for (unsigned i = 0; i < 11000; i++) {
		p.clock += PAIR_MS;
		engine_round(&p.engine);
	}
	assert_int_equal(b->state, PAIRING_WAITING);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
	assert_false(qp_has_stream(p.b.qp));
	p.quiet = false;
	pair_advance(&p, 1100);
	paired_send(&p.a, 1, 'l');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
	paired_expect_message(&p.b, 2, 'l');
	assert_int_equal(p.a.n_events + p.b.n_events, 0);
}

/* ---- nobody answers ---------------------------------------------------------------------- */

/* What was posted in RTR has the time that RTS tells, and may be told to wait for ever. */
static void test_patience_comes_late(void **state)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_RTS, .patience = 0};

	paired_rtr(&p.a);
	paired_send(&p.a, 1, 'n');
	pair_advance(&p, 5000);
	assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE | RNIC_QP_PATIENCE, &attr), 0);
	pair_advance(&p, 60000);
	pair_expect_none(&p, &p.a);
	attr.patience = 20000 * PAIR_MS;
	assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_PATIENCE, &attr), 0);
	pair_advance(&p, 19900);
	pair_expect_none(&p, &p.a);
	pair_advance(&p, 200);
	pair_expect(&p, &p.a, 1, RDMAP_WC_RETRY_EXC_ERR);
}

/* As long as nothing is to be sent, nobody asked. */
static void test_nobody_there(void **state)
{
	paired_rtr(&p.a);
	paired_rts(&p.a);
	paired_recv(&p.a, 1);
	pair_advance(&p, 60000);
	assert_int_equal(paired_state(&p.a), RNIC_QP_RTS);
	paired_send(&p.a, 2, 'n');
	paired_send(&p.a, 3, 'n');
	pair_advance(&p, 9900);
	pair_expect_none(&p, &p.a);
	pair_advance(&p, 200);
	pair_expect(&p, &p.a, 2, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.a, 3, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect(&p, &p.a, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.a), RNIC_QP_ERROR);
}

static void test_nobody_comes(void **state)
{
	paired_rtr(&p.b);
	paired_rts(&p.b);
	paired_send(&p.b, 1, 'n');
	pair_advance(&p, 10100);
	pair_expect(&p, &p.b, 1, RDMAP_WC_RETRY_EXC_ERR);
}

static void test_silent_host(void **state)
{
	llp_mem_set_silent(p.mem, 1, true);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	paired_send(&p.a, 1, 'n');
	pair_advance(&p, 10100);
	pair_expect(&p, &p.a, 1, RDMAP_WC_RETRY_EXC_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_leaves_in_good_order, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_leaves_for_ever, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_retries_while_all_stand_still, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_goes_to_error, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_is_lost, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_leaves_before_it_speaks, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_speaks_too_late, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_patience_comes_late, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_nobody_there, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_nobody_comes, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_silent_host, paired_setup, paired_teardown, &p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
