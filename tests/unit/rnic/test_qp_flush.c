/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A Read is not answered, more is finished behind it, and the QP goes to ERROR, on every way that
 * leads there: nothing succeeds any more, all are told in order, those too that are not signalled.
 */
#include "rnic/qp.h"

#include "pair.h"
#include "rnic/conn.h"
#include "rnic/srq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#define SENDS 5 /* wr_id 1 and on */
#define RECVS 2 /* wr_id 51 and on */

static void post_quietly(struct side *s, uint64_t wr_id, uint32_t len)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(s->qp), 0);
	w = rnic_sq_next(s->qp);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->op = RDMAP_WR_SEND;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){pair_addr(s, 0), len, rnic_mr_stag(s->mr)};
	rnic_sq_commit(s->qp);
	rnic_sq_end(s->qp);
}

/* With an empty Write, which opens b's direction. */
static void connect_and_open(struct pair *p)
{
	pair_init(p, NULL);
	pair_connect(p);
	pair_post(&p->a, p->a.qp, 99, RDMAP_WR_WRITE, 0, 0, 0, 0);
	pair_expect(p, &p->a, 99, RDMAP_WC_SUCCESS);
}

static void fill_queues(struct pair *p)
{
	struct side *a = &p->a, *b = &p->b;
	uint32_t stag = rnic_mr_stag(b->mr);

	for (unsigned i = 1; i <= RECVS; i++) {
		pair_post_recv(a, a->qp, 50 + i, 0, 8);
		pair_post_recv(b, b->qp, 50 + i, 0, 8);
	}
	/* What b sends stays on its way: the Read is pending, the others are handed to the LLP. */
	llp_mem_hold(b->qp->conn->mpa.llp, true);
	pair_post(a, a->qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(b, 0), stag);
	pair_post(a, a->qp, 2, RDMAP_WR_WRITE, 0, 8, pair_addr(b, 0), stag);
	post_quietly(a, 3, 8);
	pair_post(a, a->qp, 4, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_post(a, a->qp, 5, RDMAP_WR_WRITE, 0, 8, pair_addr(b, 0), stag);
	pair_expect_none(p, a);
}

/* ---- ways --------------------------------------------------------------------------------- */

static void modify_to_error(struct pair *p)
{
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
}

static void drain_then_error(struct pair *p)
{
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_SQD), 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
}

static void time_out(struct pair *p)
{
	llp_mem_fail(p->a.qp->conn->mpa.llp, -ETIMEDOUT);
}

static void be_reset(struct pair *p)
{
	llp_mem_fail(p->b.qp->conn->mpa.llp, -ETIMEDOUT);
}

static void drain_then_time_out(struct pair *p)
{
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_SQD), 0);
	time_out(p);
}

static void find_an_error(struct pair *p)
{
	engine_lock(&p->engine);
	rdmap_terminate(&p->a.qp->rdmap, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, MPA_ERROR_CRC);
	engine_unlock(&p->engine);
}

static void disconnect_in_vain(struct pair *p)
{
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_advance(p, 120000);
}

static void local_fault(struct pair *p)
{
	pair_post(&p->a, p->a.qp, 6, RDMAP_WR_BIND_MW, 0, 0, 0, 0);
}

/* ---- what comes of them ------------------------------------------------------------------- */

static void expect_all_flushed(struct pair *p, uint64_t last, unsigned last_status)
{
	uint64_t send = 1, recv = 51;
	struct rnic_wc wc;

	pair_run(p);
	while (rnic_cq_poll(p->a.cq, 1, &wc) == 1) {
		bool is_recv = wc.wc.op >= RDMAP_WC_RECV;

		assert_int_equal(wc.wc.wr_id, is_recv ? recv : send);
		assert_int_equal(
			wc.wc.status, wc.wc.wr_id == last ? last_status : RDMAP_WC_WR_FLUSH_ERR);
		if (is_recv)
			recv++;
		else
			send++;
	}
	assert_int_equal(send, last + 1);
	assert_int_equal(recv, 51 + RECVS);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
}

