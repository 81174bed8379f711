/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/ep.h"

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

static int setup(void **state)
{
	static struct pair p;

	pair_init(&p, NULL);
	*state = &p;
	return 0;
}

static int setup_connected(void **state)
{
	setup(state);
	pair_connect(*state);
	return 0;
}

static int teardown(void **state)
{
	pair_fini(*state);
	return 0;
}

static bool same(const struct ip_endpoint *a, const struct ip_endpoint *b)
{
	return a->port == b->port && ip_addr_equal(&a->addr, &b->addr);
}

/* ---- addresses --------------------------------------------------------------------------- */

static void bind_and_its_errors(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint at = llp_mem_endpoint(p->mem, 0, 700), other, remote;
	struct rnic_ep *ep;

	assert_false(rnic_ep_has_device(p->a.ep));
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &ep), 0);
	other = llp_mem_endpoint(p->mem, 1, 700);
	assert_int_equal(rnic_ep_bind(p->a.ep, &other, false, false), -EADDRNOTAVAIL);
	assert_int_equal(rnic_ep_bind(p->a.ep, &at, false, false), 0);
	assert_true(rnic_ep_has_device(p->a.ep));
	assert_int_equal(rnic_ep_bind(p->a.ep, &at, false, false), -EINVAL);
	assert_int_equal(rnic_ep_bind(ep, &at, false, false), -EADDRINUSE);
	rnic_ep_addresses(p->a.ep, &other, &remote);
	assert_true(same(&other, &at));
	assert_int_equal(remote.port, 0);
	/* Destroyed, it gives the port back. */
	rnic_ep_destroy(p->a.ep);
	assert_int_equal(rnic_ep_bind(ep, &at, false, false), 0);
	p->a.ep = ep;
}

static void bind_to_any(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint at = {.port = 0}, local, remote, to = llp_mem_endpoint(p->mem, 1, 5);

	assert_int_equal(rnic_ep_bind(p->a.ep, &at, false, false), 0);
	assert_false(rnic_ep_has_device(p->a.ep));
	rnic_ep_addresses(p->a.ep, &local, &remote);
	assert_int_not_equal(local.port, 0);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_true(rnic_ep_has_device(p->a.ep));
	at = llp_mem_endpoint(p->mem, 0, local.port);
	rnic_ep_addresses(p->a.ep, &local, &remote);
	assert_true(same(&local, &at));
	assert_true(same(&remote, &to));
}

static void resolve_and_its_errors(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint to = {.addr = ip_addr_from_v4("\x0a\x09\x09\x09"), .port = 1};
	struct ip_endpoint any = {.port = 1};
	struct ip_endpoint group = {.addr = ip_addr_from_v4("\xe0\x00\x00\x01"), .port = 1};

	assert_int_equal(rnic_ep_resolve(p->a.ep, &any, 0), -EINVAL);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &group, 0), -EINVAL);
	assert_int_equal(p->a.n_ep_events, 0);
	/* No route: an event; and another try is welcome. */
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_ADDR_ERROR);
	assert_int_equal(pair_last(&p->a)->status, -ENETUNREACH);
	to = llp_mem_endpoint(p->mem, 1, 5);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_ADDR_RESOLVED);
	assert_ptr_equal(pair_last(&p->a)->ep, p->a.ep);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), -EINVAL);
}

static void families_do_not_mix(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint at = llp_mem_endpoint(p->mem, 0, 0), to = {.port = 1};

	assert_int_equal(ip_addr_parse("fd00::2", &to.addr), 0);
	assert_int_equal(rnic_ep_bind(p->a.ep, &at, false, false), 0);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), -EINVAL);
}

/* ---- connect ----------------------------------------------------------------------------- */

