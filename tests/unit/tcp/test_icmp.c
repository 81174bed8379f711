/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void hear(int kind, uint16_t lport, uint32_t seq, uint16_t mtu, size_t quoted)
{
	uint8_t l4[20] = {0};
	struct ip_error e = {
		.src = addr(LOCAL), .dst = addr(REMOTE), .mtu = mtu, .l4 = l4, .l4_len = quoted};

	e.kind = kind;
	store_be16(l4, lport);
	store_be16(l4 + 2, RPORT);
	store_be32(l4 + 4, seq);
	h.ip.transport.error(h.ip.transport.ctx, &e, h.now);
}

static void start(void)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
}

static void test_refused_while_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	c = tcp_conn_of(host_connect(&h));
	hear(IP_ERROR_PORT, c->id.lport, c->snd_una + 1, 0, 8); /* not what we sent */
	hear(IP_ERROR_PORT, c->id.lport, c->snd_una, 0, 7);     /* too little of it */
	hear(IP_ERROR_PORT, (uint16_t)(c->id.lport + 1), c->snd_una, 0, 8);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 3);
	hear(IP_ERROR_PORT, c->id.lport, c->snd_una, 0, 8);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNREFUSED);
	host_end(&h);
}

/* A SYN is never too big, whatever waits behind it. */
static void test_too_big_while_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	c = tcp_conn_of(host_connect(&h));
	app_send_pattern(&h.app, 0, 1000);
	hear(IP_ERROR_MTU, c->id.lport, c->snd_una, 600, 8);
	assert_int_equal(c->mtu, 1500);
	assert_null(c->pmtu);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* RFC 9293 section 3.9.2.2: no such protocol is as hard an error as no such port. */
static void test_no_tcp_there(void **state)
{
	host_init(&h, LOCAL, NULL);
	c = tcp_conn_of(host_connect(&h));
	hear(IP_ERROR_PROTO, c->id.lport, c->snd_una, 0, 8);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNREFUSED);
	host_end(&h);
}

/* A handshake ends for an error about its SYN,ACK that says that nobody is there; for no other. */
static void test_half_open_to_nobody(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	hear(IP_ERROR_HOST, PORT + 1, a.h.seq, 0, 8);
	hear(IP_ERROR_HOST, PORT, a.h.seq + 1, 0, 8);
	hear(IP_ERROR_MTU, PORT, a.h.seq, 600, 8);
	hear(IP_ERROR_TIME, PORT, a.h.seq, 0, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 4);
	hear(IP_ERROR_HOST, PORT, a.h.seq, 0, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 4);
	host_end(&h);
}

static void test_soft_error_waits_for_the_timeout(void **state)
{
	host_init(&h, LOCAL, NULL);
	c = tcp_conn_of(host_connect(&h));
	hear(IP_ERROR_HOST, c->id.lport, c->snd_una, 0, 8);
	assert_int_equal(h.app.closed, 0);
	host_advance(&h, 200000 * MS);
	assert_int_equal(h.app.error, -EHOSTUNREACH);
	host_end(&h);
}

static void test_synchronized_connection_survives(void **state)
{
	static const int kinds[] = {IP_ERROR_NET, IP_ERROR_HOST, IP_ERROR_PROTO, IP_ERROR_PORT,
		IP_ERROR_ADMIN, IP_ERROR_TIME};

	start();
	app_send(&h.app, "abc", 3);
	for (size_t i = 0; i < 6; i++)
		hear(kinds[i], PORT, c->snd_una, 0, 8);
	assert_int_equal(h.app.closed, 0);
	p.ack += 3;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->soft_error, 0);
	host_end(&h);
}

static void test_too_big_cuts_what_is_in_flight(void **state)
{
	struct heard a;
	uint32_t cwnd;

	start();
	app_send_pattern(&h.app, 0, 1460);
	app_send_pattern(&h.app, 0, 100);
	ip_double_drain(&h.ip);
	cwnd = c->cc.cwnd;
	hear(IP_ERROR_MTU, PORT, c->snd_una, 1040, 8);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack);
	assert_int_equal(a.len, 1000);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, p.ack + 1000);
	assert_int_equal(a.len, 460);
	host_expect_none(&h); /* the small one got through */
	assert_int_equal(llp_emss(h.app.llp), 1000);
	assert_int_equal(c->cc.cwnd, cwnd);
	host_end(&h);
}

static void test_too_big_must_make_sense(void **state)
{
	start();
	app_send_pattern(&h.app, 0, 1460);
	hear(IP_ERROR_MTU, PORT, c->snd_una, 1500, 8);
	hear(IP_ERROR_MTU, PORT, c->snd_una, 9000, 8);
	hear(IP_ERROR_MTU, PORT, c->snd_una - 1, 1000, 8);
	hear(IP_ERROR_MTU, PORT, c->snd_nxt, 1000, 8);
	assert_int_equal(llp_emss(h.app.llp), 1460);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 4);
	hear(IP_ERROR_MTU, PORT, c->snd_una, 68, 8); /* raised to the least */
	assert_int_equal(llp_emss(h.app.llp), 536);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_tcp_there),
		cmocka_unit_test(test_half_open_to_nobody),
		cmocka_unit_test(test_refused_while_connecting),
		cmocka_unit_test(test_too_big_while_connecting),
		cmocka_unit_test(test_soft_error_waits_for_the_timeout),
		cmocka_unit_test(test_synchronized_connection_survives),
		cmocka_unit_test(test_too_big_cuts_what_is_in_flight),
		cmocka_unit_test(test_too_big_must_make_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
