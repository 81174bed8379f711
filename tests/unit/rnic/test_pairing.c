/* SPDX-License-Identifier: BSD-2-Clause */
/* Two QPs that their programs told of each other: in virtual time, over an LLP in memory. */
#include "rnic/pairing.h"

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

/* ---- a program's part -------------------------------------------------------------------- */

static void reset(const struct side *s)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_RESET};

	assert_int_equal(rnic_qp_modify(s->qp, RNIC_QP_STATE, &attr), 0);
	attr.state = RNIC_QP_INIT;
	assert_int_equal(rnic_qp_modify(s->qp, RNIC_QP_STATE, &attr), 0);
}

static void expect_exchange(void)
{
	paired_recv(&p.a, 1);
	paired_recv(&p.b, 2);
	paired_send(&p.b, 3, 'b');
	paired_send(&p.a, 4, 'a');
	pair_run(&p);
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = i ? &p.a : &p.b;
		struct rnic_wc wc[3];

		assert_int_equal(rnic_cq_poll(s->cq, 3, wc), 2);
		assert_int_equal(wc[0].wc.status, RDMAP_WC_SUCCESS);
		assert_int_equal(wc[1].wc.status, RDMAP_WC_SUCCESS);
		assert_int_equal(s->buf[64], i ? 'b' : 'a');
	}
}

/* ---- both orders --------------------------------------------------------------------------- */

static void test_who_connects_comes_first(void **state)
{
	paired_rtr(&p.a);
	paired_rts(&p.a);
	pair_advance(&p, 100);
	assert_false(qp_has_stream(p.a.qp));
	paired_rtr(&p.b);
	paired_rts(&p.b);
	pair_advance(&p, 2000);
	expect_exchange();
	assert_int_equal(paired_state(&p.a), RNIC_QP_RTS);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
}

/* That of the address vector (grh.traffic_class), on the side that waits, too. */
static void test_traffic_class(void **state)
{
	struct side *const sides[] = {&p.a, &p.b};

	for (unsigned i = 0; i < 2; i++) {
		struct rnic_qp_attr attr = paired_rtr_attr(sides[i]);

		attr.path.tos = (uint8_t)(0x20 + (i << 6));
		assert_int_equal(paired_rtr_as(sides[i], &attr), 0);
		paired_rts(sides[i]);
	}
	pair_advance(&p, 2000);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(llp_mem_tos(mpa_llp(&sides[i]->qp->conn->mpa)), 0x20 + (i << 6));
	expect_exchange();
}

/* The program has named the peer by its address: an LLP that asks who comes must ask for that. */
static void test_address_is_demanded(void **state)
{
	paired_connect(&p);
	assert_false(llp_mem_demanded(mpa_llp(&p.a.qp->conn->mpa)));
	assert_true(llp_mem_demanded(mpa_llp(&p.b.qp->conn->mpa)));
}

/* Its port is open, its program is not so far: the request is held. */
static void test_held(void **state)
{
	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	pair_advance(&p, 50);
	assert_non_null(p.a.qp->conn);
	paired_rtr(&p.b);
	paired_rts(&p.b);
	expect_exchange();
}

/* Its program is late by more than the time that a request is held. */
static void test_very_late(void **state)
{
	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	paired_rtr(&p.a);
	pair_advance(&p, 23000);
	paired_rtr(&p.b);
	pair_advance(&p, 1100);
	expect_exchange();
}

static void test_who_waits_comes_first(void **state)
{
	paired_rtr(&p.b);
	paired_rts(&p.b);
	pair_advance(&p, 100);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	pair_run(&p);
	expect_exchange();
}

/* perftest's servers go to RTR and no further; those of ib_send_bw send from there. */
static void test_rtr_is_enough(void **state)
{
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	pair_run(&p);
	expect_exchange();
	assert_int_equal(paired_state(&p.a), RNIC_QP_RTR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_QP_ESTABLISHED), 1);
	assert_int_equal(pair_count_async(&p.b, RNIC_EVENT_QP_ESTABLISHED), 1);
}

static void test_posted_before(void **state)
{
	paired_rtr(&p.a);
	paired_send(&p.a, 1, 'x');
	pair_advance(&p, 100);
	paired_recv(&p.b, 2);
	paired_rtr(&p.b);
	pair_advance(&p, 1000);
	paired_expect_message(&p.b, 2, 'x');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
}

static void count_failure(void *arg, const struct rnic_failure *f)
{
	++*(unsigned *)arg;
}

/** The peer is not to blame for it, in the log or at its own end. */
static void test_posted_before_and_wrong(void **state)
{
	unsigned failures = 0;

	rnic_set_failure_handler(p.a.rnic, count_failure, &failures);
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	assert_int_equal(rnic_sq_begin(p.a.qp), 0);
	*rnic_sq_next(p.a.qp) = (struct rdmap_wqe){.wr_id = 1, .op = RDMAP_WR_LOCAL_INV};
	rnic_sq_commit(p.a.qp);
	rnic_sq_end(p.a.qp);
	pair_advance(&p, 1000);
	pair_expect(&p, &p.a, 1, RDMAP_WC_LOC_PROT_ERR);
	assert_int_equal(paired_state(&p.a), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_QP_FATAL), 1);
	assert_int_equal(failures, 0);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
}