static void private_data_and_addresses(void **state)
{
	struct pair *p = *state;
	struct rnic_conn_param cp = {
		.qp = p->a.qp, .private_data = "to the server", .private_len = 14};
	struct ip_endpoint al, ar, bl, br, listener = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	const struct ep_record *ev;

	pair_request(p, &cp);
	ev = pair_last(&p->b);
	assert_int_equal(ev->type, RNIC_EP_CONNECT_REQUEST);
	assert_ptr_equal(ev->ep, p->b.ep);
	assert_int_equal(ev->private_len, 14);
	assert_string_equal((const char *)ev->private_data, "to the server");
	rnic_ep_addresses(p->a.ep, &al, &ar);
	rnic_ep_addresses(p->b.request, &bl, &br);
	assert_true(rnic_ep_has_device(p->b.request));
	assert_true(same(&al, &br));
	assert_true(same(&ar, &bl));
	assert_true(same(&bl, &listener));
	cp = (struct rnic_conn_param){
		.qp = p->b.qp, .private_data = "to the client", .private_len = 14};
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	/* The passive side need not wait. */
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_ESTABLISHED);
	assert_ptr_equal(pair_last(&p->b)->ep, p->b.request);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	pair_run(p);
	ev = pair_last(&p->a);
	assert_int_equal(ev->type, RNIC_EP_ESTABLISHED);
	assert_ptr_equal(ev->ep, p->a.ep);
	assert_int_equal(ev->private_len, 14);
	assert_string_equal((const char *)ev->private_data, "to the client");
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_RTS);
}

static void nobody_listens(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = p->a.qp};

	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	/* It may be tried again, with the same QP. */
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
		/* After three more attempts, 5, 20 and 75 ms apart. */
		pair_advance(p, 99);
		assert_int_equal(pair_count(&p->a, RNIC_EP_REJECTED), i - 1);
		pair_advance(p, 10);
		assert_int_equal(pair_count(&p->a, RNIC_EP_REJECTED), i);
		assert_int_equal(pair_last(&p->a)->status, -ECONNREFUSED);
	}
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_INIT);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), -ENOTCONN);
}

/** A listener that is replaced by another refuses for a moment only. */
static void the_listener_comes_late(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT), local, remote, seen;
	struct rnic_conn_param cp = {.qp = p->a.qp};

	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_advance(p, 50);
	pair_listen(p, 1);
	pair_advance(p, 60);
	assert_int_equal(p->a.n_ep_events, 1);
	assert_non_null(p->b.request);
	rnic_ep_addresses(p->a.ep, &local, &remote);
	rnic_ep_addresses(p->b.request, &remote, &seen);
	assert_true(same(&local, &seen));
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	cp.qp = p->b.qp;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_run(p);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_ESTABLISHED);
}

static void destroyed_between_attempts(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = p->a.qp};

	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_advance(p, 50);
	rnic_ep_destroy(p->a.ep);
	p->a.ep = NULL;
	pair_advance(p, 100);
	assert_int_equal(p->a.n_ep_events, 1);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_INIT);
}

static void rejected_with_private_data(void **state)
{
	struct pair *p = *state;

	pair_request(p, NULL);
	assert_int_equal(rnic_ep_reject(p->b.request, "not today", 10), 0);
	assert_int_equal(rnic_ep_reject(p->b.request, NULL, 0), -ENOTCONN);
	assert_int_equal(
		rnic_ep_accept(p->b.request, &(struct rnic_conn_param){.qp = p->b.qp}), -ENOTCONN);
	pair_run(p);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_REJECTED);
	assert_int_equal(pair_last(&p->a)->status, -ECONNREFUSED);
	assert_int_equal(pair_last(&p->a)->private_len, 10);
	assert_string_equal((const char *)pair_last(&p->a)->private_data, "not today");
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_INIT);
	/* Nothing was established, so nothing is disconnected. */
	assert_int_equal(p->b.n_ep_events, 1);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

static void wrong_parameters(void **state)
{
	struct pair *p = *state;
	static const uint8_t data[513];
	struct rnic_conn_param good = {.qp = p->a.qp, .ird = 1, .ord = 1}, bad[6];
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	for (unsigned i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].qp = NULL;
	bad[1].qp = p->b.qp; /* of another device */
	bad[2].ird = 129;
	bad[3].ord = 129;
	bad[4].private_data = data;
	bad[4].private_len = 509; /* RFC 6581 section 9: 512 less the two words */
	bad[5].private_data = data;
	bad[5].private_len = 513;
	assert_int_equal(rnic_ep_connect(p->a.ep, &good), -EINVAL); /* not resolved */
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(rnic_ep_connect(p->a.ep, &bad[i]), -EINVAL);
	pair_go(p->a.qp, RNIC_QP_ERROR);
	assert_int_equal(rnic_ep_connect(p->a.ep, &good), -EINVAL);
	assert_int_equal(rnic_ep_accept(p->a.ep, &good), -EINVAL);
	assert_int_equal(rnic_ep_reject(p->a.ep, NULL, 0), -EINVAL);
	assert_int_equal(rnic_ep_listen(p->a.ep, 1), -EINVAL);
}

