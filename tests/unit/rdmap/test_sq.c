/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>

#define RESPONSE(lo) "\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x00" lo

static void setup(struct qp_net *n)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
}

static void post_read(struct qp *q, uint64_t wr_id, const struct qp_region *g, unsigned flags)
{
	qp_wqe_sge(qp_wqe(q, wr_id, RDMAP_WR_READ, flags), g, 0, 4);
	qp_post(q);
}

static void post_write(struct qp *q, uint64_t wr_id, unsigned flags)
{
	qp_wqe_inline(qp_wqe(q, wr_id, RDMAP_WR_WRITE, flags), "x", 1);
	qp_post(q);
}

/* In the order of posting (RFC 5040 section 5.5 rule 15), only what is signalled. */
static void test_order(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	g = qp_region_add(n.a, 7, 0x1000, 4, LOCAL);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	post_read(n.a, 2, g, 0);
	post_write(n.a, 3, 0);
	post_write(n.a, 4, RDMAP_WR_SIGNALED);
	post_read(n.a, 5, g, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.tail), 1);
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 4, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.tail), 4);
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 5, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	assert_int_equal(atomic_load(&n.a->sq.tail), 5);
	assert_int_equal(atomic_load(&n.a->sq.silent), 2);
	qp_net_done(&n);
}

