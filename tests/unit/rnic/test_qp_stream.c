/* SPDX-License-Identifier: BSD-2-Clause */
/** What goes through a connected QP: every operation, every error, what completes and how. */
#include "rnic/qp.h"

#include "pair.h"
#include "rdmap/term_code.h"
#include "rnic/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void send_arrives(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	strcpy((char *)p->a.buf, "over the wire");
	pair_post_recv(&p->b, p->b.qp, 7, 100, 64);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 14, 0, 0);
	wc = pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(wc.wc.op, RDMAP_WC_SEND);
	assert_int_equal(wc.qp_num, rnic_qp_num(p->a.qp));
	wc = pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	assert_int_equal(wc.wc.op, RDMAP_WC_RECV);
	assert_int_equal(wc.wc.byte_len, 14);
	assert_int_equal(wc.qp_num, rnic_qp_num(p->b.qp));
	assert_string_equal((char *)p->b.buf + 100, "over the wire");
}

static void write_and_read(void **state)
{
	struct pair *p = *state;

	for (unsigned i = 0; i < 20000; i++)
		p->a.buf[i] = (uint8_t)(i * 7);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 20000, pair_addr(&p->b, 50),
		rnic_mr_stag(p->b.mr));
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_READ, 30000, 20000, pair_addr(&p->b, 50),
		rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	assert_memory_equal(p->b.buf + 50, p->a.buf, 20000);
	assert_memory_equal(p->a.buf + 30000, p->a.buf, 20000);
	pair_expect_none(p, &p->b);
}

/** A responder sends too, from its own first post on. */
static void both_ways(void **state)
{
	struct pair *p = *state;

	/* The initiator speaks first (RFC 5044 section 7.1.2 rule 4): until then this waits. */
	pair_post_recv(&p->a, p->a.qp, 1, 0, 64);
	pair_post(&p->b, p->b.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect_none(p, &p->b);
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_WRITE, 0, 1, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 2, RDMAP_WC_SUCCESS);
}

static void send_with_invalidate(void **state)
{
	struct pair *p = *state;
	uint32_t stag = rnic_mr_stag(p->b.mr);
	struct rnic_mr *other;
	struct rnic_wc wc;

	/* The receive buffer must stay valid, so another region is given up. */
	assert_int_equal(rnic_mr_reg(p->b.pd, p->b.buf, 100, 0,
				 RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, &other),
		0);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 64);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND_INV, 0, 4, 0, rnic_mr_stag(other));
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	wc = pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	assert_true(wc.wc.flags & RDMAP_WC_WITH_INV);
	assert_int_equal(wc.wc.inv_stag, rnic_mr_stag(other));
	/* The other still works, this one does not. */
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_WRITE, 0, 4, pair_addr(&p->b, 0), stag);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	pair_post(&p->a, p->a.qp, 4, RDMAP_WR_WRITE, 0, 4, 0, rnic_mr_stag(other));
	pair_expect(p, &p->a, 4, RDMAP_WC_SUCCESS); /* gone before the Terminate comes back */
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_mr_dereg(other), 0);
}

static void inline_data(void **state)
{
	struct pair *p = *state;
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	w = rnic_sq_next(p->a.qp);
	w->wr_id = 5;
	w->op = RDMAP_WR_WRITE;
	w->flags = RDMAP_WR_SIGNALED | RDMAP_WR_INLINE;
	w->length = 6;
	w->remote_to = pair_addr(&p->b, 9);
	w->remote_stag = rnic_mr_stag(p->b.mr);
	memcpy(rdmap_wqe_inline(w), "inline", 6);
	rnic_sq_commit(p->a.qp);
	rnic_sq_end(p->a.qp);
	pair_expect(p, &p->a, 5, RDMAP_WC_SUCCESS);
	assert_memory_equal(p->b.buf + 9, "inline", 6);
}

/* ---- errors ------------------------------------------------------------------------------ */

