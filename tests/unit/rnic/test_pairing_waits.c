/* SPDX-License-Identifier: BSD-2-Clause */
/* QPs without rdma_cm, and messages that wait for a receive element. */
#include "paired.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct pair p;

/* What is behind a message that waits stays in the LLP, and so does the peer's end. */
static int setup_full(void **state)
{
	paired_init(&p);
	llp_mem_set_unread(p.mem, 1);
	return 0;
}

/* A message waits for its receive element, and so does the peer's end behind it. */
static void test_message_waits(void **state)
{
	paired_connect(&p);
	paired_send(&p.a, 1, '1');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
	paired_send(&p.a, 2, '2');
	pair_expect(&p, &p.a, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 1000);
	pair_expect_none(&p, &p.b);
	paired_recv(&p.b, 3);
	paired_expect_message(&p.b, 3, '1');
	pair_expect_none(&p, &p.b);
	paired_recv(&p.b, 4);
	paired_expect_message(&p.b, 4, '2');
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
	paired_send(&p.b, 5, 'y');
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 5, RDMAP_WC_RETRY_EXC_ERR);
}

/** The last message of a peer that is gone waits at b. */
static void last_message_waits(uint64_t wr_id)
{
	paired_connect(&p);
	paired_send(&p.a, wr_id, 'l');
	pair_expect(&p, &p.a, wr_id, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 1000);
}

static void post_read(uint64_t wr_id)
{
	pair_post(
		&p.b, p.b.qp, wr_id, RDMAP_WR_READ, 0, 8, (uintptr_t)p.a.buf, rnic_mr_stag(p.a.mr));
}

/* The peer's end waits behind a message; what needs an answer does not wait for both. */
static void test_end_behind_a_message(void **state)
{
	last_message_waits(1);
	post_read(2);
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 2, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

/* Posted before the peer's end came. */
static void test_end_behind_a_message_comes_later(void **state)
{
	paired_connect(&p);
	p.quiet = true;
	paired_send(&p.a, 1, 'l');
	post_read(2);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	p.quiet = false;
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 2, RDMAP_WC_RETRY_EXC_ERR);
}

