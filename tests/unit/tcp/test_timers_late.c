/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers that fire late: nobody drove the stack meanwhile. */
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

/** Nobody drives the stack for a day, as on a virtual machine that is suspended. */
static void stand_still(void)
{
	h.now += UINT64_C(86400) * 1000 * MS;
	host_advance(&h, 0);
}

static void test_standing_still_is_not_the_peers_silence(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 20000, .keepalive_ms = 1000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	host_advance(&h, 900 * MS);
	for (int i = 0; i < 3; i++)
		stand_still();
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 40000 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);

	start(&cfg); /* a keep-alive is on its way */
	assert_int_equal(host_sent_within(&h, 1100 * MS), 1);
	for (int i = 0; i < 3; i++)
		stand_still();
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_what_came_while_we_stood_still_is_heard_first(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 20000, .keepalive_ms = 1000};

	start(&cfg);
	h.now += 50000 * MS;
	tcp_set_now(h.tcp, h.now);
	peer_send(&p, 0, "x", 1);
	assert_int_equal(host_sent_within(&h, 900 * MS), 1); /* its ACK, and no keep-alive */
	assert_int_equal(host_sent_within(&h, 200 * MS), 1);
	host_end(&h);
}

/** A stall is as old as the time in which we could have been told of its end. */
static void test_standing_still_is_no_stall(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	for (int i = 0; i < 3; i++) {
		host_advance(&h, 500 * MS);
		stand_still();
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 5000 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* ---- the last question -------------------------------------------------------------------------
 */

/** Nobody drives the stack for a moment, too short for it to have stood still. */
static void be_late(uint64_t ns)
{
	h.now += ns;
	assert_int_equal(host_sent_within(&h, 0), 1);
	assert_int_equal(h.app.closed, 0);
}

/** It has as long for its answer as if it had been asked in time. */
static void check_peer_may_answer(uint64_t ns, bool answers)
{
	host_advance(&h, ns - MS);
	assert_int_equal(h.app.closed, 0);
	if (answers)
		peer_send(&p, 0, NULL, 0);
	host_advance(&h, 2 * MS);
	assert_int_equal(h.app.closed, !answers);
	if (!answers)
		assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

static void test_text_is_sent_once_more(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	for (unsigned answers = 0; answers < 2; answers++)
		for (uint64_t ms = 10; ms < 500; ms += 70) {
			start(&cfg);
			app_send(&h.app, "abc", 3);
			(void)host_sent_within(&h, 29700 * MS); /* the last is due 100 ms later */
			be_late((100 + ms) * MS);
			p.ack += 3;
			check_peer_may_answer(200 * MS, answers);
		}
}

static void test_window_is_asked_for_once_more(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	for (unsigned answers = 0; answers < 2; answers++) {
		start(&cfg);
		p.wnd = 0;
		peer_send(&p, 0, NULL, 0);
		app_send(&h.app, "abc", 3);
		(void)host_sent_within(&h, 29900 * MS); /* asked first at 0.2 s */
		be_late(500 * MS);
		check_peer_may_answer(200 * MS, answers);
	}
}

static void test_syn_is_sent_once_more(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	(void)host_sent_within(&h, 29700 * MS);
	be_late(500 * MS);
	check_peer_may_answer(200 * MS, false);
}

static void test_idle_peer_is_asked_once_more(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 10000, .user_timeout_ms = 1200};

	for (unsigned answers = 0; answers < 2; answers++) {
		start(&cfg);
		assert_int_equal(host_sent_within(&h, 10700 * MS), 2);
		be_late(550 * MS); /* it was due 100 ms later, and the end 500 ms */
		check_peer_may_answer(400 * MS, answers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standing_still_is_not_the_peers_silence),
		cmocka_unit_test(test_what_came_while_we_stood_still_is_heard_first),
		cmocka_unit_test(test_standing_still_is_no_stall),
		cmocka_unit_test(test_text_is_sent_once_more),
		cmocka_unit_test(test_window_is_asked_for_once_more),
		cmocka_unit_test(test_syn_is_sent_once_more),
		cmocka_unit_test(test_idle_peer_is_asked_once_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
