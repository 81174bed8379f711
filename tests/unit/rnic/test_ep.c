/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: their addresses, and how they connect. */
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
		.qp_num = rnic_qp_num(p->b.qp), .private_data = "to the client", .private_len = 14};
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

/** A program names its QP by number: another thread may have destroyed it. */
static void a_qp_that_is_gone(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = pair_qp(&p->a, p->a.cq, NULL);
	struct rnic_conn_param cp = {.qp_num = rnic_qp_num(qp), .ird = 1, .ord = 1};
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	rnic_qp_retire(qp);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), -EINVAL);
	rnic_qp_free(qp);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), -EINVAL);
	cp.qp_num = rnic_qp_num(p->a.qp);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_run(p);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			bind_and_its_errors, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(bind_to_any, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			resolve_and_its_errors, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			families_do_not_mix, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			private_data_and_addresses, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(nobody_listens, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			the_listener_comes_late, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			destroyed_between_attempts, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			rejected_with_private_data, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(a_qp_that_is_gone, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(wrong_parameters, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			one_qp_one_connection, pair_setup_apart, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