static void one_qp_one_connection(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = p->a.qp};
	struct rnic_ep *ep;

	pair_request(p, NULL);
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &ep), 0);
	assert_int_equal(rnic_ep_resolve(ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(ep, &cp), -EINVAL);
	rnic_ep_destroy(ep);
}

/* ---- disconnect -------------------------------------------------------------------------- */

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

static void a_close_while_all_stand_still(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_stand_still(p, 60000);
	pair_advance(p, 4900);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 0);
	pair_advance(p, 200);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
}

/** The peer vanished: after the deadline we let go. */
static void nobody_answers_the_close(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_advance(p, 4900);
	assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 0);
	pair_advance(p, 200);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
}

/** A close that gets on, however slowly, is not cut off. */
static void a_slow_drain_is_let_finish(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 1, 0, 30000);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 30000, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	for (unsigned i = 0; i < 10; i++) {
		p->clock += 4000 * PAIR_MS;
		assert_int_equal(engine_round(&p->engine), 0);
		engine_lock(&p->engine);
		llp_mem_step(p->mem);
		engine_unlock(&p->engine);
		assert_int_equal(pair_count(&p->a, RNIC_EP_DISCONNECTED), 0);
	}
	p->quiet = false;
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
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

/* ---- destroy ----------------------------------------------------------------------------- */

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

/** The connection goes on with the QP. */
static void destroyed_while_connected(void **state)
{
	struct pair *p = *state;
	unsigned n = p->a.n_ep_events;

	rnic_ep_destroy(p->a.ep);
	p->a.ep = NULL;
	pair_post_recv(&p->b, p->b.qp, 1, 0, 8);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	pair_run(p);
	assert_int_equal(p->a.n_ep_events, n);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
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

static void qp_destroyed_while_connecting(void **state)
{
	struct pair *p = *state;

	pair_request(p, NULL);
	assert_int_equal(rnic_qp_destroy(p->a.qp), 0);
	p->a.qp = NULL;
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->a)->status, -ECONNABORTED);
	pair_run(p);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

static void qp_moved_while_connecting(void **state)
{
	struct pair *p = *state;

	pair_request(p, NULL);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
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

		setup(state);
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
		cmocka_unit_test_setup_teardown(bind_and_its_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(bind_to_any, setup, teardown),
		cmocka_unit_test_setup_teardown(resolve_and_its_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(families_do_not_mix, setup, teardown),
		cmocka_unit_test_setup_teardown(private_data_and_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_listens, setup, teardown),
		cmocka_unit_test_setup_teardown(the_listener_comes_late, setup, teardown),
		cmocka_unit_test_setup_teardown(destroyed_between_attempts, setup, teardown),
		cmocka_unit_test_setup_teardown(rejected_with_private_data, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_parameters, setup, teardown),
		cmocka_unit_test_setup_teardown(one_qp_one_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(active_disconnects, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(passive_disconnects, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(both_disconnect, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(disconnect_drains, setup_connected, teardown),
		cmocka_unit_test(what_has_arrived_was_done),
		cmocka_unit_test_setup_teardown(posted_after_disconnect, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(
			nobody_answers_the_close, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(
			a_close_while_all_stand_still, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(
			a_slow_drain_is_let_finish, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(disconnect_and_destroy, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(completed_and_destroy, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(connection_lost, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(the_device_is_removed, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(destroyed_while_connecting, setup, teardown),
		cmocka_unit_test_setup_teardown(
			destroyed_while_connected, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(destroyed_while_closing, setup_connected, teardown),
		cmocka_unit_test_setup_teardown(qp_destroyed_while_connecting, setup, teardown),
		cmocka_unit_test_setup_teardown(qp_moved_while_connecting, setup, teardown),
		cmocka_unit_test(cut_off_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
