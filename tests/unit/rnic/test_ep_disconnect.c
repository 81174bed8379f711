/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints that disconnect, or lose their connection. */
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

/** Both are told once, all that was posted is flushed, and nothing is left. */
static void is_over(struct pair *p)
{
	pair_run(p);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	/* Again: nothing happens, and it is no error. */
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	pair_advance(p, 20000);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

static void active_disconnects(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	pair_post_recv(&p->b, p->b.qp, 2, 0, 8);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	is_over(p);
	assert_int_equal(pair_last(&p->a)->status, 0);
	assert_int_equal(pair_last(&p->b)->status, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect(p, &p->b, 2, RDMAP_WC_WR_FLUSH_ERR);
}

static void passive_disconnects(void **state)
{
	struct pair *p = *state;

	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	is_over(p);
}

static void both_disconnect(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	assert_int_equal(rnic_ep_disconnect(p->b.request), 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	p->quiet = false;
	is_over(p);
}

/** What was posted before is sent; librdmacm's disconnect moves the QP to SQD first. */
static void disconnect_drains(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 1, 0, 30000);
	llp_mem_set_buffer(p->mem, 5000);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 30000, 0, 0);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_SQD}),
		0);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_SQD);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	p->quiet = false;
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	is_over(p);
}

/** With completion = acked: what has arrived was done, also if the peer's end then never comes. */
static void what_has_arrived_was_done(void **state)
{
	const struct rnic_config cfg = {
		.mpa = {.revision = 2, .crc = true, .tell_acked = true}, .close_timeout_ms = 1000};
	struct pair p;
	const struct llp *llp;

	pair_init(&p, &cfg);
	pair_connect(&p);
	llp = mpa_llp(&p.a.qp->conn->mpa);
	pair_post_recv(&p.b, p.b.qp, 1, 0, 64);
	p.quiet = true;
	pair_post(&p.a, p.a.qp, 2, RDMAP_WR_SEND, 0, 11, 0, 0);
	engine_lock(&p.engine);
	for (unsigned i = 0; i < 100 && llp_acked(llp) != llp_queued(llp); i++)
		llp_mem_step(p.mem);
	engine_unlock(&p.engine);
	assert_int_equal(rnic_ep_disconnect(p.a.ep), 0);
	for (unsigned i = 0; i < 10000 && rnic_qp_get_state(p.a.qp) != RNIC_QP_ERROR; i++) {
		p.clock += PAIR_MS;
		engine_round(&p.engine);
	}
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_ERROR);
	p.quiet = false;
	pair_expect(&p, &p.a, 2, RDMAP_WC_SUCCESS);
	pair_expect(&p, &p.b, 1, RDMAP_WC_SUCCESS);
	pair_fini(&p);
}

/**
 * Disconnect and destroy at once, as many programs do: what completed is on its way and must
 * arrive.
 */
static void disconnect_and_destroy(void **state)
{
	struct pair *p = *state;

	memcpy(p->a.buf, "last words", 11);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 64);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 11, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	p->quiet = false;
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	assert_string_equal((char *)p->b.buf, "last words");
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->b)->status, 0);
}

/** The same without a word of parting. */
static void completed_and_destroy(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	memcpy(p->a.buf, "last words", 11);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 64);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 11, 0, 0);
	assert_int_equal(rnic_cq_poll(p->a.cq, 1, &wc), 1);
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	p->quiet = false;
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	assert_string_equal((char *)p->b.buf, "last words");
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->b)->status, 0);
}

/** What is posted after it completes too: flushed. */
static void posted_after_disconnect(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 8, (uintptr_t)p->b.buf,
		rnic_mr_stag(p->b.mr));
	p->quiet = false;
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	is_over(p);
}

static void connection_lost(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	engine_lock(&p->engine);
	llp_mem_fail(p->a.qp->rdmap.mpa->llp, -ETIMEDOUT);
	engine_unlock(&p->engine);
	is_over(p);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
}

static unsigned removals_of(const struct side *s, const struct rnic_ep *ep)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_ep_events; i++)
		n += s->ep_events[i].type == RNIC_EP_DEVICE_REMOVAL && s->ep_events[i].ep == ep;
	return n;
}

/** As of the kernel's: an endpoint without an address of the device has none to lose. */
static void the_device_is_removed(void **state)
{
	struct pair *p = *state;
	struct side *b = &p->b;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct ip_endpoint any = {.addr = {{[10] = 0xff, 0xff}}, .port = 800};
	struct rnic_conn_param cp = {.qp = pair_qp(&p->a, p->a.cq, NULL), .ird = 4, .ord = 4};
	struct rnic_ep *idle, *wild, *asking, *adopted = b->request;

	assert_int_equal(rnic_ep_create(b->rnic, pair_ep_event, b, &idle), 0);
	assert_int_equal(rnic_ep_create(b->rnic, pair_ep_event, b, &wild), 0);
	assert_int_equal(rnic_ep_bind(wild, &any, false, false), 0);
	assert_int_equal(rnic_ep_listen(wild, 1), 0);
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &asking), 0);
	assert_int_equal(rnic_ep_resolve(asking, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(asking, &cp), 0);
	pair_run(p);
	assert_ptr_not_equal(b->request, adopted);

	engine_lock(&p->engine);
	rnic_lost(b->rnic);
	engine_unlock(&p->engine);
	assert_int_equal(removals_of(b, b->ep), 1);
	assert_int_equal(removals_of(b, adopted), 1);
	assert_int_equal(pair_count(b, RNIC_EP_DEVICE_REMOVAL), 2);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DEVICE_REMOVAL), 0);

	rnic_ep_destroy(idle);
	rnic_ep_destroy(wild);
	rnic_ep_destroy(asking);
	rnic_ep_destroy(adopted);
	assert_int_equal(rnic_qp_destroy(cp.qp), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(active_disconnects, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(passive_disconnects, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(both_disconnect, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(disconnect_drains, pair_setup, pair_teardown),
		cmocka_unit_test(what_has_arrived_was_done),
		cmocka_unit_test_setup_teardown(posted_after_disconnect, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(disconnect_and_destroy, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(completed_and_destroy, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(connection_lost, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(the_device_is_removed, pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