/* An element in time: the message arrives, and the peer's end with it. */
static void test_end_behind_a_message_is_reached(void **state)
{
	last_message_waits(1);
	post_read(2);
	pair_advance(&p, 400);
	paired_recv(&p.b, 3);
	paired_expect_message(&p.b, 3, 'l');
	pair_expect(&p, &p.b, 2, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
}

/* One that is posted in the round in which the time is over is not passed by. */
static void test_element_at_the_deadline(void **state)
{
	last_message_waits(1);
	post_read(2);
	pair_advance(&p, 490);
	engine_lock(&p.engine); /* so that it is served later */
	paired_recv(&p.b, 3);
	p.clock += 20 * PAIR_MS;
	timer_wheel_run(&p.engine.wheel, p.clock);
	engine_unlock(&p.engine);
	paired_expect_message(&p.b, 3, 'l');
	pair_expect(&p, &p.b, 2, RDMAP_WC_WR_FLUSH_ERR);
}

/* Nor is one that the LLP has yet to show the message to. */
static void test_element_before_the_deadline(void **state)
{
	last_message_waits(1);
	post_read(2);
	pair_advance(&p, 490);
	p.quiet = true;
	paired_recv(&p.b, 3);
	p.clock += 20 * PAIR_MS;
	engine_round(&p.engine);
	p.quiet = false;
	paired_expect_message(&p.b, 3, 'l');
	pair_expect(&p, &p.b, 2, RDMAP_WC_WR_FLUSH_ERR);
}

/* An element in time for the first of two messages: the time is over all the same. */
static void test_end_behind_two_messages(void **state)
{
	paired_connect(&p);
	paired_send(&p.a, 1, 'l');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
	paired_send(&p.a, 2, 'm');
	pair_expect(&p, &p.a, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	pair_advance(&p, 1000);
	post_read(2);
	pair_advance(&p, 400);
	paired_recv(&p.b, 3);
	paired_expect_message(&p.b, 3, 'l');
	pair_advance(&p, 90);
	pair_expect_none(&p, &p.b);
	pair_advance(&p, 20);
	pair_expect(&p, &p.b, 2, RDMAP_WC_RETRY_EXC_ERR);
}

/* A peer that says too much too early may be known to have ended before its stream is. */
static void test_end_is_told_before_the_stream(void **state)
{
	const struct pairing *b;

	p.quiet = true;
	b = paired_answer(&p);
	engine_lock(&p.engine);
	pairing_peer_closing(p.b.qp->pairing);
	engine_unlock(&p.engine);
	p.quiet = false;
	pair_advance(&p, 100);
	assert_int_equal(b->state, PAIRING_JOINED);
	paired_send(&p.a, 1, 'l');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
	llp_mem_set_silent(p.mem, 0, true);
	post_read(2);
	pair_advance(&p, 510);
	assert_int_equal(b->state, PAIRING_ENDING);
	llp_mem_set_silent(p.mem, 0, false);
}

/* The answer is behind the message as well. */
static void test_answer_behind_a_message(void **state)
{
	paired_connect(&p);
	paired_send(&p.a, 1, 'l');
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
	memset(p.a.buf, 'r', 8);
	post_read(2);
	pair_run(&p);
	post_read(3);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(p.b.buf[7], 'r');
	pair_expect(&p, &p.b, 3, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect_none(&p, &p.b);
}

/* And so is what the peer did not like. */
static void test_terminate_behind_a_message(void **state)
{
	paired_connect(&p);
	paired_recv(&p.b, 1);
	paired_send(&p.a, 2, 'f');
	paired_send(&p.a, 3, 'l');
	paired_send(&p.a, 4, 'm');
	paired_expect_message(&p.b, 1, 'f');
	pair_post(&p.b, p.b.qp, 5, RDMAP_WR_READ, 0, 8, (uintptr_t)p.a.buf,
		rnic_mr_stag(p.a.mr) ^ 0xff00);
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 5, RDMAP_WC_REM_ACCESS_ERR);
	assert_int_equal(paired_state(&p.b), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p.b, RNIC_EVENT_QP_FATAL), 1);
}

/* What needs no answer does not end it; what comes later has a time of its own. */
static void test_end_behind_a_message_and_nothing_owed(void **state)
{
	last_message_waits(1);
	pair_advance(&p, 60000);
	pair_expect_none(&p, &p.b);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
	paired_recv(&p.b, 3);
	paired_expect_message(&p.b, 3, 'l');
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
	paired_send(&p.b, 4, 'y');
	paired_expect_retries(&p.b);
	pair_expect(&p, &p.b, 4, RDMAP_WC_RETRY_EXC_ERR);
}

/** A receive element of @p len bytes at @p at of b's buffer. */
static void post_shared_of(struct rnic_srq *srq, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct rdmap_rqe *w;

	assert_int_equal(rnic_srq_begin(srq), 0);
	w = rnic_srq_next(srq);
	w->wr_id = wr_id;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){(uintptr_t)p.b.buf + at, len, rnic_mr_stag(p.b.mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
}

static void post_shared(struct rnic_srq *srq, uint64_t wr_id, uint32_t at)
{
	post_shared_of(srq, wr_id, at, 16);
}

/* Two QPs wait at one SRQ: each element serves one, and a QP that finds none waits on. */
static void test_messages_wait_at_an_srq(void **state)
{
	struct rnic_qp *single[2] = {p.a.qp, p.b.qp}, *second[2] = {NULL};
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(p.b.pd, 8, 1, 0, NULL, &srq), 0);
	for (unsigned i = 0; i < 2; i++) {
		p.a.qp = pair_qp(&p.a, p.a.cq, NULL);
		p.b.qp = pair_qp(&p.b, p.b.cq, srq);
		paired_connect(&p);
		paired_send(&p.a, 10 + i, (uint8_t)('0' + i));
		pair_expect(&p, &p.a, 10 + i, RDMAP_WC_SUCCESS);
		if (i == 0) {
			second[0] = p.a.qp;
			second[1] = p.b.qp;
		}
	}
	pair_expect_none(&p, &p.b);
	for (unsigned i = 0; i < 2; i++) {
		post_shared(srq, 20 + i, 64 * i);
		pair_expect(&p, &p.b, 20 + i, RDMAP_WC_SUCCESS);
		pair_expect_none(&p, &p.b);
	}
	assert_int_equal(p.b.buf[0] ^ p.b.buf[64], '0' ^ '1');
	/* One still waits when it is destroyed. */
	paired_send(&p.a, 30, '2');
	pair_expect(&p, &p.a, 30, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_qp_destroy(p.b.qp), 0);
	assert_true(TAILQ_EMPTY(&srq->waiting));
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	assert_int_equal(rnic_qp_destroy(second[0]), 0);
	assert_int_equal(rnic_qp_destroy(second[1]), 0);
	pair_run(&p);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	p.a.qp = single[0];
	p.b.qp = single[1];
}

/* What it waits for is taken by another QP before its turn comes: it waits for the next. */
static void test_another_was_faster(void **state)
{
	struct rnic_qp *single = p.b.qp;
	struct rdmap_rqe *taken = calloc(1, sizeof *taken + sizeof taken->sge[0]);
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(p.b.pd, 8, 1, 0, NULL, &srq), 0);
	p.b.qp = pair_qp(&p.b, p.b.cq, srq);
	paired_connect(&p);
	paired_send(&p.a, 10, 'm');
	pair_expect(&p, &p.a, 10, RDMAP_WC_SUCCESS);
	pair_expect_none(&p, &p.b);
	/* While another thread has the engine a post is served later. */
	engine_lock(&p.engine);
	post_shared(srq, 20, 0);
	assert_true(srq_take(srq, taken));
	engine_unlock(&p.engine);
	assert_int_equal(taken->wr_id, 20);
	pair_expect_none(&p, &p.b);
	post_shared(srq, 21, 64);
	pair_expect(&p, &p.b, 21, RDMAP_WC_SUCCESS);
	assert_int_equal(p.b.buf[64], 'm');
	free(taken);
	assert_int_equal(rnic_qp_destroy(p.b.qp), 0);
	p.b.qp = single;
	pair_run(&p);
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

#define FLOWS    3
#define MESSAGES 20

/* FLOWS pairs whose receivers share an SRQ. */
struct flows {
	struct rnic_qp *single[2], *a[FLOWS], *b[FLOWS];
	struct rnic_srq *srq;
	unsigned got[FLOWS]; /* messages of each */
};

static void flows_begin(struct flows *f)
{
	*f = (struct flows){.single = {p.a.qp, p.b.qp}};
	assert_int_equal(rnic_srq_create(p.b.pd, 16, 1, 0, NULL, &f->srq), 0);
	for (unsigned i = 0; i < FLOWS; i++) {
		f->a[i] = p.a.qp = pair_qp(&p.a, p.a.cq, NULL);
		f->b[i] = p.b.qp = pair_qp(&p.b, p.b.cq, f->srq);
		paired_connect(&p);
		for (unsigned n = 0; n < MESSAGES; n++) {
			paired_send(&p.a, n, 'm');
			pair_expect(&p, &p.a, n, RDMAP_WC_SUCCESS);
		}
	}
	pair_expect_none(&p, &p.b);
}

/* Post @p n receives, before anybody looks, and count who gets them. */
static void flows_post(struct flows *f, unsigned n)
{
	struct rnic_wc wc;

	engine_lock(&p.engine);
	for (unsigned i = 0; i < n; i++)
		post_shared(f->srq, i, 0);
	engine_unlock(&p.engine);
	pair_run(&p);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(rnic_cq_poll(p.b.cq, 1, &wc), 1);
		assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
		for (unsigned j = 0; j < FLOWS; j++)
			f->got[j] += f->b[j] && wc.qp_num == rnic_qp_num(f->b[j]);
	}
	pair_expect_none(&p, &p.b);
}

