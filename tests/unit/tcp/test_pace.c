/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#define LEN 1000
#define RTT (10 * MS)

static struct host h;
static struct peer p;
static struct tcp_conn *c;
static uint32_t first;

/** A connection with a measured round trip and a window far larger than what is sent. */
static void start(void)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED | TCP_HAS_WSCALE, NULL);
	c->rto.srtt = RTT;
	c->cc.cwnd = 100 * c->emss;
	c->cc.ssthresh = c->cc.cwnd; /* avoidance: 1.2 windows in a round trip */
	first = c->snd_nxt;
}

static void queue(unsigned n)
{
	while (n--)
		app_send_pattern(&h.app, 0, LEN);
}

static unsigned sent(void)
{
	unsigned n = ip_double_pending(&h.ip);

	ip_double_drain(&h.ip);
	return n;
}

static void ack(unsigned n)
{
	p.ack = first + n * LEN;
	peer_send(&p, 0, NULL, 0);
}

/** What takes this many bytes at the rate of avoidance, in ns. */
static uint64_t time_of(uint64_t bytes)
{
	return bytes * UINT64_C(1000000000) / tcp_cc_pacing_rate(&c->cc, 0, RTT);
}

static void test_an_initial_window_is_free(void **state)
{
	start();
	queue(60);
	/* Ten segments' worth, and the quantum. */
	assert_int_equal(sent(), (10 * c->emss + 2 * c->emss + LEN - 1) / LEN);
	host_end(&h);
}

/**
 * In recovery the window may be a few bytes for a moment, and a round trip that was measured over
 * an outage is many seconds. At such a rate one segment takes minutes, which no later rate makes
 * shorter.
 */
static void test_the_wait_has_a_bound(void **state)
{
	start();
	c->cc.cwnd = 40;
	for (unsigned i = 0; i < 5; i++)
		tcp_pace_sent(c, c->pace.quantum + LEN, 0);
	assert_true(c->pace.at == h.now + RTT);
	c->rto.srtt = 10000 * MS;
	c->pace.at = 0;
	for (unsigned i = 0; i < 5; i++)
		tcp_pace_sent(c, c->pace.quantum + LEN, 0);
	assert_true(c->pace.at == h.now + 1000 * MS);
	host_end(&h);
}

/** Nothing is won by waiting for parts of a few microseconds. */
static void test_a_short_path_is_not_paced(void **state)
{
	start();
	c->rec.min_rtt.young = 50 * (uint32_t)MS / 1000;
	queue(60);
	assert_int_equal(sent(), 60);
	host_end(&h);
}

static void test_quanta_leave_at_the_rate(void **state)
{
	uint64_t step;

	start();
	queue(60);
	sent();
	step = time_of(3 * LEN); /* the first multiple of records that fills two segments */
	assert_true(timer_wheel_next(&h.wheel) == c->pace.at);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t at = c->pace.at;

		host_advance(&h, at - h.now - 1);
		assert_int_equal(sent(), 0);
		host_advance(&h, 1);
		assert_int_equal(sent(), 3);
		assert_in_range(c->pace.at - at, step - 1, step + 1);
	}
	host_end(&h);
}

/** Whole segments at @p rate, bits per second. @return the most that left at one time. */
static unsigned burst_at(uint64_t rate)
{
	uint64_t window, bytes = 0, from;
	unsigned most = 0;

	start();
	window = tcp_cc_pacing_rate(&c->cc, 0, 1000 * MS); /* in a second */
	c->rto.srtt = window * 1000 * MS / (rate / 8);
	for (unsigned i = 0; i < 95; i++)
		app_send_pattern(&h.app, 0, c->emss);
	sent();
	from = c->pace.at;
	for (unsigned i = 0; i < 10; i++) {
		unsigned n;

		host_advance(&h, c->pace.at - h.now);
		n = sent();
		assert_true(n > 0);
		most = n > most ? n : most;
		bytes += (uint64_t)n * c->emss;
	}
	/* However they are cut, it is the rate; each burst's time is a whole number of ns. */
	assert_in_range((c->pace.at - from) * (rate / 8) / (1000 * MS), bytes - bytes / 100, bytes);
	host_end(&h);
	return most;
}

/** A port's queue, or a switch's, has room for that much. */
static void test_bursts_are_a_few_segments(void **state)
{
	assert_int_equal(burst_at(UINT64_C(1000000)), 1);
	assert_int_equal(burst_at(UINT64_C(100000000)), 2);
	assert_int_equal(burst_at(UINT64_C(1000000000)), 2);
	assert_in_range(burst_at(UINT64_C(10000000000)), 2, 8);
}

