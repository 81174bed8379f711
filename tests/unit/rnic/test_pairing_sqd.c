/* SPDX-License-Identifier: BSD-2-Clause */
/* SQD of QPs that connect without rdma_cm. */
#include "paired.h"
#include "rnic/conn.h"
#include "rnic/qp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct pair p;

static void sqd(const struct side *s)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_SQD, .drain_notify = true};

	assert_int_equal(rnic_qp_modify(s->qp, RNIC_QP_STATE | RNIC_QP_DRAIN_NOTIFY, &attr), 0);
}

static void test_sqd_holds_sends(void **state)
{
	paired_connect(&p);
	paired_recv(&p.a, 1);
	paired_recv(&p.b, 2);
	sqd(&p.a);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_SQ_DRAINED), 1);
	paired_send(&p.a, 3, 'h');
	pair_advance(&p, 60000);
	pair_expect_none(&p, &p.a);
	pair_expect_none(&p, &p.b);
	/* The peer's go on, and are received. */
	paired_send(&p.b, 4, 'r');
	paired_expect_message(&p.a, 1, 'r');
	pair_expect(&p, &p.b, 4, RDMAP_WC_SUCCESS);
	p.a.buf[0] = 'h';
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_RTS), 0);
	paired_expect_message(&p.b, 2, 'h');
	pair_expect(&p, &p.a, 3, RDMAP_WC_SUCCESS);
}

/* The stream comes while the QP is in SQD, and nothing goes out on it. */
static void test_sqd_before_the_stream(void **state)
{
	paired_rtr(&p.a);
	paired_rts(&p.a);
	sqd(&p.a);
	paired_send(&p.a, 1, 'h');
	paired_recv(&p.b, 2);
	paired_rtr(&p.b);
	paired_rts(&p.b);
	pair_advance(&p, 1100);
	assert_true(qp_has_stream(p.a.qp));
	pair_expect_none(&p, &p.b);
	pair_expect_none(&p, &p.a);
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_RTS), 0);
	paired_expect_message(&p.b, 2, 'h');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
}

/* RTS comes first, whatever the connection is like. */
static void test_sqd_before_rts(void **state)
{
	paired_rtr(&p.a);
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_SQD), -EINVAL);
	paired_rtr(&p.b);
	pair_advance(&p, 1100);
	assert_true(qp_has_stream(p.a.qp));
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_SQD), -EINVAL);
	assert_int_equal(paired_state(&p.a), RNIC_QP_RTR);
}

/* What is not tried cannot have been tried often enough. */
static void test_sqd_stops_the_patience(void **state)
{
	paired_rtr(&p.a);
	paired_rts(&p.a);
	paired_send(&p.a, 1, 'n');
	pair_advance(&p, 5000);
	sqd(&p.a);
	paired_send(&p.a, 2, 'n');
	pair_advance(&p, 60000);
	pair_expect_none(&p, &p.a);
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_RTS), 0);
	pair_advance(&p, 9900);
	pair_expect_none(&p, &p.a);
	pair_advance(&p, 200);
	pair_expect(&p, &p.a, 1, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.a, 2, RDMAP_WC_WR_FLUSH_ERR);
}

static void test_peer_leaves_in_sqd(void **state)
{
	paired_connect(&p);
	sqd(&p.b);
	paired_send(&p.b, 1, 'y');
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 60000);
	pair_expect_none(&p, &p.b);
	assert_int_equal(paired_state(&p.b), RNIC_QP_SQD);
	assert_int_equal(pair_go(p.b.qp, RNIC_QP_RTS), 0);
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 1, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

/* What has not started was not tried: it is flushed with the rest. */
static void test_peer_is_lost_in_sqd(void **state)
{
	paired_connect(&p);
	sqd(&p.b);
	paired_send(&p.b, 1, 'y');
	pair_run(&p);
	llp_mem_fail(p.b.qp->conn->mpa.llp, -ETIMEDOUT);
	pair_expect(&p, &p.b, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

static void test_refused_in_sqd(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.a);

	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	attr.path.remote_qp = 0x7fff;
	assert_int_equal(paired_rtr_as(&p.a, &attr), 0);
	paired_rts(&p.a);
	sqd(&p.a);
	paired_send(&p.a, 1, 'y');
	pair_advance(&p, 1100);
	pair_expect(&p, &p.a, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.a), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_QP_FATAL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(
			test_sqd_holds_sends, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_sqd_before_the_stream, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_sqd_before_rts, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_sqd_stops_the_patience, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_leaves_in_sqd, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_peer_is_lost_in_sqd, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_refused_in_sqd, paired_setup, paired_teardown, &p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