static void both_in_error(struct pair *p)
{
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

/** An STag nobody gave: Terminate; the target has an access error, the requester a fatal one. */
static void write_to_a_wrong_stag(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 9, 0, 8);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 8, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr) ^ 0x55);
	pair_run(p);
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_ACCESS_ERROR), 1);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_QP_FATAL), 1);
	assert_int_equal(p->a.n_events + p->b.n_events, 2);
	assert_ptr_equal(p->b.events[0].context, &p->b);
	pair_expect(p, &p->b, 9, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS); /* its data had left before */
}

static void read_what_is_not_ours(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	/* The first reaches beyond the region, the others wait behind it. */
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(&p->b, PAIR_BUF - 7),
		rnic_mr_stag(p->b.mr));
	pair_post(
		&p->a, p->a.qp, 2, RDMAP_WR_READ, 0, 8, pair_addr(&p->b, 0), rnic_mr_stag(p->b.mr));
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_WRITE, 0, 8, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	wc = pair_expect(p, &p->a, 1, RDMAP_WC_REM_ACCESS_ERR);
	assert_int_equal(wc.wc.op, RDMAP_WC_READ);
	pair_expect(p, &p->a, 2, RDMAP_WC_WR_FLUSH_ERR);
	/* It was with the LLP already, but told in its turn; after an error none succeeds. */
	pair_expect(p, &p->a, 3, RDMAP_WC_WR_FLUSH_ERR);
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_ACCESS_ERROR), 1);
}

/** Rights that the QP does not grant, though the region does. */
static void the_qp_forbids(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_attr attr = {.access = RNIC_ACCESS_REMOTE_READ};

	assert_int_equal(rnic_qp_modify(p->b.qp, RNIC_QP_ACCESS, &attr), 0);
	pair_post(
		&p->a, p->a.qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(&p->b, 0), rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_WRITE, 0, 8, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	pair_run(p);
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_ACCESS_ERROR), 1);
}

static void no_receive_posted(void **state)
{
	struct pair *p = *state;

	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_run(p);
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_REQUEST_ERROR), 1);
}

static void message_too_long_for_its_buffer(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 7, 0, 8);
	pair_post_recv(&p->b, p->b.qp, 8, 0, 8);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 9, 0, 0);
	pair_expect(p, &p->b, 7, RDMAP_WC_LOC_LEN_ERR);
	pair_expect(p, &p->b, 8, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->b);
	both_in_error(p);
}

/** Our own program's mistake: its work request says so, those behind it are flushed. */
static void a_wrong_lkey(void **state)
{
	struct pair *p = *state;
	struct rdmap_wqe *w;

	pair_post_recv(&p->a, p->a.qp, 50, 0, 8);
	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	for (unsigned i = 0; i < 3; i++) {
		w = rnic_sq_next(p->a.qp);
		w->wr_id = i;
		w->op = RDMAP_WR_WRITE;
		w->flags = RDMAP_WR_SIGNALED;
		w->length = 8;
		w->num_sge = 1;
		w->remote_to = pair_addr(&p->b, 0);
		w->remote_stag = rnic_mr_stag(p->b.mr);
		w->sge[0] = (struct rdmap_sge){
			pair_addr(&p->a, 0), 8, rnic_mr_stag(p->a.mr) ^ (i == 1)};
		rnic_sq_commit(p->a.qp);
	}
	rnic_sq_end(p->a.qp);
	pair_expect(p, &p->a, 0, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 1, RDMAP_WC_LOC_PROT_ERR);
	pair_expect(p, &p->a, 2, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect(p, &p->a, 50, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->a);
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_QP_FATAL), 1);
	/* For the peer it is a connection that ended. */
	assert_int_equal(p->b.n_events, 0);
}

static void a_window_that_is_none(void **state)
{
	struct pair *p = *state;

	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_BIND_MW, 0, 0, 0, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_MW_BIND_ERR);
	both_in_error(p);
}