/* None has had two messages more than another. */
static void flows_expect_even(const struct flows *f)
{
	for (unsigned i = 0; i < FLOWS; i++)
		for (unsigned j = 0; j < FLOWS; j++)
			assert_true(f->got[i] <= f->got[j] + 1);
}

static void flows_end(struct flows *f)
{
	for (unsigned i = 0; i < FLOWS; i++) {
		assert_int_equal(rnic_qp_destroy(f->a[i]), 0);
		if (f->b[i])
			assert_int_equal(rnic_qp_destroy(f->b[i]), 0);
	}
	assert_true(TAILQ_EMPTY(&f->srq->waiting));
	assert_false(f->srq->hungry);
	pair_run(&p);
	assert_int_equal(rnic_srq_destroy(f->srq), 0);
	p.a.qp = f->single[0];
	p.b.qp = f->single[1];
}

/* Receives come @p batch at a time, until all messages have theirs. */
static void flows_serve_evenly(unsigned batch)
{
	struct flows f;

	flows_begin(&f);
	for (unsigned n = 0; n < FLOWS * MESSAGES; n += batch) {
		flows_post(&f, batch);
		flows_expect_even(&f);
	}
	flows_end(&f);
}

/* Who has had an element waits behind those that have not. */
static void test_an_srq_serves_in_turn(void **state)
{
	flows_serve_evenly(1);
}

/* One that finds several takes its own, and leaves the others theirs. */
static void test_an_srq_serves_batches_in_turn(void **state)
{
	flows_serve_evenly(2);
}

/* A send of a QP that waits rings its doorbell, too: that takes nobody's turn. */
static void test_a_send_is_no_turn_at_an_srq(void **state)
{
	struct flows f;

	flows_begin(&f);
	p.b.qp = f.b[FLOWS - 1];
	pair_post_recv(&p.a, f.a[FLOWS - 1], 7, 0, 16);
	engine_lock(&p.engine);
	paired_send(&p.b, 8, 's');
	post_shared(f.srq, 9, 0);
	engine_unlock(&p.engine);
	pair_expect(&p, &p.a, 7, RDMAP_WC_SUCCESS);
	pair_expect(&p, &p.b, 8, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_expect(&p, &p.b, 9, RDMAP_WC_SUCCESS).qp_num, rnic_qp_num(f.b[0]));
	flows_end(&f);
}

