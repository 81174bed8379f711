/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that was received before: what it does, and which sender is believed. */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(void)
{
	c = host_accepted(&h, &p, TCP_HAS_SACK_PERMITTED | TCP_HAS_TS, NULL);
}

/** Text of @p len bytes, @p back before what is next, in the present round. */
static void repeat(uint32_t back, uint32_t len, uint32_t ack, int32_t age)
{
	const struct tcp_segment s = {.seq = p.seq - back,
		.ack = ack,
		.flags = TCP_ACK,
		.wnd = 65535,
		.has = TCP_HAS_TS,
		.tsval = c->ts_recent - (uint32_t)age,
		.len = len};

	host_hear(&h, p.lport, &s, "abcdefghij");
}

/** The first block of the ACK that ends the round. */
static struct tcp_range reported(void)
{
	struct heard a;

	host_round(&h);
	host_expect(&h, &a);
	host_expect_none(&h);
	return a.h.n_sack ? a.h.sack[0] : (struct tcp_range){0, 0};
}

/** A sender that guesses sequence numbers does not choose what a D-SACK tells; one that knows them
 * may. */
static void test_repeated_text_is_told_of_the_peer_alone(void **state)
{
	struct tcp_range r;

	start();
	peer_send(&p, 0, "abcdefghij", 10);
	ip_double_drain(&h.ip);
	repeat(10, 2, p.ack + 1, 0);
	repeat(8, 2, p.ack - c->max_snd_wnd - 1, 0);
	repeat(8, 2, p.ack + 1, 5); /* PAWS */
	repeat(5, 3, p.ack, 0);
	r = reported();
	assert_int_equal(r.left, p.seq - 5);
	assert_int_equal(r.right, p.seq - 2);
	repeat(10, 2, p.ack + 1, 0);
	assert_int_equal(reported().right, 0);
	repeat(10, 4, p.ack, 5); /* PAWS answers by an ACK as any, says RFC 7323 section 5.3 */
	assert_int_equal(reported().left, p.seq - 10);
	assert_null(c->ooo_state);
	host_end(&h);
}

/** Our ACKs seem to be lost: the next hop is asked about, if it is the peer that says so. */
static void test_repeated_text_raises_doubts(void **state)
{
	start();
	peer_send(&p, 0, "abcdefghij", 10);
	ip_double_drain(&h.ip);
	repeat(10, 2, p.ack + 1, 0);
	repeat(10, 2, p.ack - c->max_snd_wnd - 1, 0);
	repeat(10, 2, p.ack, 5); /* an old packet proves nothing */
	host_round(&h);
	assert_int_equal(h.ip.doubts, 0);
	repeat(10, 2, p.ack, 0);
	host_round(&h);
	assert_int_equal(h.ip.doubts, 1);
	app_send(&h.app, "abc", 3); /* now there is a timer */
	repeat(10, 2, p.ack, 0);
	host_round(&h);
	assert_int_equal(h.ip.doubts, 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeated_text_is_told_of_the_peer_alone),
		cmocka_unit_test(test_repeated_text_raises_doubts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
