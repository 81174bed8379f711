/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers of a connection whose peer has closed its window. */
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static void test_closed_window_is_probed_for_ever(void **state)
{
	start(NULL);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	for (int i = 0; i < 60; i++) {
		host_advance(&h, 60000 * MS);
		assert_true(ip_double_pending(&h.ip) > 0);
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 250000 * MS); /* no answer any more */
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/** The peer answers all the time with a closed window. @return when it was left, in ms. */
static unsigned left_after(unsigned most)
{
	unsigned ms = 0;

	while (!h.app.closed && ms < most) {
		host_advance(&h, 100 * MS);
		ms += 100;
		if (h.app.closed)
			break;
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
	}
	return ms;
}

static void close_window(void)
{
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	ip_double_drain(&h.ip);
}

/* However rare the probes are by then: each was answered. */
static void test_answered_probes_do_not_time_out(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	for (unsigned in_flight = 0; in_flight < 2; in_flight++) {
		start(&cfg);
		if (in_flight)
			app_send(&h.app, "abc", 3);
		close_window();
		if (!in_flight)
			app_send(&h.app, "abc", 3);
		assert_int_equal(left_after(600000), 600000);
		assert_true(c->rto.backoff > 4);
		/* No answer any more: some are asked for, as one may be lost. */
		assert_in_range(host_sent_within(&h, 29000 * MS), 2, 4);
		host_advance(&h, 11000 * MS);
		assert_int_equal(h.app.error, -ETIMEDOUT);
		host_end(&h);
	}
}

static void test_closed_window_is_left_when_told(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	assert_in_range(left_after(20000), 5000, 5200);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	assert_int_equal(tcp_stack_stats(h.tcp)->zero_window_timeouts, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_out, 1);
	host_end(&h);
}

/* That window was open when the text went out. */
static void test_window_taken_back_is_left_when_told(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	assert_in_range(left_after(20000), 5000, 5200); /* not when a retransmission is due */
	assert_int_equal(tcp_stack_stats(h.tcp)->zero_window_timeouts, 1);
	host_end(&h);
}

/** The window opens: what was in flight when it was closed goes at once. */
static void open_window(void)
{
	struct heard a;

	p.wnd = 1000;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack);
	assert_int_equal(a.len, 3);
	host_expect_none(&h);
}

static void test_window_opens_before_it_is_left(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	close_window();
	assert_int_equal(left_after(4900), 4900);
	open_window();
	assert_in_range(
		host_sent_within(&h, 3000 * MS), 3, 4); /* 0.2, 0.6, 1.4 s; nobody takes it */
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

/* What was not taken while the window was closed has the time-out from then on. */
static void test_window_opens_after_the_user_timeout(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	close_window();
	assert_int_equal(left_after(90000), 90000);
	open_window();
	host_advance(&h, 29900 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 100 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* It opens for less than the text, which has no more chance than before. */
static void test_window_opens_too_little(void **state)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 30000};

	start(&cfg);
	app_send(&h.app, "abc", 3);
	close_window();
	assert_int_equal(left_after(90000), 90000);
	p.wnd = 2;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(host_sent_within(&h, MS), 0);
	assert_int_equal(left_after(60000), 60000);
	open_window();
	host_end(&h);
}

/* A window that is closed and opened before anything is late changes nothing. */
static void test_window_closes_for_a_moment(void **state)
{
	start(NULL);
	app_send(&h.app, "abc", 3);
	close_window();
	p.wnd = 1000;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(host_sent_within(&h, 190 * MS), 0);
	assert_int_equal(host_sent_within(&h, 20 * MS), 1);
	assert_int_equal(c->timeouts, 1);
	host_end(&h);
}

/* Closed and open in turns over text in flight, none of which is taken: as a stall, and no longer.
 */
static void test_window_flaps_over_what_is_in_flight(void **state)
{
	const struct tcp_stack_config cfg = {
		.zero_window_timeout_ms = 40000, .user_timeout_ms = 30000};
	unsigned s = 0;

	start(&cfg);
	app_send(&h.app, "abc", 3);
	for (; s < 200 && !h.app.closed; s++) {
		p.wnd = s % 10 ? 1000 : 0;
		peer_send(&p, 0, NULL, 0);
		host_advance(&h, 1000 * MS);
	}
	assert_in_range(s, 40, 71);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* A window that opens for less than a record, or is told open and shut again, takes nothing. */
static void test_flapping_window_is_left_when_told(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send(&h.app, "abc", 3);
	for (unsigned i = 0; i < 100 && !h.app.closed; i++) {
		host_advance(&h, 1000 * MS);
		p.wnd = i & 1;
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->zero_window_timeouts, 1);
	host_end(&h);
}

static void test_window_that_lets_text_through_is_not_closed(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};

	start(&cfg);
	for (unsigned i = 0; i < 8; i++) {
		p.wnd = 0;
		peer_send(&p, 0, NULL, 0);
		app_send(&h.app, "abc", 3);
		assert_int_equal(left_after(4000), 4000);
		p.wnd = 1000;
		peer_send(&p, 0, NULL, 0);
		p.ack += 3;
		peer_send(&p, 0, NULL, 0);
	}
	host_end(&h);
}

/** The window opens just when it is time to send again: that is not put off. */
static void test_window_opens_when_the_timer_is_due(void **state)
{
	struct heard a;

	start(NULL);
	app_send(&h.app, "abc", 3);
	host_expect(&h, &a);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	h.now = tcp_conn_of(h.app.llp)->rtx_at + MS;
	tcp_set_now(h.tcp, h.now);
	p.wnd = 65535;
	peer_send(&p, 0, NULL, 0);
	host_expect_none(&h);
	host_advance(&h, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack);
	assert_int_equal(a.len, 3);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	host_end(&h);
}

static void test_window_closed_over_what_is_in_flight(void **state)
{
	start(NULL);
	app_send(&h.app, "abc", 3);
	p.wnd = 0;
	for (int i = 0; i < 10; i++) {
		host_advance(&h, 60000 * MS);
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_window_is_probed_for_ever),
		cmocka_unit_test(test_answered_probes_do_not_time_out),
		cmocka_unit_test(test_closed_window_is_left_when_told),
		cmocka_unit_test(test_window_taken_back_is_left_when_told),
		cmocka_unit_test(test_window_opens_before_it_is_left),
		cmocka_unit_test(test_window_opens_after_the_user_timeout),
		cmocka_unit_test(test_window_opens_too_little),
		cmocka_unit_test(test_window_closes_for_a_moment),
		cmocka_unit_test(test_window_flaps_over_what_is_in_flight),
		cmocka_unit_test(test_flapping_window_is_left_when_told),
		cmocka_unit_test(test_window_that_lets_text_through_is_not_closed),
		cmocka_unit_test(test_window_closed_over_what_is_in_flight),
		cmocka_unit_test(test_window_opens_when_the_timer_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
