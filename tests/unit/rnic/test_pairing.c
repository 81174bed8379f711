/* SPDX-License-Identifier: BSD-2-Clause */
/* Two QPs that their programs told of each other: in virtual time, over an LLP in memory. */
#include "rnic/pairing.h"

#include "paired.h"
#include "rnic/conn.h"
#include "rnic/pairing_wire.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct pair p;

static int setup(void **state)
{
	paired_init(&p);
	return 0;
}

static int teardown(void **state)
{
	pair_fini(&p);
	return 0;
}

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

/* ---- the end --------------------------------------------------------------------------------- */

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
	paired_rtr(&p.a);
	paired_rtr(&p.b);
	paired_rts(&p.a);
	paired_rts(&p.b);
	b = p.b.qp->pairing;
	for (unsigned i = 0; i < 1000 && b->state != PAIRING_ANSWERED; i++) {
		p.clock += PAIR_MS;
		engine_round(&p.engine);
		engine_lock(&p.engine);
		llp_mem_step(p.mem);
		engine_unlock(&p.engine);
	}
	assert_int_equal(b->state, PAIRING_ANSWERED);
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

/* ---- failures -------------------------------------------------------------------------------- */

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

static void expect_refused(struct side *s)
{
	paired_recv(s, 1);
	pair_advance(&p, 1100);
	pair_expect(&p, s, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(s), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(s, RNIC_EVENT_QP_FATAL), 1);
}

static void test_no_such_qp(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.a);

	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	attr.path.remote_qp = 999;
	assert_int_equal(paired_rtr_as(&p.a, &attr), 0);
	expect_refused(&p.a);
}

static void test_other_qp(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.b);

	attr.path.remote_qp++;
	assert_int_equal(paired_rtr_as(&p.b, &attr), 0);
	paired_rtr(&p.a);
	expect_refused(&p.a);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
}

static void test_other_psn(void **state)
{
	paired_rtr(&p.b);
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	paired_rtr(&p.a);
	expect_refused(&p.a);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
}

/* The one that waits was told of another: what was posted before it says so does not go to it. */
static void test_other_psn_of_the_peer(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.b);

	attr.path.rq_psn++;
	assert_int_equal(paired_rtr_as(&p.b, &attr), 0);
	paired_recv(&p.b, 1);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	paired_send(&p.a, 2, 'x');
	pair_run(&p);
	pair_expect(&p, &p.a, 2, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(paired_state(&p.a), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_QP_FATAL), 1);
	pair_expect_none(&p, &p.b);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
	assert_int_equal(llp_mem_open_count(p.mem), 0);
}

/* A reply that accepts, and refuses, is none of ours. */
static void test_accepted_and_refused(void **state)
{
	struct pairing_hello hello = {.refusal = PAIRING_BUSY,
		.to_qp = rnic_qp_num(p.a.qp),
		.from_qp = rnic_qp_num(p.b.qp),
		.psn = PAIRED_PSN_A};
	uint8_t data[PAIRING_HELLO_LEN], frame[MPA_FRAME_MAX];
	struct llp_mem_peer s = {0};
	size_t n;

	pairing_put_hello(data, &hello);
	n = paired_frame(MPA_FRAME_REPLY, data, sizeof data, frame);
	llp_mem_peer_listen(&s, p.mem, 1, PAIRED_PORT);
	paired_rtr(&p.a);
	pair_run(&p);
	assert_true(s.connected);
	llp_mem_send_raw(s.llp, frame, n);
	pair_run(&p);
	assert_false(qp_has_stream(p.a.qp));
	expect_refused(&p.a);
	llp_mem_peer_done(&s);
	pair_run(&p);
}

/* The one that waits says its PSN when the stream stands already. */
static void test_other_psn_later(void **state)
{
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	pair_run(&p);
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	expect_refused(&p.b);
}

/* With completion = acked: what has arrived was done, though nobody has told of it yet. */
static void test_other_psn_behind_what_has_arrived(void **state)
{
	const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED, .tell_acked = true},
		.pairing_port = PAIRED_PORT};
	struct llp *llp;

	pair_fini(&p);
	pair_init(&p, &config);
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	paired_recv(&p.a, 1);
	pair_run(&p);
	llp = mpa_llp(&p.b.qp->conn->mpa);
	p.quiet = true;
	paired_send(&p.b, 2, 'x');
	engine_lock(&p.engine);
	for (unsigned i = 0; i < 100 && llp_acked(llp) != llp_queued(llp); i++)
		llp_mem_step(p.mem);
	engine_unlock(&p.engine);
	paired_send(&p.b, 3, 'y');
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	p.quiet = false;
	pair_expect(&p, &p.b, 2, RDMAP_WC_SUCCESS);
	pair_expect(&p, &p.b, 3, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
}

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

/* ---- depths and receive elements ------------------------------------------------------------ */

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
		cmocka_unit_test_setup_teardown(test_who_connects_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traffic_class, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address_is_demanded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_waits_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rtr_is_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(test_posted_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_posted_before_and_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_reuse_while_the_other_is_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_leaves_in_good_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_leaves_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_retries_while_all_stand_still, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_goes_to_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_leaves_before_it_speaks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_speaks_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patience_comes_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent_host, setup, teardown),
		cmocka_unit_test_setup_teardown(test_very_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_such_qp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_qp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_psn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_psn_of_the_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_accepted_and_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_psn_later, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_other_psn_behind_what_has_arrived, setup, teardown),
		cmocka_unit_test_setup_teardown(test_path_is_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended_while_it_tries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rdma_cm_does_not_take_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_depths, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