/* It is the first one's turn, and it fails or ends before it looks. The element is the next's. */
static void test_a_turn_at_an_srq_passes_on(void **state)
{
	struct flows f;

	flows_begin(&f);
	for (unsigned i = 0; i < FLOWS - 1; i++) {
		engine_lock(&p.engine);
		post_shared(f.srq, 30 + i, 0);
		engine_doorbell_cancel(&p.engine, &f.srq->doorbell);
		f.srq->doorbell.serve(&f.srq->doorbell);
		assert_true(f.b[i]->wait.told);
		assert_false(f.b[i + 1]->wait.told);
		qp_fail(f.b[i]);
		engine_unlock(&p.engine);
		assert_int_equal(pair_expect(&p, &p.b, 30 + i, RDMAP_WC_SUCCESS).qp_num,
			rnic_qp_num(f.b[i + 1]));
		assert_int_equal(rnic_qp_destroy(f.b[i]), 0);
		f.b[i] = NULL;
		/* Next time the other one is the first: it waits already, and alone with the last.
		 */
		if (i == 0) {
			post_shared(f.srq, 40, 0);
			pair_expect(&p, &p.b, 40, RDMAP_WC_SUCCESS);
		}
	}
	flows_end(&f);
}

/* The peer ends in the middle of a message, which this QP outlives: when that is reset or
 * destroyed, the SRQ has its room back. */
static void test_an_srq_has_its_room_back(void **state)
{
	for (unsigned reset = 0; reset < 2; reset++) {
		struct rnic_srq *srq;

		if (reset) {
			pair_fini(&p);
			paired_init(&p);
		}
		assert_int_equal(rnic_srq_create(p.b.pd, 1, 1, 0, NULL, &srq), 0);
		rnic_qp_destroy(p.b.qp);
		p.b.qp = pair_qp(&p.b, p.b.cq, srq);
		paired_connect(&p);
		post_shared_of(srq, 20, 0, 60000);
		llp_mem_set_buffer(p.mem, 8192);
		p.quiet = true;
		pair_post(&p.a, p.a.qp, 9, RDMAP_WR_SEND, 0, 60000, 0, 0);
		assert_int_equal(pair_go(p.a.qp, RNIC_QP_ERROR), 0);
		p.quiet = false;
		pair_advance(&p, 100);
		assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
		assert_non_null(p.b.qp->rdmap.rqe);
		if (reset) {
			assert_int_equal(pair_go(p.b.qp, RNIC_QP_RESET), 0);
		} else {
			assert_int_equal(rnic_qp_destroy(p.b.qp), 0);
			p.b.qp = NULL;
		}
		pair_expect_none(&p, &p.b);
		post_shared(srq, 21, 0);
		if (reset) {
			assert_int_equal(rnic_qp_destroy(p.b.qp), 0);
			p.b.qp = NULL;
		}
		assert_int_equal(rnic_srq_destroy(srq), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t)      cmocka_unit_test_prestate_setup_teardown(t, paired_setup, paired_teardown, &p)
#define TEST_FULL(t) {#t "_full", t, setup_full, paired_teardown, &p}
		TEST(test_message_waits),
		TEST_FULL(test_message_waits),
		TEST(test_end_behind_a_message),
		TEST_FULL(test_end_behind_a_message),
		TEST(test_end_behind_a_message_comes_later),
		TEST_FULL(test_end_behind_a_message_comes_later),
		TEST(test_end_behind_two_messages),
		TEST_FULL(test_end_behind_two_messages),
		TEST(test_element_at_the_deadline),
		TEST_FULL(test_element_at_the_deadline),
		TEST(test_element_before_the_deadline),
		TEST_FULL(test_element_before_the_deadline),
		TEST(test_end_is_told_before_the_stream),
		TEST(test_answer_behind_a_message),
		TEST_FULL(test_answer_behind_a_message),
		TEST(test_terminate_behind_a_message),
		TEST_FULL(test_terminate_behind_a_message),
		TEST(test_end_behind_a_message_is_reached),
		TEST_FULL(test_end_behind_a_message_is_reached),
		TEST(test_end_behind_a_message_and_nothing_owed),
		TEST_FULL(test_end_behind_a_message_and_nothing_owed),
		TEST(test_messages_wait_at_an_srq),
		TEST_FULL(test_messages_wait_at_an_srq),
		TEST(test_an_srq_has_its_room_back),
		TEST(test_another_was_faster),
		TEST(test_an_srq_serves_in_turn),
		TEST_FULL(test_an_srq_serves_in_turn),
		TEST(test_an_srq_serves_batches_in_turn),
		TEST(test_a_send_is_no_turn_at_an_srq),
		TEST(test_a_turn_at_an_srq_passes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
