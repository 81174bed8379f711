/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/segment.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

/* What is told is never less than was told before, and is counted in the scale's units. */
static void test_window_is_told_in_units(void **state)
{
	struct tcp_segment s;

	start(TCP_HAS_MSS | TCP_HAS_WSCALE);
	tcp_segment_begin(c, &s, c->snd_nxt, TCP_ACK);
	assert_true(c->rcv_wscale > 0);
	assert_int_equal(c->rcv_adv, c->rcv_nxt + ((uint32_t)s.wnd << c->rcv_wscale));
	for (unsigned i = 1; i <= 3; i++) {
		uint32_t edge = c->rcv_adv;

		c->rcv_nxt++; /* one byte more has come, and nobody has taken it */
		c->recvq.bytes++;
		tcp_segment_begin(c, &s, c->snd_nxt, TCP_ACK);
		assert_true(seq_geq(c->rcv_adv, edge));
	}
	c->rcv_nxt -= 3;
	c->recvq.bytes -= 3;
	host_end(&h);
}

/* RFC 3168 section 6.1.3: on everything but a reset, until the peer has heard of it. */
static void test_congestion_is_echoed(void **state)
{
	struct tcp_segment s;

	start(TCP_HAS_MSS);
	c->ecn.echo = true;
	tcp_segment_begin(c, &s, c->snd_nxt, TCP_ACK);
	assert_int_equal(s.flags, TCP_ACK | TCP_ECE);
	tcp_segment_begin(c, &s, c->snd_nxt, TCP_RST | TCP_ACK);
	assert_int_equal(s.flags, TCP_RST | TCP_ACK);
	host_end(&h);
}

/* One ACK pays for all that was owed. */
static void test_acknowledged(void **state)
{
	start(TCP_HAS_MSS);
	c->ack_now = true;
	c->delack_at = h.now;
	c->last_ack_sent = c->rcv_nxt - 5000;
	tcp_segment_acknowledged(c);
	assert_false(c->ack_now);
	assert_true(c->delack_at == TIMER_NEVER);
	assert_int_equal(c->last_ack_sent, c->rcv_nxt);
	host_end(&h);
}

static void test_sack_on_text_where_it_fits(void **state)
{
	struct heard a;

	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	ip_double_drain(&h.ip);
	app_send_pattern(&h.app, 0, 1000);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 1);
	app_send_pattern(&h.app, 0, 1460);
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 0);
	assert_int_equal(a.len, 1460);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_is_told_in_units),
		cmocka_unit_test(test_congestion_is_echoed),
		cmocka_unit_test(test_acknowledged),
		cmocka_unit_test(test_sack_on_text_where_it_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
