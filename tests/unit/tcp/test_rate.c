/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

/** A connection of which only the clock, the queue's sums and the rate matter. */
static struct tcp_stack s;
static struct tcp_conn c;

static void start(void)
{
	memset(&s, 0, sizeof s);
	memset(&c, 0, sizeof c);
	c.s = &s;
	s.now = 1000 * MS;
	c.rate.delivered = 0xfffff000u; /* so that the counts come round */
}

static struct tcp_record send(uint32_t len)
{
	struct tcp_record r = {.len = len};

	tcp_rate_on_sent(&c, &r, tcp_flight(&c));
	r.sent_at = s.now;
	c.snd_nxt += len;
	return r;
}

static struct tcp_rate_sample deliver(const struct tcp_record *r)
{
	struct tcp_delivery d = {.delivered = r->len, .any = true, .newest = *r};
	struct tcp_rate_sample out;

	c.snd_una += r->len;
	tcp_rate_take(&c, &d, &out);
	return out;
}

/** One segment per ms, round trip 10 ms. */
static void test_a_steady_flow_shows_its_rate(void **state)
{
	struct tcp_record r[100];
	struct tcp_rate_sample a = {0};

	start();
	for (unsigned i = 0; i < 60; i++) {
		s.now += MS;
		if (i >= 10)
			a = deliver(&r[i - 10]);
		r[i] = send(1000);
	}
	assert_int_equal(tcp_rate_of(&a), 1000000);
	assert_int_equal(a.tx_in_flight, 10000);
	assert_int_equal(a.total_delivered - a.prior_delivered, a.delivered);
	assert_false(a.app_limited);
	assert_in_range(tcp_rate_last(&c.rate), 998000, 1002000);
}

/** All ACKs of a flight come at once: it was not delivered faster than it was sent. */
static void test_compressed_acks_do_not_deceive(void **state)
{
	struct tcp_record r[40];
	struct tcp_rate_sample a;

	start();
	for (unsigned i = 0; i < 10; i++, s.now += MS)
		r[i] = send(1000);
	s.now += 5 * MS;
	for (unsigned i = 0; i < 10; i++)
		a = deliver(&r[i]);
	for (unsigned i = 10; i < 20; i++, s.now += MS)
		r[i] = send(1000);
	s.now += 5 * MS;
	for (unsigned i = 10; i < 20; i++) {
		a = deliver(&r[i]);
		assert_true(tcp_rate_of(&a) <= 1000000);
	}
}

static void test_losses_since_the_sending_are_told(void **state)
{
	struct tcp_record r;
	struct tcp_rate_sample a;

	start();
	c.sendq.total_lost = 0xffffff00u;
	r = send(1000);
	c.sendq.total_lost += 3000;
	s.now += 10 * MS;
	a = deliver(&r);
	assert_int_equal(a.lost, 3000);
}

/** What undo takes back is no loss, and no huge one either. */
static void test_losses_taken_back(void **state)
{
	struct tcp_record r;

	start();
	c.sendq.total_lost = 5000;
	assert_int_equal(tcp_rate_newly_lost(&c), 5000);
	assert_int_equal(tcp_rate_newly_lost(&c), 0);
	r = send(1000);
	c.sendq.total_lost -= 2000;
	assert_int_equal(tcp_rate_newly_lost(&c), 0);
	s.now += 10 * MS;
	assert_int_equal(deliver(&r).lost, 0);
	c.sendq.total_lost += 1000;
	assert_int_equal(tcp_rate_newly_lost(&c), 1000);
}

/** What comes sooner than the path allows answers to something else. */
static void test_samples_shorter_than_a_round_trip_are_dropped(void **state)
{
	struct tcp_record r;

	start();
	tcp_min_rtt_sample(&c.rec.min_rtt, 10 * MS, 0);
	r = send(1000);
	s.now += 9 * MS;
	assert_int_equal(deliver(&r).interval, 0);
	r = send(1000);
	s.now += 10 * MS;
	assert_int_equal(deliver(&r).interval, 10 * MS);
}

static void test_app_limited_until_that_is_delivered(void **state)
{
	struct tcp_record r[4];
	struct tcp_rate_sample a;

	start();
	r[0] = send(1000);
	tcp_rate_app_limited(&c, tcp_flight(&c));
	s.now += MS;
	r[1] = send(1000);
	s.now += 10 * MS;
	a = deliver(&r[0]);
	assert_false(a.app_limited);
	r[2] = send(1000);
	a = deliver(&r[1]);
	assert_true(a.app_limited);
	assert_false(c.rate.app_limited);
	s.now += MS;
	a = deliver(&r[2]);
	assert_true(a.app_limited);
	r[3] = send(1000);
	s.now += MS;
	a = deliver(&r[3]);
	assert_false(a.app_limited);
}

static void test_no_delivery_no_sample(void **state)
{
	struct tcp_delivery d = {0};
	struct tcp_rate_sample a;

	start();
	send(1000);
	tcp_rate_take(&c, &d, &a);
	assert_int_equal(a.interval, 0);
	assert_int_equal(tcp_rate_of(&a), 0);
	assert_int_equal(tcp_rate_last(&c.rate), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_steady_flow_shows_its_rate),
		cmocka_unit_test(test_compressed_acks_do_not_deceive),
		cmocka_unit_test(test_losses_since_the_sending_are_told),
		cmocka_unit_test(test_losses_taken_back),
		cmocka_unit_test(test_samples_shorter_than_a_round_trip_are_dropped),
		cmocka_unit_test(test_app_limited_until_that_is_delivered),
		cmocka_unit_test(test_no_delivery_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
