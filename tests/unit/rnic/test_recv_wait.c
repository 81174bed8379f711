/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that come before their receives, over the CM. Those of QPs that connect by themselves
 * are in test_pairing_waits.c, with the SRQ's queue of waiting QPs.
 */
#include "rnic/recv_wait.h"

#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#define PATIENCE 100 /* ms */
#define CLOSE    300

static int start(void **state, uint32_t patience)
{
	static struct pair p;
	const struct rnic_config cfg = {.mpa = {.revision = 2, .crc = true},
		.close_timeout_ms = CLOSE,
		.rnr_timeout_ms = patience};

	pair_init(&p, &cfg);
	pair_connect(&p);
	*state = &p;
	return 0;
}

static int setup(void **state)
{
	return start(state, PATIENCE);
}

static int setup_without_patience(void **state)
{
	return start(state, 0);
}

static int setup_with_much(void **state)
{
	return start(state, 100 * CLOSE);
}

static void send(struct pair *p, uint64_t wr_id)
{
	pair_post(&p->a, p->a.qp, wr_id, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_run(p);
}

static void expect_error(struct pair *p)
{
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_REQUEST_ERROR), 1);
}

static void expect_waiting(struct pair *p)
{
	pair_expect_none(p, &p->b);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_RTS);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
}

static void comes_late(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	send(p, 2);
	pair_advance(p, PATIENCE - 10);
	expect_waiting(p);
	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	/* The next message has the whole time again. */
	pair_advance(p, PATIENCE - 10);
	expect_waiting(p);
	pair_post_recv(&p->b, p->b.qp, 8, 0, 64);
	pair_expect(p, &p->b, 8, RDMAP_WC_SUCCESS);
	pair_advance(p, 2 * PATIENCE);
	expect_waiting(p);
	/* Nor is it over by a time that had begun before. */
	send(p, 3);
	pair_advance(p, PATIENCE - 10);
	expect_waiting(p);
}

static void does_not_come_while_all_stand_still(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	pair_stand_still(p, 60000);
	pair_advance(p, PATIENCE - 10);
	expect_waiting(p);
	pair_advance(p, 20);
	expect_error(p);
}

static void does_not_come(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	pair_advance(p, PATIENCE - 10);
	expect_waiting(p);
	pair_advance(p, 20);
	expect_error(p);
}

static void need_not_wait(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	expect_error(p);
}

/* Nothing looks at a QP that is gone, nor at an SRQ's list that it was in. */
static void ends_with_its_qp(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
	p->b.qp = NULL;
	pair_advance(p, 2 * PATIENCE);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_QP_REQUEST_ERROR), 0);
}

static void ends_with_the_connection(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	assert_true(p->b.qp->wait.held);
	assert_int_equal(pair_go(p->b.qp, RNIC_QP_ERROR), 0);
	assert_false(p->b.qp->wait.held);
	assert_false(timer_running(&p->b.qp->wait.timer));
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
}

static void expect_end(const struct side *s, unsigned n)
{
	assert_int_equal(pair_count(s, RNIC_EP_DISCONNECTED), n);
	if (n != 0)
		assert_int_equal(pair_last(s)->status, 0);
}

/* It is no error then, and no Terminate could tell of it. */
static void expect_end_in_good_order(struct pair *p)
{
	expect_end(&p->a, 1);
	expect_end(&p->b, 1);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

/* Until the peer has ended, too, the message waits. */
static void comes_behind_a_disconnect(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	p->quiet = true;
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	assert_true(p->b.qp->wait.held);
	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	p->quiet = false;
	pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	expect_end_in_good_order(p);
}

/* The peer ends behind a message that nobody waits for; the patience here is for a minute. */
static void does_not_come_behind_a_disconnect(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	send(p, 2);
	expect_waiting(p);
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	pair_run(p);
	pair_expect_none(p, &p->b);
	expect_end_in_good_order(p);
}

static void does_not_come_behind_the_peers_disconnect(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_advance(p, CLOSE / 2);
	/* This program has not ended, and may still post one. */
	expect_end(&p->b, 0);
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	pair_run(p);
	expect_end_in_good_order(p);
}

/* The first of two has one, and the end of the peer is known by then. */
static void comes_for_the_first_behind_a_disconnect(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	send(p, 2);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_run(p);
	engine_lock(&p->engine);
	qp_close(p->b.qp);
	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	engine_unlock(&p->engine);
	pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	expect_end_in_good_order(p);
}

/* A receive of another thread's, while timers run: the message has its turn when they have. */
static void is_posted_while_it_is_given_up(void **state)
{
	struct pair *p = *state;

	send(p, 1);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_run(p);
	engine_lock(&p->engine);
	qp_close(p->b.qp);
	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	assert_true(recv_wait_give_up(p->b.qp));
	engine_unlock(&p->engine);
	pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	expect_end_in_good_order(p);
}

/* What the peer's message waits for is no progress of our close, nor is what was done before. */
static void holds_up_a_close_for_no_longer_than_a_peer_may(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	send(p, 2);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	pair_post(&p->b, p->b.qp, 8, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->b, 8, RDMAP_WC_SUCCESS);
	assert_true(p->a.qp->wait.held);
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	pair_advance(p, CLOSE - 20);
	expect_end(&p->b, 0);
	pair_advance(p, 40);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_last(&p->b)->status, -ETIMEDOUT);
}

