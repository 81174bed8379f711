/* SPDX-License-Identifier: BSD-2-Clause */
/** What a connection does while nothing can be allocated: it waits. */
#include "host.h"

#include "support/alloc_fault.h"

static struct host h;
static struct peer p;

/** A connection with one record on its way: its queue must grow for more. */
static struct tcp_conn *one_is_out(void)
{
	struct tcp_conn *c = host_accepted(&h, &p, 0, NULL);
	struct heard a;

	app_send_pattern(&h.app, 0, 100);
	host_expect(&h, &a);
	return c;
}

static void expect_fin(struct tcp_conn *c)
{
	struct heard a;

	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_FIN);
	assert_false(a.h.flags & TCP_RST);
	assert_int_equal(c->state, TCP_FIN_WAIT_1);
	host_expect_none(&h);
}

static void test_fin_waits(void **state)
{
	struct tcp_conn *c = one_is_out();

	alloc_fault_chance(1, 0);
	llp_shutdown(h.app.llp);
	assert_int_equal(h.app.closed, 0);
	host_round(&h);
	host_round(&h);
	host_expect_none(&h);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(c->state, TCP_ESTABLISHED);
	alloc_fault_chance(0, 0);
	host_round(&h);
	expect_fin(c);
	host_end(&h);
}

static void waits_behind_acked(uint8_t flags)
{
	struct tcp_conn *c = one_is_out();

	alloc_fault_chance(1, 0);
	llp_shutdown(h.app.llp);
	p.ack += 100;
	peer_send(&p, flags, NULL, 0);
	assert_int_equal(h.app.closed, 0);
	alloc_fault_chance(0, 0);
	host_round(&h);
	expect_fin(c);
	host_end(&h);
}

/** What was sent is acknowledged before there is memory for the FIN: that is not acknowledged. */
static void test_fin_waits_behind_acked(void **state)
{
	waits_behind_acked(0);
	waits_behind_acked(TCP_ECE); /* not by header prediction */
}

static void test_released_fin_waits(void **state)
{
	struct tcp_conn *c = one_is_out();

	alloc_fault_chance(1, 0);
	llp_release(h.app.llp);
	host_round(&h);
	host_expect_none(&h);
	alloc_fault_chance(0, 0);
	host_round(&h);
	expect_fin(c);
	host_end(&h);
}

/** What is to be cut for a path that became narrower waits for a larger queue, and is sent then. */
static void test_cut_waits(void **state)
{
	struct tcp_conn *c = one_is_out();
	struct heard a;

	c->peer_mss = 64;
	tcp_conn_update_emss(c);
	alloc_fault_chance(1, 0);
	host_advance(&h, 3000 * MS);
	host_expect_none(&h);
	assert_int_equal(c->sendq.count, 1);
	assert_int_equal(h.tcp->tx_held, 1);
	alloc_fault_chance(0, 0);
	host_round(&h);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack);
	assert_int_equal(a.len, 64);
	assert_int_equal(h.tcp->tx_held, 2);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack + 64, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.len, 36);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fin_waits),
		cmocka_unit_test(test_fin_waits_behind_acked),
		cmocka_unit_test(test_released_fin_waits),
		cmocka_unit_test(test_cut_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
