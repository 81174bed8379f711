/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints and QPs that are destroyed, whatever they are about. */
#include "pair.h"
#include "rnic/conn.h"
#include "rnic/ep_priv.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void destroyed_while_connecting(void **state)
{
	struct pair *p = *state;
	unsigned n;

	pair_request(p, NULL);
	n = p->a.n_ep_events;
	rnic_ep_destroy(p->a.ep);
	p->a.ep = NULL;
	pair_run(p);
	assert_int_equal(p->a.n_ep_events, n);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_INIT);
	/* The other learns it when it answers; until then nothing is told. */
	assert_int_equal(p->b.n_ep_events, 1);
	assert_int_equal(
		rnic_ep_accept(p->b.request, &(struct rnic_conn_param){.qp = p->b.qp}), -ENOTCONN);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_INIT);
}

/** What was sent before arrives, what waits is flushed, and the peer hears of the end. */
static void destroyed_while_connected(void **state)
{
	struct pair *p = *state;
	unsigned n = p->a.n_ep_events;

	pair_post_recv(&p->a, p->a.qp, 3, 0, 8);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 8);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	rnic_ep_destroy(p->a.ep);
	p->a.ep = NULL;
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 3, RDMAP_WC_WR_FLUSH_ERR);
	pair_run(p);
	assert_int_equal(p->a.n_ep_events, n);
	assert_int_equal(p->a.n_events, 0);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
}

/** The passive side, whose peer has not said anything yet. */
static void destroyed_while_accepted(void **state)
{
	struct pair *p = *state;

	pair_request(p, NULL);
	p->quiet = true;
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	assert_int_equal(rnic_ep_accept(p->b.request, &(struct rnic_conn_param){.qp = p->b.qp}), 0);
	rnic_ep_destroy(p->b.request);
	p->b.request = NULL;
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	p->quiet = false;
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

static void destroyed_while_closing(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	rnic_ep_destroy(p->a.ep);
	p->a.ep = NULL;
	p->quiet = false;
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
}

static void count_failure(void *arg, const struct rnic_failure *f)
{
	++*(unsigned *)arg;
}

/** The peer has not failed. */
static void qp_destroyed_while_connecting(void **state)
{
	struct pair *p = *state;
	unsigned failures = 0;

	rnic_set_failure_handler(p->a.rnic, count_failure, &failures);
	pair_request(p, NULL);
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->a)->status, -ECONNABORTED);
	assert_int_equal(failures, 0);
	pair_run(p);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

static void qp_moved_while_connecting(void **state)
{
	struct pair *p = *state;
	unsigned failures = 0;

	rnic_set_failure_handler(p->a.rnic, count_failure, &failures);
	pair_request(p, NULL);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(failures, 0);
	pair_run(p);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
}

/** Steps of a whole life, cut off after each: nothing leaks, nothing is told twice. */
static void cut_off_anywhere(void **state)
{
	for (unsigned cut = 0; cut < 40; cut++) {
		struct pair *p;
		struct ip_endpoint to;
		struct rnic_conn_param cp = {.ird = 1, .ord = 1};

		pair_setup_apart(state);
		p = *state;
		to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
		p->quiet = true;
		pair_listen(p, 0);
		assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
		cp.qp = p->a.qp;
		assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
		for (unsigned i = 0; i < cut; i++) {
			engine_lock(&p->engine);
			llp_mem_step(p->mem);
			engine_unlock(&p->engine);
			if (p->b.request && pair_count(&p->b, RNIC_EP_ESTABLISHED) == 0) {
				rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
				cp.qp = p->b.qp;
				assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
			}
			if (i == 20)
				assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
		}
		p->quiet = false;
		if (cut % 2) {
			assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
			p->a.qp = NULL;
		} else {
			rnic_ep_destroy(p->a.ep);
			p->a.ep = NULL;
		}
		pair_run(p);
		assert_true(pair_count(&p->a, RNIC_EP_DISCONNECTED) <= 1);
		assert_true(pair_count(&p->b, RNIC_EP_DISCONNECTED) <= 1);
		pair_fini(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			destroyed_while_connecting, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			destroyed_while_connected, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			destroyed_while_accepted, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(destroyed_while_closing, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			qp_destroyed_while_connecting, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			qp_moved_while_connecting, pair_setup_apart, pair_teardown),
		cmocka_unit_test(cut_off_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