static void on_every_way(void **state)
{
	static void (*const ways[])(struct pair *) = {modify_to_error, drain_then_error, time_out,
		be_reset, drain_then_time_out, find_an_error, disconnect_in_vain, local_fault};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		bool local = ways[i] == local_fault;
		static struct pair p;

		connect_and_open(&p);
		fill_queues(&p);
		ways[i](&p);
		expect_all_flushed(&p, local ? SENDS + 1 : SENDS,
			local ? RDMAP_WC_MW_BIND_ERR : RDMAP_WC_WR_FLUSH_ERR);
		/* And what is posted afterwards. */
		pair_post(&p.a, p.a.qp, 9, RDMAP_WR_SEND, 0, 8, 0, 0);
		pair_expect(&p, &p.a, 9, RDMAP_WC_WR_FLUSH_ERR);
		pair_fini(&p);
	}
}

/** The peer's Terminate names the Read: none behind it was taken there, none succeeds here. */
static void behind_a_refused_read(void **state)
{
	struct rnic_wc wc;
	static struct pair p;
	struct side *a = &p.a, *b = &p.b;

	connect_and_open(&p);
	for (unsigned i = 1; i <= RECVS; i++)
		pair_post_recv(b, b->qp, 50 + i, 0, 8);
	p.quiet = true;
	pair_post(a, a->qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(b, 0), rnic_mr_stag(b->mr) ^ 0x55);
	pair_post(a, a->qp, 2, RDMAP_WR_WRITE, 0, 8, pair_addr(b, 0), rnic_mr_stag(b->mr));
	pair_post(a, a->qp, 3, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_post(a, a->qp, 4, RDMAP_WR_SEND, 0, 8, 0, 0);
	p.quiet = false;
	pair_expect(&p, a, 1, RDMAP_WC_REM_ACCESS_ERR);
	for (unsigned i = 2; i <= 4; i++)
		pair_expect(&p, a, i, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(&p, a);
	for (unsigned i = 1; i <= RECVS; i++) {
		wc = pair_expect(&p, b, 50 + i, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wc.op, RDMAP_WC_RECV);
	}
	pair_fini(&p);
}

/** RESET and destruction take the completions away as well: none is left to be told. */
static void gone_without_a_word(void **state)
{
	static struct pair p;

	for (unsigned destroy = 0; destroy < 2; destroy++) {
		connect_and_open(&p);
		fill_queues(&p);
		if (destroy) {
			assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
			p.a.qp = NULL;
		} else {
			assert_int_equal(pair_go(p.a.qp, RNIC_QP_RESET), 0);
		}
		pair_expect_none(&p, &p.a);
		pair_fini(&p);
	}
}

static void post_shared(struct side *s, struct rnic_srq *srq, uint64_t wr_id)
{
	struct rdmap_rqe *e;

	assert_int_equal(rnic_srq_begin(srq), 0);
	e = rnic_srq_next(srq);
	assert_non_null(e);
	*e = (struct rdmap_rqe){.wr_id = wr_id, .length = 8, .num_sge = 1};
	e->sge[0] = (struct rdmap_sge){pair_addr(s, 0), 8, rnic_mr_stag(s->mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
}

/** Of a shared receive queue: the element in hand fails, the next belongs to the other QPs. */
static void shared_receives(void **state)
{
	static struct pair p;
	struct side *a = &p.a, *b = &p.b;
	struct rnic_srq *srq;
	struct rdmap_rqe left[2];

	pair_init(&p, NULL);
	assert_int_equal(rnic_srq_create(b->pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(b->qp), 0);
	b->qp = pair_qp(b, b->cq, srq);
	pair_connect(&p);
	post_shared(b, srq, 51);
	post_shared(b, srq, 52);
	post_shared(b, srq, 53);
	pair_post(a, a->qp, 1, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_post(a, a->qp, 2, RDMAP_WR_SEND, 0, 9, 0, 0); /* too long */
	pair_post(a, a->qp, 3, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(&p, b, 51, RDMAP_WC_SUCCESS);
	pair_expect(&p, b, 52, RDMAP_WC_LOC_LEN_ERR);
	pair_expect_none(&p, b);
	assert_int_equal(pair_count_async(b, RNIC_EVENT_QP_LAST_WQE), 1);
	assert_true(srq_take(srq, left));
	assert_int_equal(left->wr_id, 53);
	assert_int_equal(rnic_qp_destroy(b->qp), 0);
	b->qp = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_every_way),
		cmocka_unit_test(behind_a_refused_read),
		cmocka_unit_test(gone_without_a_word),
		cmocka_unit_test(shared_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
