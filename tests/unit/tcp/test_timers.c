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

static unsigned sent_within(uint64_t ns)
{
	unsigned n;

	host_advance(&h, ns);
	n = ip_double_pending(&h.ip);
	ip_double_drain(&h.ip);
	return n;
}

static void test_syn_is_repeated_then_given_up(void **state)
{
	const struct tcp_stack_config cfg = {.syn_retries = 3};

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	assert_int_equal(sent_within(999 * MS), 1);
	assert_int_equal(sent_within(2 * MS), 1); /* at 1 s */
	assert_int_equal(sent_within(1990 * MS), 0);
	assert_int_equal(sent_within(20 * MS), 1);   /* at 3 s */
	assert_int_equal(sent_within(4000 * MS), 1); /* at 7 s */
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(sent_within(8000 * MS), 0);
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

static void test_half_open_ends(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	assert_int_equal(sent_within(30000 * MS), 5);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 1);
	assert_int_equal(sent_within(200000 * MS), 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

static void test_retransmissions_back_off_and_end(void **state)
{
	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	assert_int_equal(sent_within(210 * MS), 1);
	assert_int_equal(sent_within(380 * MS), 0);
	assert_int_equal(sent_within(30 * MS), 1);
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
	assert_int_equal(sent_within(26000 * MS), 8); /* at 0; 0.2, 0.6, ..., 25.4 s */
	assert_int_equal(sent_within(3700 * MS), 0);
	assert_int_equal(sent_within(200 * MS), 1);
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
	assert_true(sent_within(30190 * MS) > 5); /* asked first at 0.2 s */
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);

	host_init(&h, LOCAL, &cfg); /* a SYN */
	host_connect(&h);
	assert_int_equal(sent_within(29790 * MS), 5); /* 0, 1, 3, 7, 15 s */
	assert_int_equal(sent_within(200 * MS), 1);
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
	assert_int_equal(sent_within(890 * MS), 0);
	assert_int_equal(sent_within(20 * MS), 1);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 980 * MS);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 20 * MS);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	host_end(&h);
}

/* However long a peer may be idle. */
static void test_user_timeout_is_kept_by_keepalives(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 60000, .user_timeout_ms = 30000};

	start(&cfg);
	assert_int_equal(sent_within(60001 * MS), 1);
	assert_int_equal(sent_within(29989 * MS), 2);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 11 * MS);
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
	assert_int_equal(sent_within(1100 * MS), 1);
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
	assert_int_equal(sent_within(900 * MS), 1); /* its ACK, and no keep-alive */
	assert_int_equal(sent_within(200 * MS), 1);
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
		assert_in_range(sent_within(29000 * MS), 2, 4);
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
	assert_in_range(sent_within(3000 * MS), 3, 4); /* 0.2, 0.6, 1.4 s; nobody takes it */
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
	assert_int_equal(sent_within(MS), 0);
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
	assert_int_equal(sent_within(190 * MS), 0);
	assert_int_equal(sent_within(20 * MS), 1);
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
	assert_int_equal(sent_within(89000 * MS), 9);
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

static void test_orphan_is_not_held_by_a_closed_window(void **state)
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
	llp_release(h.app.llp);
	for (int i = 0; i < 20; i++) { /* it answers, and toggles its window, but takes nothing */
		p.wnd = i & 1;
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
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
	llp_orphan(h.app.llp);
	llp_orphan(h.app.llp); /* of no effect */
	for (int i = 0; i < 20; i++) {
		p.wnd = i & 1;
		ip_double_drain(&h.ip);
		peer_send(&p, 0, NULL, 0);
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
		cmocka_unit_test(test_syn_is_repeated_then_given_up),
		cmocka_unit_test(test_dead_next_hop_is_known_soon),
		cmocka_unit_test(test_half_open_ends),
		cmocka_unit_test(test_retransmissions_back_off_and_end),
		cmocka_unit_test(test_no_progress_is_told),
		cmocka_unit_test(test_timeouts_do_not_grow_on_the_link),
		cmocka_unit_test(test_last_retransmission_is_in_time),
		cmocka_unit_test(test_user_timeout_is_kept),
		cmocka_unit_test(test_user_timeout_begins_with_the_first_probe),
		cmocka_unit_test(test_user_timeout_is_kept_by_keepalives),
		cmocka_unit_test(test_user_timeout_is_configured),
		cmocka_unit_test(test_standing_still_is_not_the_peers_silence),
		cmocka_unit_test(test_what_came_while_we_stood_still_is_heard_first),
		cmocka_unit_test(test_soft_error_is_reported_at_the_end),
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
		cmocka_unit_test(test_keepalive),
		cmocka_unit_test(test_idle_connection_needs_no_timer),
		cmocka_unit_test(test_orphan_does_not_wait_for_ever),
		cmocka_unit_test(test_half_closed_waits_for_the_peer),
		cmocka_unit_test(test_steady_traffic_leaves_the_wheel_alone),
		cmocka_unit_test(test_orphan_is_not_held_by_a_closed_window),
		cmocka_unit_test(test_last_words_do_not_wait_for_ever),
		cmocka_unit_test(test_last_words_are_sent_when_they_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