#define FLOWS    3
#define MESSAGES 20

struct flow {
	struct rnic_ep *ep, *request;
	struct rnic_qp *a, *b;
};

static void flow_begin(struct pair *p, struct flow *f, struct rnic_srq *srq)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};

	f->a = cp.qp = pair_qp(&p->a, p->a.cq, NULL);
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &f->ep), 0);
	assert_int_equal(rnic_ep_resolve(f->ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(f->ep, &cp), 0);
	pair_run(p);
	f->request = p->b.request;
	rnic_ep_set_context(f->request, pair_ep_event, &p->b);
	f->b = cp.qp = pair_qp(&p->b, p->b.cq, srq);
	assert_int_equal(rnic_ep_accept(f->request, &cp), 0);
	pair_run(p);
	for (unsigned i = 0; i < MESSAGES; i++) {
		pair_post(&p->a, f->a, i, RDMAP_WR_SEND, 0, 8, 0, 0);
		pair_expect(p, &p->a, i, RDMAP_WC_SUCCESS);
	}
}

static void flow_end(struct flow *f)
{
	rnic_ep_destroy(f->ep);
	rnic_ep_destroy(f->request);
	assert_int_equal(rnic_qp_destroy(f->a), 0);
	assert_int_equal(rnic_qp_destroy(f->b), 0);
}

static void post_shared(struct side *s, struct rnic_srq *srq, uint64_t wr_id)
{
	struct rdmap_rqe *w;

	assert_int_equal(rnic_srq_begin(srq), 0);
	w = rnic_srq_next(srq);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->length = 64;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){(uintptr_t)s->buf, 64, rnic_mr_stag(s->mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
}

/* A receive now and then is enough for all that share an SRQ, if each has its turn. */
static void has_its_turn_at_an_srq(void **state)
{
	struct pair *p = *state;
	struct rnic_ep *first = p->b.request;
	struct flow flows[FLOWS];
	unsigned got[FLOWS] = {0};
	struct rnic_srq *srq;
	struct rnic_wc wc;

	assert_int_equal(rnic_srq_create(p->b.pd, 16, 1, 0, NULL, &srq), 0);
	for (unsigned i = 0; i < FLOWS; i++)
		flow_begin(p, &flows[i], srq);
	p->b.request = first;
	for (unsigned i = 0; i < FLOWS * MESSAGES; i++) {
		pair_advance(p, PATIENCE / (FLOWS + 1));
		post_shared(&p->b, srq, i);
		wc = pair_expect(p, &p->b, i, RDMAP_WC_SUCCESS);
		for (unsigned j = 0; j < FLOWS; j++)
			got[j] += wc.qp_num == rnic_qp_num(flows[j].b);
		for (unsigned j = 0; j < FLOWS; j++)
			assert_in_range(got[j], i / FLOWS, i / FLOWS + 1);
	}
	for (unsigned i = 0; i < FLOWS; i++) {
		assert_int_equal(rnic_qp_get_state(flows[i].b), RNIC_QP_RTS);
		flow_end(&flows[i]);
	}
	pair_run(p);
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_late, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(does_not_come, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			does_not_come_while_all_stand_still, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			need_not_wait, setup_without_patience, pair_teardown),
		cmocka_unit_test_setup_teardown(ends_with_its_qp, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(ends_with_the_connection, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			comes_behind_a_disconnect, setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(
			does_not_come_behind_a_disconnect, setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(
			does_not_come_behind_the_peers_disconnect, setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(
			comes_for_the_first_behind_a_disconnect, setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(
			is_posted_while_it_is_given_up, setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(holds_up_a_close_for_no_longer_than_a_peer_may,
			setup_with_much, pair_teardown),
		cmocka_unit_test_setup_teardown(has_its_turn_at_an_srq, setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