/** The peer's program dies in the middle: its TCP is gone at once, without a Terminate. */
static void the_peer_is_reset(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 5, 0, 8);
	pair_run(p);
	p->quiet = true;
	pair_post(
		&p->a, p->a.qp, 1, RDMAP_WR_READ, 0, 8, (uintptr_t)p->b.buf, rnic_mr_stag(p->b.mr));
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	p->quiet = false;
	pair_expect(p, &p->b, 5, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->a)->status, -ECONNABORTED);
	/* No error of anybody's making: only the CM tells. */
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

/** The program moves its QP to ERROR in the middle: flush here, Terminate and flush there. */
static void moved_to_error(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	pair_post_recv(&p->b, p->b.qp, 2, 0, 8);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect(p, &p->b, 2, RDMAP_WC_WR_FLUSH_ERR);
	both_in_error(p);
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

/**
 * Nothing that the peer says is about us but its own error, and that our FIN came too early: the
 * others are fatal to the QP.
 */
static void events_of_terminates(void **state)
{
	for (size_t i = 0; i < rdmap_term_codes_count; i++) {
		const struct rdmap_term_code *c = &rdmap_term_codes[i];
		bool silent =
			(c->layer == RDMAP_LAYER_RDMA && c->etype == RDMAP_ETYPE_CATASTROPHIC) ||
			(c->layer == RDMAP_LAYER_LLP && c->etype == RDMAP_ETYPE_MPA &&
				c->code == MPA_ERROR_CLOSED);
		struct pair *p;

		pair_setup(state);
		p = *state;
		pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
		pair_post(&p->a, p->a.qp, 2, RDMAP_WR_WRITE, 0, 0, 0, 0); /* opens b's direction */
		pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
		engine_lock(&p->engine);
		rdmap_terminate(&p->b.qp->rdmap, c->layer, c->etype, c->code);
		engine_unlock(&p->engine);
		pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
		both_in_error(p);
		assert_int_equal(p->a.n_events, !silent);
		assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_QP_FATAL), !silent);
		assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
		pair_fini(p);
	}
}

/** Cut off by a FIN in the middle of something: no error of ours, the CM tells. */
static void closed_with_a_read_outstanding(void **state)
{
	struct pair *p = *state;

	pair_post(
		&p->a, p->a.qp, 1, RDMAP_WR_READ, 0, 8, pair_addr(&p->b, 0), rnic_mr_stag(p->b.mr));
	engine_lock(&p->engine);
	llp_shutdown(p->b.qp->conn->mpa.llp);
	engine_unlock(&p->engine);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->a)->status, -ECONNRESET);
	assert_int_equal(p->a.n_events, 0);
	/* Nor was anything wrong with what the side that closed had sent. */
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
	assert_int_equal(p->b.n_events, 0);
}

/* ---- RFC 7306 ---------------------------------------------------------------------------- */

static void post_add(struct side *s, uint64_t wr_id, uint64_t to, uint32_t stag, uint64_t n)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(s->qp), 0);
	w = rnic_sq_next(s->qp);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->op = RDMAP_WR_FETCH_ADD;
	w->flags = RDMAP_WR_SIGNALED;
	w->remote_to = to;
	w->remote_stag = stag;
	w->atomic.data = n;
	w->num_sge = 1;
	w->length = 8;
	w->sge[0] = (struct rdmap_sge){pair_addr(s, 0), 8, rnic_mr_stag(s->mr)};
	rnic_sq_commit(s->qp);
	rnic_sq_end(s->qp);
}

