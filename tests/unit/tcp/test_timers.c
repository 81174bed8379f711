/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static void test_syn_is_repeated_then_given_up(void **state)
{
	const struct tcp_stack_config cfg = {.syn_retries = 3};

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	assert_int_equal(host_sent_within(&h, 999 * MS), 1);
	assert_int_equal(host_sent_within(&h, 2 * MS), 1); /* at 1 s */
	assert_int_equal(host_sent_within(&h, 1990 * MS), 0);
	assert_int_equal(host_sent_within(&h, 20 * MS), 1);   /* at 3 s */
	assert_int_equal(host_sent_within(&h, 4000 * MS), 1); /* at 7 s */
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(host_sent_within(&h, 8000 * MS), 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_dead_next_hop_is_known_soon(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	h.ip.send_error = -EHOSTUNREACH;
	host_advance(&h, 6000 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 2000 * MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -EHOSTUNREACH);
	host_end(&h);
}

static void test_user_timeout_ends_connecting(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 2500};

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	host_advance(&h, 2400 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 700 * MS); /* the next SYN would go at 3 s */
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** A peer that has been heard is waited for, though its next hop has gone meanwhile. */
static void test_dead_next_hop_of_a_peer_that_spoke(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	host_expect(&h, &a);
	host_hear(&h, a.h.sport, &syn, NULL);
	assert_int_equal(tcp_conn_of(h.app.llp)->state, TCP_SYN_RECEIVED);
	h.ip.send_error = -EHOSTUNREACH;
	host_advance(&h, 9000 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 200000 * MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -EHOSTUNREACH);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_half_open_ends(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	assert_int_equal(host_sent_within(&h, 30000 * MS), 5);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 1);
	assert_int_equal(host_sent_within(&h, 200000 * MS), 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

static void test_retransmissions_back_off_and_end(void **state)
{
	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	assert_int_equal(host_sent_within(&h, 210 * MS), 1);
	assert_int_equal(host_sent_within(&h, 380 * MS), 0);
	assert_int_equal(host_sent_within(&h, 30 * MS), 1);
	host_advance(&h, 90000 * MS);
	ip_double_drain(&h.ip);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 60000 * MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* ---- advice to ARP and ND (RFC 1122 section 2.3.2.1) --------------------------------------- */

static void test_no_progress_is_told(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 60000, .user_timeout_ms = 600000};
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};

	host_init(&h, LOCAL, NULL); /* SYNs, at 1 s and 3 s */
	host_connect(&h);
	host_advance(&h, 990 * MS);
	assert_int_equal(h.ip.doubts, 0);
	host_advance(&h, 2100 * MS);
	assert_int_equal(h.ip.doubts, 2);
	host_end(&h);

	host_init(&h, LOCAL, NULL); /* SYN,ACKs, likewise */
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_advance(&h, 990 * MS);
	assert_int_equal(h.ip.doubts, 0);
	host_advance(&h, 2100 * MS);
	assert_int_equal(h.ip.doubts, 2);
	host_end(&h);

	start(&cfg); /* probes of an idle peer, but not the first, which is no doubt yet */
	host_advance(&h, 60500 * MS);
	assert_int_equal(h.ip.doubts, 0);
	host_advance(&h, 121000 * MS);
	assert_int_equal(h.ip.doubts, 2);
	host_end(&h);
}

/* @return how many timeouts there are in a minute, as each tells of no progress once. */
static unsigned timeouts_in_a_minute(bool unsettled)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 300000};
	unsigned n;

	start(&cfg);
	h.ip.unsettled = unsettled;
	app_send(&h.app, "abc", 3);
	host_advance(&h, 60000 * MS);
	n = h.ip.doubts;
	assert_int_equal(h.app.closed, 0);
	h.ip.unsettled = false;
	host_end(&h);
	return n;
}

/* While the next hop is not settled, there is no reason to wait for ever longer. */
static void test_timeouts_do_not_grow_on_the_link(void **state)
{
	assert_in_range(timeouts_in_a_minute(false), 5, 9);
	assert_in_range(timeouts_in_a_minute(true), 30, 60);
}

/* The steps double: without one more in time, the end of an outage would not be noticed. */
static void test_last_retransmission_is_in_time(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	assert_int_equal(host_sent_within(&h, 26000 * MS), 8); /* at 0; 0.2, 0.6, ..., 25.4 s */
	assert_int_equal(host_sent_within(&h, 3700 * MS), 0);
	assert_int_equal(host_sent_within(&h, 200 * MS), 1);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 100000 * MS);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_user_timeout_is_kept(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	start(&cfg); /* text */
	app_send(&h.app, "abc", 3);
	host_advance(&h, 29990 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);

	start(&cfg); /* that waits for a window */
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	assert_true(host_sent_within(&h, 30190 * MS) > 5); /* asked first at 0.2 s */
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);

	host_init(&h, LOCAL, &cfg); /* a SYN */
	host_connect(&h);
	assert_int_equal(host_sent_within(&h, 29790 * MS), 5); /* 0, 1, 3, 7, 15 s */
	assert_int_equal(host_sent_within(&h, 200 * MS), 1);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* Of a peer that was last heard before its window was in the way: from the first probe on. */
static void test_user_timeout_begins_with_the_first_probe(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 1000};

	start(&cfg);
	c->rto.base = 900 * MS;
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 10000 * MS);
	ip_double_drain(&h.ip);
	app_send(&h.app, "abc", 3);
	assert_int_equal(host_sent_within(&h, 890 * MS), 0);
	assert_int_equal(host_sent_within(&h, 20 * MS), 1);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 980 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 20 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_user_timeout_is_configured(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 2000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	host_advance(&h, 1900 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 2000 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_soft_error_is_reported_at_the_end(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 2000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	h.ip.send_error = -ENETUNREACH;
	host_advance(&h, 5000 * MS);
	assert_int_equal(h.app.error, -ENETUNREACH);
	host_end(&h);
}

static void test_steady_traffic_leaves_the_wheel_alone(void **state)
{
	uint64_t deadline;

	start(NULL);
	app_send(&h.app, "x", 1);
	deadline = c->timer.deadline;
	for (int i = 0; i < 100; i++) {
		p.ack++;
		peer_send(&p, 0, NULL, 0);
		app_send(&h.app, "x", 1);
	}
	assert_int_equal(c->timer.deadline, deadline);
	assert_true(c->rtx_at >= deadline);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syn_is_repeated_then_given_up),
		cmocka_unit_test(test_dead_next_hop_is_known_soon),
		cmocka_unit_test(test_user_timeout_ends_connecting),
		cmocka_unit_test(test_dead_next_hop_of_a_peer_that_spoke),
		cmocka_unit_test(test_half_open_ends),
		cmocka_unit_test(test_retransmissions_back_off_and_end),
		cmocka_unit_test(test_no_progress_is_told),
		cmocka_unit_test(test_timeouts_do_not_grow_on_the_link),
		cmocka_unit_test(test_last_retransmission_is_in_time),
		cmocka_unit_test(test_user_timeout_is_kept),
		cmocka_unit_test(test_user_timeout_begins_with_the_first_probe),
		cmocka_unit_test(test_user_timeout_is_configured),
		cmocka_unit_test(test_soft_error_is_reported_at_the_end),
		cmocka_unit_test(test_steady_traffic_leaves_the_wheel_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