/** The engine ran late: what it missed goes out at once, a millisecond of it at most. */
static void test_lateness_is_made_up_for(void **state)
{
	uint64_t at;

	start();
	queue(90);
	sent();
	at = c->pace.at;
	h.now = at + time_of(9 * LEN) + 2;
	tcp_set_now(h.tcp, h.now);
	timer_wheel_run(&h.wheel, h.now);
	host_round(&h);
	assert_int_equal(sent(), 12);
	h.now += 3 * MS;
	tcp_set_now(h.tcp, h.now);
	timer_wheel_run(&h.wheel, h.now);
	host_round(&h);
	assert_in_range(sent(), MS / time_of(LEN), MS / time_of(LEN) + 6);
	host_end(&h);
}

/** What was later than that is made up for at twice the rate. */
static void test_long_lateness_is_made_up_for_by_and_by(void **state)
{
	uint64_t step, at, won = 0;

	start();
	queue(140);
	sent();
	step = time_of(3 * LEN);
	h.now = c->pace.at + 3 * MS;
	tcp_set_now(h.tcp, h.now);
	timer_wheel_run(&h.wheel, h.now);
	host_round(&h);
	assert_in_range(sent(), MS / time_of(LEN), MS / time_of(LEN) + 6);
	do {
		at = c->pace.at;
		host_advance(&h, at - h.now);
		assert_int_equal(sent(), 3);
		assert_true(c->pace.at - at >= step / 2);
		won += step - (c->pace.at - at);
	} while (c->pace.owed);
	assert_in_range(won, 2 * MS - 2 * step, 2 * MS);
	host_end(&h);
}

/** No more than a round trip of it. */
static void test_what_is_owed_has_a_bound(void **state)
{
	start();
	queue(90);
	sent();
	h.now = c->pace.at + 50 * RTT;
	tcp_set_now(h.tcp, h.now);
	tcp_conn_mark_dirty(c);
	host_round(&h);
	assert_in_range(c->pace.owed, RTT - time_of(3 * LEN), RTT);
	host_end(&h);
}

/** A clock that has just begun is no reason to wait for ever. */
static void test_lateness_at_the_beginning_of_time(void **state)
{
	start();
	queue(90);
	sent();
	h.tcp->now = 5000; /* earlier than any lateness that counts */
	c->pace.at = 4000;
	h.now = h.tcp->now;
	host_round(&h);
	tcp_conn_mark_dirty(c);
	host_round(&h);
	assert_true(sent() > 0);
	assert_true(c->pace.at < MS);
	host_end(&h);
}

/** Time in which nothing waited is not saved up. */
static void test_idleness_is_not(void **state)
{
	start();
	queue(17);
	assert_int_equal(sent(), 17);
	host_advance(&h, MS);
	queue(20);
	assert_in_range(sent(), 1, 4);
	host_end(&h);
}

/** After a pause of a round trip and more, ten segments go out at once again. */
static void test_a_pause_frees_a_few(void **state)
{
	start();
	queue(12);
	sent();
	host_advance(&h, RTT);
	ack(12);
	assert_int_equal(tcp_flight(c), 0);
	host_advance(&h, 2 * RTT);
	queue(60);
	assert_in_range(sent(), 15, 20);
	host_end(&h);
}

static void test_nothing_in_flight_never_waits(void **state)
{
	start();
	queue(1);
	sent();
	c->pace.at = h.now + 1000 * MS;
	queue(1);
	assert_int_equal(sent(), 0);
	ack(1);
	assert_int_equal(sent(), 1);
	host_end(&h);
}

/** Without a round trip there is no rate. */
static void test_unpaced_without_a_sample(void **state)
{
	start();
	c->rto.srtt = 0;
	queue(60);
	assert_int_equal(sent(), 60);
	host_end(&h);
}

/** Where a configuration wants none, the window is all that counts, on a long path too. */
static void test_pacing_may_be_off(void **state)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED | TCP_HAS_WSCALE,
		&(struct tcp_stack_config){.no_pacing = true});
	c->rto.srtt = RTT;
	c->cc.cwnd = 100 * c->emss;
	c->cc.ssthresh = c->cc.cwnd;
	queue(60);
	assert_int_equal(sent(), 60);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_initial_window_is_free),
		cmocka_unit_test(test_the_wait_has_a_bound),
		cmocka_unit_test(test_a_short_path_is_not_paced),
		cmocka_unit_test(test_quanta_leave_at_the_rate),
		cmocka_unit_test(test_bursts_are_a_few_segments),
		cmocka_unit_test(test_lateness_is_made_up_for),
		cmocka_unit_test(test_long_lateness_is_made_up_for_by_and_by),
		cmocka_unit_test(test_what_is_owed_has_a_bound),
		cmocka_unit_test(test_lateness_at_the_beginning_of_time),
		cmocka_unit_test(test_idleness_is_not),
		cmocka_unit_test(test_a_pause_frees_a_few),
		cmocka_unit_test(test_nothing_in_flight_never_waits),
		cmocka_unit_test(test_unpaced_without_a_sample),
		cmocka_unit_test(test_pacing_may_be_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
