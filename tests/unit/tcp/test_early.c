/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/early.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, options);
	c = tcp_conn_of(h.app.llp);
}

/* It is there while something is held, and goes when the gap is filled and all is told. */
static void test_comes_and_goes(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	assert_null(c->early);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	assert_non_null(c->early);
	assert_int_equal(c->early->ooo.n, 1);
	assert_int_equal(h.tcp->rx_held, 1);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "0123456789", 10);
	host_round(&h);
	assert_null(c->early);
	assert_int_equal(h.tcp->rx_held, 0);
	assert_int_equal(h.app.n_got, 11);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_clear_gives_the_packets_back(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	tcp_early_clear(c);
	assert_null(c->early);
	assert_int_equal(h.tcp->rx_held, 0);
	tcp_early_clear(c); /* harmless when repeated */
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* RFC 2883 section 4.2: the first run of repeated bytes is told; without SACK, none. */
static void test_the_first_duplicate_is_told(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	tcp_early_duplicate(c, (struct tcp_range){p.seq - 5, p.seq - 3});
	tcp_early_duplicate(c, (struct tcp_range){p.seq - 2, p.seq - 1});
	assert_int_equal(c->early->sack.dup.left, p.seq - 5);
	assert_int_equal(tcp_stack_stats(h.tcp)->duplicate, 2);
	tcp_early_done(c);
	assert_non_null(c->early); /* it has yet to be told */
	host_end(&h);
	start(TCP_HAS_MSS);
	tcp_early_duplicate(c, (struct tcp_range){p.seq - 5, p.seq - 3});
	assert_null(c->early);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_clear_gives_the_packets_back),
		cmocka_unit_test(test_the_first_duplicate_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
