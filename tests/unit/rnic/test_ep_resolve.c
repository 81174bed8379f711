/* SPDX-License-Identifier: BSD-2-Clause */
/* The neighbour is asked for in time, and no longer. */
#include "rnic/ep.h"

#include "pair.h"
#include "rnic/ep_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#define PATIENCE_MS 200
#define YOUNG_MS    3000 /* a link that has come up loses its first frames, perhaps */

static struct pair p;

/* Nobody answers for b. */
static int setup(void **state)
{
	pair_init(&p, NULL);
	llp_mem_set_silent(p.mem, 1, true);
	pair_advance(&p, YOUNG_MS);
	return 0;
}

static int teardown(void **state)
{
	pair_fini(&p);
	return 0;
}

static int resolve(uint64_t patience)
{
	const struct ip_endpoint to = llp_mem_endpoint(p.mem, 1, PAIR_PORT);

	return rnic_ep_resolve(p.a.ep, &to, patience);
}

static void expect_last(enum rnic_ep_event_type type, int status)
{
	assert_int_equal(pair_last(&p.a)->type, type);
	assert_int_equal(pair_last(&p.a)->status, status);
	assert_ptr_equal(pair_last(&p.a)->ep, p.a.ep);
}

static void given_up_when_the_time_is_up(void **state)
{
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	pair_advance(&p, PATIENCE_MS - 1);
	assert_int_equal(p.a.n_ep_events, 0);
	pair_advance(&p, 2);
	assert_int_equal(p.a.n_ep_events, 1);
	expect_last(RNIC_EP_ADDR_ERROR, -ETIMEDOUT);
	/* Once; and as if it had not been tried. */
	pair_advance(&p, 1000);
	assert_int_equal(p.a.n_ep_events, 1);
	assert_int_equal(p.a.ep->state, EP_IDLE);
	llp_mem_set_silent(p.mem, 1, false);
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	expect_last(RNIC_EP_ADDR_RESOLVED, 0);
}

static void no_longer_than_the_least(void **state)
{
	assert_int_equal(resolve(1), 0);
	pair_advance(&p, 1);
	expect_last(RNIC_EP_ADDR_ERROR, -ETIMEDOUT);
}

static void longer_on_a_young_link(void **state)
{
	rnic_port_changed(p.a.rnic, false);
	rnic_port_changed(p.a.rnic, true);
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	pair_advance(&p, YOUNG_MS - 1);
	assert_int_equal(p.a.n_ep_events, 0);
	pair_advance(&p, 2);
	expect_last(RNIC_EP_ADDR_ERROR, -ETIMEDOUT);
}

static void an_answer_after_we_stood_still(void **state)
{
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	pair_advance(&p, PATIENCE_MS / 2);
	pair_stand_still(&p, 60000);
	assert_int_equal(p.a.n_ep_events, 0);
	pair_advance(&p, PATIENCE_MS / 4);
	llp_mem_set_silent(p.mem, 1, false);
	pair_advance(&p, 20);
	expect_last(RNIC_EP_ADDR_RESOLVED, 0);
}

static void none_after_we_stood_still(void **state)
{
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	pair_advance(&p, PATIENCE_MS / 2);
	pair_stand_still(&p, 60000);
	pair_advance(&p, PATIENCE_MS / 2 + 10);
	expect_last(RNIC_EP_ADDR_ERROR, -ETIMEDOUT);
}

static void an_answer_in_time(void **state)
{
	struct ip_endpoint local, remote;

	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	pair_advance(&p, PATIENCE_MS / 2);
	rnic_ep_addresses(p.a.ep, &local, &remote);
	assert_int_equal(local.port, 0);
	assert_false(rnic_ep_has_device(p.a.ep));
	llp_mem_set_silent(p.mem, 1, false);
	pair_advance(&p, 20);
	assert_int_equal(p.a.n_ep_events, 1);
	expect_last(RNIC_EP_ADDR_RESOLVED, 0);
	rnic_ep_addresses(p.a.ep, &local, &remote);
	assert_int_not_equal(local.port, 0);
	assert_int_equal(remote.port, PAIR_PORT);
	assert_true(rnic_ep_has_device(p.a.ep));
	pair_advance(&p, 2 * PATIENCE_MS);
	assert_int_equal(p.a.n_ep_events, 1);
}

static void what_was_bound_stays_bound(void **state)
{
	struct ip_endpoint at = llp_mem_endpoint(p.mem, 0, 700), local, remote;

	assert_int_equal(rnic_ep_bind(p.a.ep, &at, false, false), 0);
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	assert_true(rnic_ep_has_device(p.a.ep));
	pair_advance(&p, PATIENCE_MS + 1);
	expect_last(RNIC_EP_ADDR_ERROR, -ETIMEDOUT);
	assert_int_equal(p.a.ep->state, EP_BOUND);
	rnic_ep_addresses(p.a.ep, &local, &remote);
	assert_int_equal(local.port, 700);
	assert_int_equal(remote.port, 0);
	assert_int_equal(rnic_ep_listen(p.a.ep, 1), 0);
}

static void nothing_else_meanwhile(void **state)
{
	const struct rnic_conn_param cp = {.qp = p.a.qp};
	const struct ip_endpoint at = llp_mem_endpoint(p.mem, 0, 700);

	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), -EINVAL);
	assert_int_equal(rnic_ep_bind(p.a.ep, &at, false, false), -EINVAL);
	assert_int_equal(rnic_ep_listen(p.a.ep, 1), -EINVAL);
	assert_int_equal(rnic_ep_connect(p.a.ep, &cp), -EINVAL);
	assert_int_equal(rnic_ep_disconnect(p.a.ep), -ENOTCONN);
}

static void destroyed_while_it_asks(void **state)
{
	assert_int_equal(resolve(PATIENCE_MS * PAIR_MS), 0);
	rnic_ep_destroy(p.a.ep);
	p.a.ep = NULL;
	pair_advance(&p, 2 * PATIENCE_MS);
	assert_int_equal(p.a.n_ep_events, 0);
}

/* A request for no more than a route is answered at once. */
static void the_route_will_do(void **state)
{
	assert_int_equal(resolve(0), 0);
	expect_last(RNIC_EP_ADDR_RESOLVED, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(given_up_when_the_time_is_up),
		T(no_longer_than_the_least),
		T(longer_on_a_young_link),
		T(an_answer_in_time),
		T(an_answer_after_we_stood_still),
		T(none_after_we_stood_still),
		T(what_was_bound_stays_bound),
		T(nothing_else_meanwhile),
		T(destroyed_while_it_asks),
		T(the_route_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