/* The ring goes round, and the free running indices wrap. */
static void test_wrap(void **state)
{
	struct qp_net n;

	setup(&n);
	atomic_store(&n.a->sq.head, UINT32_MAX - 10);
	atomic_store(&n.a->sq.tail, UINT32_MAX - 10);
	n.a->sq.next = UINT32_MAX - 10;
	for (unsigned i = 0; i < 3 * QP_SQ_SIZE; i++) {
		post_write(n.a, i, RDMAP_WR_SIGNALED);
		if (i % 20 == 0)
			qp_run(n.a);
	}
	qp_run(n.a);
	for (unsigned i = 0; i < 3 * QP_SQ_SIZE; i++)
		qp_expect_wc(n.a, i, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

static void post_again(struct qp *q, const struct rdmap_wc *wc)
{
	if (wc->wr_id < 10 * QP_SQ_SIZE)
		post_write(q, wc->wr_id + QP_SQ_SIZE, RDMAP_WR_SIGNALED);
}

/* A slot is free when its completion is told: a full queue can be filled from there. */
static void test_post_in_complete(void **state)
{
	struct qp_net n;

	setup(&n);
	n.a->on_complete = post_again;
	for (unsigned i = 0; i < QP_SQ_SIZE; i++)
		post_write(n.a, i, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	/* The first round, and ten more. */
	assert_int_equal(n.a->wcs, 11 * QP_SQ_SIZE);
	assert_int_equal(atomic_load(&n.a->sq.tail), 11 * QP_SQ_SIZE);
	qp_net_done(&n);
}

static void test_flush(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	g = qp_region_add(n.a, 7, 0x1000, 4, LOCAL);
	qp_post_recv(n.a, 50, g, 0, 4);
	post_read(n.a, 1, g, 0);
	post_write(n.a, 2, RDMAP_WR_SIGNALED); /* done, behind the Read */
	post_write(n.a, 3, 0);                 /* the same; flushed ones always complete */
	post_write(n.a, 4, RDMAP_WR_FENCE);    /* not begun */
	qp_run(n.a);
	FEED(&n, "\x01\x43\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"
		 "xy");
	n.a->on_ended = NULL;
	rdmap_abort(&n.a->r);
	assert_int_equal(n.a->endeds, 0);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 50, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0); /* half filled */
	assert_int_equal(n.a->taken, 0);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 4, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.silent), 0);
	/* Posted in ERROR: the next flush takes them. */
	post_write(n.a, 5, 0);
	rdmap_run(&n.a->r);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 5, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	rdmap_flush_sq(&n.a->r);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

static void abort_at_3(struct qp *q, const struct rdmap_wc *wc)
{
	if (wc->wr_id != 3)
		return;
	rdmap_abort(&q->r);
	free(q->m);
	q->m = NULL;
}

/* A full CQ may make the QP end the stream in the middle of it all. */
static void test_abort_in_complete(void **state)
{
	struct qp_net n;

	setup(&n);
	n.a->on_complete = abort_at_3;
	for (unsigned i = 1; i <= 5; i++)
		post_write(n.a, i, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_int_equal(n.a->wcs, 3);
	rdmap_flush_sq(&n.a->r);
	n.a->wc_next = 3;
	qp_expect_wc(n.a, 4, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 5, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_net_run(&n);
	assert_true(n.peer.closed);
	qp_net_done(&n);
}

/** A Read is under way, and nothing is to start behind it. */
static void setup_draining(struct qp_net *n)
{
	setup(n);
	post_read(n->a, 3, qp_region_add(n->a, 7, 0x1000, 4, LOCAL), RDMAP_WR_SIGNALED);
	qp_run(n->a);
	assert_false(rdmap_sq_suspend(&n->a->r));
	assert_int_equal(n->a->draineds, 0);
}

static void test_drained(void **state)
{
	struct qp_net n;

	setup_draining(&n);
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	assert_int_equal(n.a->draineds, 1);
	qp_net_done(&n);
}

/* While suspended, what has started counts and what is posted does not. */
static void test_busy(void **state)
{
	struct qp_net n;

	setup_draining(&n);
	assert_true(rdmap_sq_is_busy(&n.a->r));
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	assert_false(rdmap_sq_is_busy(&n.a->r));
	post_write(n.a, 4, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_false(rdmap_sq_is_busy(&n.a->r));
	n.a->r.sq_held = false;
	assert_true(rdmap_sq_is_busy(&n.a->r));
	qp_run(n.a);
	qp_expect_wc(n.a, 4, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	assert_false(rdmap_sq_is_busy(&n.a->r));
	qp_net_done(&n);
}

/* The last completion ends the stream: a user that was told of the end is not told that it is
 * drained. */
static void test_abort_instead_of_drained(void **state)
{
	struct qp_net n;

	setup_draining(&n);
	n.a->on_complete = abort_at_3;
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	assert_int_equal(n.a->draineds, 0);
	qp_net_done(&n);
}

/* The end of the stream does not finish what had started: that waits for who says how it ended. */
static void test_not_drained_by_the_end(void **state)
{
	struct qp_net n;

	setup(&n);
	post_read(n.a, 3, qp_region_add(n.a, 7, 0x1000, 4, LOCAL), RDMAP_WR_SIGNALED);
	qp_run(n.a);
	rdmap_abort(&n.a->r);
	assert_false(rdmap_sq_suspend(&n.a->r));
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	assert_int_equal(n.a->draineds, 0);
	qp_net_done(&n);
}

/* The oldest that is not done says why; what was done behind it is flushed with the rest. */
static void test_fail_oldest(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	rdmap_fail_oldest(&n.a->r, RDMAP_WC_RETRY_EXC_ERR); /* nothing is there */
	g = qp_region_add(n.a, 7, 0x1000, 4, LOCAL);
	post_read(n.a, 1, g, 0);
	post_write(n.a, 2, RDMAP_WR_SIGNALED);
	post_write(n.a, 3, RDMAP_WR_FENCE);
	qp_run(n.a);
	rdmap_abort(&n.a->r);
	rdmap_fail_oldest(&n.a->r, RDMAP_WC_RETRY_EXC_ERR);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 1, RDMAP_WC_RETRY_EXC_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* Who has failed keeps its own reason; the next that is not done has the other's. */
static void test_fail_oldest_again(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	g = qp_region_add(n.a, 7, 0x1000, 4, LOCAL);
	post_read(n.a, 1, g, 0);
	post_read(n.a, 2, g, 0);
	qp_run(n.a);
	rdmap_abort(&n.a->r);
	rdmap_fail_oldest(&n.a->r, RDMAP_WC_RETRY_EXC_ERR);
	rdmap_fail_oldest(&n.a->r, RDMAP_WC_REM_OP_ERR);
	rdmap_fail_oldest(&n.a->r, RDMAP_WC_LOC_PROT_ERR); /* none is left */
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 1, RDMAP_WC_RETRY_EXC_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_OP_ERR, RDMAP_WC_READ, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* ---- completion by acknowledgements ------------------------------------------------------ */

static void setup_by_acks(struct qp_net *n)
{
	qp_net_init(n);
	n->a->config.tell_acked = true;
	qp_net_raw_initiator(n);
}

static void abort_when_told(struct qp *q, const struct rdmap_wc *wc)
{
	rdmap_abort(&q->r);
}

static void post_send(struct qp *q, uint64_t wr_id, const char *text, unsigned flags)
{
	qp_wqe_inline(qp_wqe(q, wr_id, RDMAP_WR_SEND, flags), text, (uint32_t)strlen(text));
	qp_post(q);
}

/* In order, only what is signalled, each once all of it has come. */
static void test_acked(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup_by_acks(&n);
	g = qp_region_add(n.a, 7, 0x1000, 3000, LOCAL);
	llp_mem_set_segment(n.mem, 1400);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	post_send(n.a, 2, "text", 0);
	qp_wqe_sge(qp_wqe(n.a, 3, RDMAP_WR_WRITE, RDMAP_WR_SIGNALED), g, 0, 3000);
	qp_post(n.a);
	qp_wqe(n.a, 4, RDMAP_WR_BIND_MW, RDMAP_WR_SIGNALED);
	qp_post(n.a);
	qp_run(n.a);
	assert_int_equal(n.a->local_ops, 1);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.tail), 0);
	assert_true(rdmap_sq_is_busy(&n.a->r));
	assert_true(rdmap_sq_is_sent(&n.a->r));
	while (n.a->wcs == 0)
		assert_true(llp_mem_step(n.mem));
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.tail), 2);
	qp_net_run(&n);
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 3000);
	qp_expect_wc(n.a, 4, RDMAP_WC_SUCCESS, RDMAP_WC_BIND_MW, 0);
	qp_expect_no_wc(n.a);
	assert_int_equal(atomic_load(&n.a->sq.silent), 1);
	qp_net_done(&n);
}

/* The peer cannot have answered what it has not got. */
static void test_answer_acknowledges(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	post_read(n.a, 2, qp_region_add(n.a, 7, 0x1000, 4, LOCAL), RDMAP_WR_SIGNALED);
	post_write(n.a, 3, RDMAP_WR_SIGNALED);
	llp_mem_hold(mpa_llp(n.a->m), true);
	qp_run(n.a);
	FEED(&n, RESPONSE("abcd"));
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_no_wc(n.a);
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_net_run(&n);
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_net_done(&n);
}

#define ATOMIC_RESPONSE(value) \
	"\x41\x4b" ZERO4 "\x00\x00\x00\x03" MSN("\x01") ZERO4 MSN("\x01") value

/* What is no answer to the oldest request acknowledges nothing. */
static void wrong_answer(const char *answer, size_t len)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	post_read(n.a, 2, qp_region_add(n.a, 7, 0x1000, 4, LOCAL), RDMAP_WR_SIGNALED);
	llp_mem_hold(mpa_llp(n.a->m), true);
	qp_run(n.a);
	qp_net_feed(&n, answer, len);
	assert_int_equal(n.a->endeds, 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

static void test_wrong_answer(void **state)
{
	wrong_answer(ATOMIC_RESPONSE("abcdefgh"), sizeof(ATOMIC_RESPONSE("abcdefgh")) - 1);
	wrong_answer(RESPONSE("abcde"), sizeof(RESPONSE("abcde")) - 1);
}

/* What an answer acknowledges completes before it, and that may end the stream. */
static void ends_before_answer(enum rdmap_wr_op op, const char *answer, size_t len)
{
	struct qp_region *g;
	struct qp_net n;

	setup_by_acks(&n);
	g = qp_region_add(n.a, 7, 0x1000, 8, LOCAL);
	n.a->on_complete = abort_when_told;
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	qp_wqe_sge(qp_wqe(n.a, 2, op, RDMAP_WR_SIGNALED), g, 0, 8);
	qp_post(n.a);
	llp_mem_hold(mpa_llp(n.a->m), true);
	qp_run(n.a);
	memset(g->mem, 0x77, 8);
	qp_net_feed(&n, answer, len);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_no_wc(n.a);
	assert_memory_equal(g->mem, "wwwwwwww", 8);
	qp_net_done(&n);
}

static void test_end_before_answer(void **state)
{
	static const char atomic[] = ATOMIC_RESPONSE("abcdefgh");

	ends_before_answer(RDMAP_WR_READ, RESPONSE("abcdefgh"), sizeof(RESPONSE("abcdefgh")) - 1);
	ends_before_answer(RDMAP_WR_FETCH_ADD, atomic, sizeof atomic - 1);
}

/* A reset: what has come succeeds though nobody told of it yet, the rest is flushed. */
static void test_reset_by_acks(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_true(llp_mem_step(n.mem)); /* it comes, and is acknowledged */
	qp_expect_no_wc(n.a);
	post_write(n.a, 2, 0);
	post_send(n.a, 3, "text", RDMAP_WR_SIGNALED);
	llp_mem_hold(mpa_llp(n.a->m), true);
	qp_run(n.a);
	llp_mem_fail(mpa_llp(n.a->m), -ECONNRESET);
	qp_net_run(&n);
	assert_int_equal(n.a->endeds, 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* The peer's end is told before what its packet acknowledges. */
static void test_end_by_acks(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_true(llp_mem_step(n.mem));
	qp_expect_no_wc(n.a);
	n.a->m->ops->eof(n.a->m->user);
	assert_int_equal(n.a->peer_closeds, 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_net_done(&n);
}

/* One that cannot be done fails in its turn: none behind it succeeds, acknowledged or not. */
static void test_failure_by_acks(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_true(llp_mem_step(n.mem));
	qp_wqe(n.a, 2, RDMAP_WR_WRITE, 0)->length = UINT32_MAX;
	qp_post(n.a);
	post_write(n.a, 3, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_int_equal(n.a->endeds, 1);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_expect_wc(n.a, 2, RDMAP_WC_LOC_LEN_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_net_run(&n);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* The peer refuses one before it acknowledges any: the Terminate's own status is for that one. */
static void test_refusal_by_acks(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	for (unsigned i = 1; i <= 3; i++)
		post_send(n.a, i, "text", RDMAP_WR_SIGNALED);
	llp_mem_hold(mpa_llp(n.a->m), true);
	qp_run(n.a);
	/* DDP: no buffer for Send 2. */
	FEED(&n, "\x41\x47\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x00"
		 "\x12\x02\xc0\x00\x00\x16"
		 "\x41\x43\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00");
	assert_int_equal(n.a->endeds, 1);
	rdmap_flush_sq(&n.a->r);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_OP_ERR, RDMAP_WC_SEND, 0);
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* A drain ends when all is acknowledged. Our direction closes before: the FIN is sent behind. */
static void test_close_by_acks(void **state)
{
	struct qp_net n;

	setup_by_acks(&n);
	post_write(n.a, 1, RDMAP_WR_SIGNALED);
	qp_run(n.a);
	assert_false(rdmap_sq_suspend(&n.a->r));
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	assert_int_equal(n.a->draineds, 1);
	rdmap_sq_resume(&n.a->r);
	post_write(n.a, 2, RDMAP_WR_SIGNALED);
	rdmap_close(&n.a->r);
	qp_expect_no_wc(n.a);
	assert_true(n.a->m->tx_closed);
	qp_net_run(&n);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_post_in_complete),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_fail_oldest),
		cmocka_unit_test(test_fail_oldest_again),
		cmocka_unit_test(test_abort_in_complete),
		cmocka_unit_test(test_drained),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_abort_instead_of_drained),
		cmocka_unit_test(test_not_drained_by_the_end),
		cmocka_unit_test(test_acked),
		cmocka_unit_test(test_answer_acknowledges),
		cmocka_unit_test(test_wrong_answer),
		cmocka_unit_test(test_end_before_answer),
		cmocka_unit_test(test_reset_by_acks),
		cmocka_unit_test(test_end_by_acks),
		cmocka_unit_test(test_failure_by_acks),
		cmocka_unit_test(test_refusal_by_acks),
		cmocka_unit_test(test_close_by_acks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