/* ---- again and again ------------------------------------------------------------------------ */

static void test_reuse(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		paired_connect(&p);
		expect_exchange();
		reset(&p.a);
		reset(&p.b);
	}
}

/* One side begins anew while the other does not know yet that the old is over. */
static void test_reuse_while_the_other_is_busy(void **state)
{
	paired_connect(&p);
	p.quiet = true;
	reset(&p.a);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	p.quiet = false;
	pair_advance(&p, 20);
	reset(&p.b);
	paired_rtr(&p.b);
	paired_rts(&p.b);
	pair_advance(&p, 100);
	expect_exchange();
}

static void test_ended_while_it_tries(void **state)
{
	paired_rtr(&p.a);
	paired_send(&p.a, 1, 'n');
	pair_advance(&p, 50);
	reset(&p.a);
	pair_expect_none(&p, &p.a);
	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	paired_rtr(&p.a);
	pair_advance(&p, 50); /* held */
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 6000);
	assert_int_equal(llp_mem_open_count(p.mem), 0);
}

/* ---- what a program may not, and what it says of depths ------------------------------------- */

static void test_path_is_wrong(void **state)
{
	struct rnic_qp_attr good = paired_rtr_attr(&p.a), attr = good, now;
	struct rnic_qp_init init;

	attr.path.remote = (struct ip_addr){0};
	assert_int_equal(paired_rtr_as(&p.a, &attr), -EINVAL);
	attr = good;
	attr.path.local = good.path.remote;
	attr.path.remote_qp = 7;
	assert_int_equal(paired_rtr_as(&p.a, &attr), -EADDRNOTAVAIL);
	attr = good;
	attr.path.remote_qp = 1 << 24;
	assert_int_equal(paired_rtr_as(&p.a, &attr), -EINVAL);
	assert_int_equal(paired_state(&p.a), RNIC_QP_INIT);
	rnic_qp_query(p.a.qp, &now, &init);
	assert_int_equal(now.ird, 0);
	paired_connect(&p);
	assert_int_equal(paired_rtr_as(&p.a, &good), -EINVAL);
}

/* Also while the QP is not connected yet: what became of it would be chance. */
static void test_rdma_cm_does_not_take_it(void **state)
{
	struct rnic_qp *other = pair_qp(&p.a, p.a.cq, NULL);
	struct ip_endpoint to = llp_mem_endpoint(p.mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = other, .ird = 4, .ord = 4};
	struct rnic_ep *ep;

	paired_rtr(&p.b);
	pair_request(&p, &cp);
	assert_null(p.b.qp->conn);
	cp.qp = p.b.qp;
	assert_int_equal(rnic_ep_accept(p.b.request, &cp), -EINVAL);
	assert_int_equal(rnic_ep_create(p.a.rnic, pair_ep_event, &p.a, &ep), 0);
	assert_int_equal(rnic_ep_resolve(ep, &to, 0), 0);
	paired_rtr(&p.a);
	assert_null(p.a.qp->conn);
	cp.qp = p.a.qp;
	assert_int_equal(rnic_ep_connect(ep, &cp), -EINVAL);
	rnic_ep_destroy(ep);
	pair_advance(&p, 2000);
	expect_exchange();
	assert_int_equal(rnic_qp_destroy(other), 0);
}

/* Each side may read as often at a time as its program says, and the other takes. */
static void test_depths(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.a);

	attr.ird = 2;
	assert_int_equal(paired_rtr_as(&p.a, &attr), 0);
	attr = paired_rtr_attr(&p.b);
	attr.ird = 7;
	assert_int_equal(paired_rtr_as(&p.b, &attr), 0);
	pair_advance(&p, 100);
	assert_int_equal(p.a.qp->ird, 2);
	assert_int_equal(p.a.qp->rdmap.ord, 7);
	assert_int_equal(p.b.qp->ird, 7);
	assert_int_equal(p.b.qp->rdmap.ord, 2);
	paired_rts(&p.a);
	paired_rts(&p.b);
	assert_int_equal(p.a.qp->rdmap.ord, 4);
	assert_int_equal(p.b.qp->rdmap.ord, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(
			test_who_connects_comes_first, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_traffic_class, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_address_is_demanded, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_held, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_who_waits_comes_first, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_rtr_is_enough, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_posted_before, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_posted_before_and_wrong, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_reuse, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_reuse_while_the_other_is_busy, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_very_late, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_path_is_wrong, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_ended_while_it_tries, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_rdma_cm_does_not_take_it, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_depths, paired_setup, paired_teardown, &p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