/** Region and QP must both allow it; neither Write nor Read stands for it. */
static void atomic_rights(void **state)
{
	static const struct {
		unsigned mr, qp;
		bool ok;
	} t[] = {
		{RNIC_ACCESS_REMOTE_ATOMIC, RNIC_ACCESS_REMOTE_ATOMIC, true},
		{RNIC_ACCESS_REMOTE_ATOMIC, RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_WRITE,
			false},
		{RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_WRITE, RNIC_ACCESS_REMOTE_ATOMIC,
			false},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct rnic_qp_attr attr = {.access = t[i].qp};
		struct rnic_mr *mr;
		uint64_t word = 5, fetched;
		struct pair *p;

		pair_setup(state);
		p = *state;
		assert_int_equal(rnic_mr_reg(p->b.pd, &word, 8, 0x8000,
					 RNIC_ACCESS_LOCAL_WRITE | t[i].mr, &mr),
			0);
		assert_int_equal(rnic_qp_modify(p->b.qp, RNIC_QP_ACCESS, &attr), 0);
		post_add(&p->a, 1, 0x8000, rnic_mr_stag(mr), 3);
		pair_expect(p, &p->a, 1, t[i].ok ? RDMAP_WC_SUCCESS : RDMAP_WC_REM_ACCESS_ERR);
		memcpy(&fetched, p->a.buf, 8);
		assert_int_equal(word, t[i].ok ? 8 : 5);
		if (t[i].ok)
			assert_int_equal(fetched, 5);
		else
			assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_ACCESS_ERROR), 1);
		assert_int_equal(rnic_mr_dereg(mr), 0);
		pair_fini(p);
	}
}

/** It completes on the receive CQ, like a Send; a QP without a receive is in the same trouble. */
static void write_with_immediate(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	pair_post_recv(&p->b, p->b.qp, 7, 0, 0);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE_IMM, 0, 3000, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	wc = pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	assert_int_equal(wc.wc.op, RDMAP_WC_RECV_IMM);
	assert_int_equal(wc.wc.byte_len, 3000);
	assert_memory_equal(p->b.buf, p->a.buf, 3000);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_WRITE_IMM, 0, 8, pair_addr(&p->b, 0),
		rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS); /* it had gone */
	both_in_error(p);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_REQUEST_ERROR), 1);
}

/** Many messages through small buffers and odd segments, both ways at once, on two QPs. */
static void stress(void **state)
{
	struct pair *p = *state;
	unsigned done_a = 0, done_b = 0, posted = 0;
	struct rnic_wc wc;

	llp_mem_set_buffer(p->mem, 9000);
	llp_mem_set_random_segment(p->mem, 1448, 5);
	for (unsigned i = 0; i < PAIR_BUF; i++)
		p->a.buf[i] = (uint8_t)(i ^ i >> 8);
	pair_post(&p->a, p->a.qp, 0, RDMAP_WR_WRITE, 0, 0, 0, 0);
	pair_expect(p, &p->a, 0, RDMAP_WC_SUCCESS);
	while (done_a < 200 || done_b < 200) {
		if (posted < 200 && posted - done_a < PAIR_DEPTH && posted - done_b < PAIR_DEPTH) {
			enum rdmap_wr_op op = posted % 3 ? RDMAP_WR_WRITE : RDMAP_WR_READ;

			pair_post(&p->a, p->a.qp, posted, op, posted * 7, posted * 50,
				pair_addr(&p->b, posted * 7), rnic_mr_stag(p->b.mr));
			pair_post(&p->b, p->b.qp, posted, RDMAP_WR_READ, 20000, posted * 30,
				pair_addr(&p->a, 0), rnic_mr_stag(p->a.mr));
			posted++;
		}
		if (rnic_cq_poll(p->a.cq, 1, &wc) == 1) {
			assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
			assert_int_equal(wc.wc.wr_id, done_a++);
		}
		if (rnic_cq_poll(p->b.cq, 1, &wc) == 1) {
			assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
			assert_int_equal(wc.wc.wr_id, done_b++);
		}
	}
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(send_arrives, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(write_and_read, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(both_ways, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(send_with_invalidate, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(inline_data, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(write_to_a_wrong_stag, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(read_what_is_not_ours, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(the_qp_forbids, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(no_receive_posted, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			message_too_long_for_its_buffer, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(a_wrong_lkey, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(a_window_that_is_none, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(the_peer_is_reset, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(moved_to_error, pair_setup, pair_teardown),
		cmocka_unit_test(events_of_terminates),
		cmocka_unit_test_setup_teardown(
			closed_with_a_read_outstanding, pair_setup, pair_teardown),
		cmocka_unit_test(atomic_rights),
		cmocka_unit_test_setup_teardown(write_with_immediate, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(stress, pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
