/* SPDX-License-Identifier: BSD-2-Clause */
/* Keep-alives, and the time that a connection without a user has. */
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

/* However long a peer may be idle. */
static void test_user_timeout_is_kept_by_keepalives(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 60000, .user_timeout_ms = 30000};

	start(&cfg);
	assert_int_equal(host_sent_within(&h, 60001 * MS), 1);
	assert_int_equal(host_sent_within(&h, 29989 * MS), 2);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_keepalive(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 10000};
	struct heard a;

	start(&cfg);
	host_advance(&h, 9900 * MS);
	host_expect_none(&h);
	peer_send(&p, 0, "x", 1);
	ip_double_drain(&h.ip);
	host_advance(&h, 9900 * MS);
	host_expect_none(&h);
	host_advance(&h, 200 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, c->snd_nxt - 1);
	assert_int_equal(a.len, 0);
	peer_send(&p, 0, NULL, 0); /* alive */
	host_advance(&h, 9900 * MS);
	host_expect_none(&h);
	assert_int_equal(host_sent_within(&h, 89000 * MS), 9);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 12000 * MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_idle_connection_needs_no_timer(void **state)
{
	start(NULL);
	app_send(&h.app, "abc", 3);
	p.ack += 3;
	peer_send(&p, 0, "x", 1);
	host_advance(&h, 2000 * MS);
	assert_true(timer_wheel_next(&h.wheel) == TIMER_NEVER);
	host_end(&h);
}

static void test_orphan_does_not_wait_for_ever(void **state)
{
	start(NULL);
	llp_release(h.app.llp);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	host_advance(&h, 59000 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_advance(&h, 2000 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_half_closed_waits_for_the_peer(void **state)
{
	start(NULL);
	llp_shutdown(h.app.llp);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 3600000 * MS);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	host_end(&h);
}

/** Ten minutes, in which the peer answers. */
static void wait_at_a_closed_window(void)
{
	start(NULL);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	for (int i = 0; i < 10; i++) {
		host_advance(&h, 60000 * MS);
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.closed, 0);
}

/** It answers, and toggles its window, but takes nothing. */
static void toggle_window(int i)
{
	p.wnd = i & 1;
	ip_double_drain(&h.ip);
	peer_send(&p, 0, NULL, 0);
}

static void test_orphan_is_not_held_by_a_closed_window(void **state)
{
	wait_at_a_closed_window();
	llp_release(h.app.llp);
	for (int i = 0; i < 20; i++) {
		toggle_window(i);
		assert_int_equal(tcp_stack_stats(h.tcp)->connections, i < 10);
		host_advance(&h, 10001 * MS);
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Nor is one whose last words wait for room: its user is told. */
static void test_last_words_do_not_wait_for_ever(void **state)
{
	wait_at_a_closed_window();
	llp_orphan(h.app.llp);
	llp_orphan(h.app.llp); /* of no effect */
	for (int i = 0; i < 20; i++) {
		toggle_window(i);
		assert_int_equal(h.app.closed, i >= 10);
		host_advance(&h, 10001 * MS);
	}
	assert_int_equal(h.app.error, -ETIMEDOUT);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** If the window opens, they go, and then it is a connection that was released. */
static void test_last_words_are_sent_when_they_can_be(void **state)
{
	struct heard a;

	start(NULL);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	llp_orphan(h.app.llp);
	p.wnd = 5000;
	peer_send(&p, 0, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.len, 3);
	app_send(&h.app, "de", 2);
	llp_release(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.len, 2);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_FIN);
	host_expect_none(&h);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_timeout_is_kept_by_keepalives),
		cmocka_unit_test(test_keepalive),
		cmocka_unit_test(test_idle_connection_needs_no_timer),
		cmocka_unit_test(test_orphan_does_not_wait_for_ever),
		cmocka_unit_test(test_half_closed_waits_for_the_peer),
		cmocka_unit_test(test_orphan_is_not_held_by_a_closed_window),
		cmocka_unit_test(test_last_words_do_not_wait_for_ever),
		cmocka_unit_test(test_last_words_are_sent_when_they_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
