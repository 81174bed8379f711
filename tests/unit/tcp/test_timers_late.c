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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standing_still_is_not_the_peers_silence),
		cmocka_unit_test(test_what_came_while_we_stood_still_is_heard_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
