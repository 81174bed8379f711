/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/control.h"

#include <rte_mbuf.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

/* Each at its number, with an acknowledgment of what has come (RFC 9293 section 3.10.4). */
static void test_numbers(void **state)
{
	static const struct {
		void (*send)(struct tcp_conn *c);
		uint8_t flags;
		int32_t before_nxt;
	} kind[] = {{tcp_send_ack, TCP_ACK, 0}, {tcp_send_keepalive, TCP_ACK, 1},
		{tcp_send_rst, TCP_RST | TCP_ACK, 0}};
	struct heard a;

	start(TCP_HAS_MSS | TCP_HAS_TS);
	app_send_pattern(&h.app, 0, 10);
	ip_double_drain(&h.ip);
	for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
		kind[i].send(c);
		host_expect(&h, &a);
		assert_int_equal(a.h.flags, kind[i].flags);
		assert_int_equal(a.h.seq, c->snd_nxt - (uint32_t)kind[i].before_nxt);
		assert_int_equal(a.h.ack, p.seq);
		assert_int_equal(a.h.has, TCP_HAS_TS);
		assert_int_equal(a.len, 0);
	}
	host_end(&h);
}

/* RFC 5961 section 7; the period over, there is a new allowance. */
static void test_challenges_of_a_connection_are_limited(void **state)
{
	start(TCP_HAS_MSS);
	for (unsigned round = 1; round <= 2; round++) {
		for (unsigned i = 0; i < 30; i++)
			tcp_challenge_ack(c);
		assert_int_equal(ip_double_pending(&h.ip), 10);
		assert_int_equal(tcp_stack_stats(h.tcp)->challenge_acks_limited, 20 * round);
		ip_double_drain(&h.ip);
		host_advance(&h, 5000 * MS);
	}
	host_end(&h);
}

/* An ACK that finds no packet is owed, not lost. */
static void test_ack_waits_for_a_packet(void **state)
{
	static struct rte_mbuf *all[4096];
	struct heard a;
	unsigned n = 0;

	start(TCP_HAS_MSS);
	while ((all[n] = rte_pktmbuf_alloc(h.pool)))
		n++;
	tcp_send_ack(c);
	host_expect_none(&h);
	assert_true(c->ack_now);
	rte_pktmbuf_free_bulk(all, n);
	host_advance(&h, 2 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq);
	assert_false(c->ack_now);
	host_end(&h);
}

/* RFC 9293 section 3.10.7.1: where a stranger's segment says that it is. */
static void test_reset_for_a_stranger(void **state)
{
	const struct ip_rx rx = {.src = addr(REMOTE), .dst = addr(LOCAL)};
	struct tcp_segment seg = {.flags = TCP_ACK, .seq = 100, .ack = 7000, .len = 5};
	struct heard a;

	start(0);
	tcp_reply_rst(h.tcp, &rx, &seg);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(a.h.seq, 7000);
	seg.flags = TCP_SYN | TCP_FIN;
	tcp_reply_rst(h.tcp, &rx, &seg);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(a.h.seq, 0);
	assert_int_equal(a.h.ack, 107);
	seg.flags = TCP_RST;
	tcp_reply_rst(h.tcp, &rx, &seg);
	host_expect_none(&h);
	host_end(&h);
}

static void test_reset_to_a_multicast_source_is_not_sent(void **state)
{
	const struct tcp_segment seg = {.flags = TCP_ACK};
	const struct ip_rx rx = {.src = addr("224.0.0.1"), .dst = addr(LOCAL)};

	start(0);
	tcp_reply_rst(h.tcp, &rx, &seg);
	host_expect_none(&h);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_challenges_of_a_connection_are_limited),
		cmocka_unit_test(test_ack_waits_for_a_packet),
		cmocka_unit_test(test_reset_for_a_stranger),
		cmocka_unit_test(test_reset_to_a_multicast_source_is_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
