/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/listen.h"

#include <errno.h>

static struct host h;

static const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};

static void test_syn_to_nobody_is_reset(void **state)
{
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(a.h.seq, 0);
	assert_int_equal(a.h.ack, 1001);
	assert_int_equal(tcp_stack_stats(h.tcp)->no_connection, 1);
	host_end(&h);
}

static void test_segments_to_nobody(void **state)
{
	const struct tcp_segment data = {.seq = 7, .ack = 99, .flags = TCP_ACK, .len = 3};
	const struct tcp_segment fin = {.seq = 7, .flags = TCP_FIN, .len = 3};
	const struct tcp_segment rst = {.seq = 7, .ack = 99, .flags = TCP_RST | TCP_ACK};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_hear(&h, PORT, &data, "abc");
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(a.h.seq, 99);
	host_hear(&h, PORT, &fin, "abc");
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(a.h.ack, 11);
	host_hear(&h, PORT, &rst, NULL);
	host_expect_none(&h);
	host_end(&h);
}

static void test_listen_state(void **state)
{
	const struct tcp_segment rst = {.seq = 7, .flags = TCP_RST};
	const struct tcp_segment ack = {.seq = 7, .ack = 99, .flags = TCP_ACK};
	const struct tcp_segment syn_ack = {.seq = 7, .ack = 98, .flags = TCP_SYN | TCP_ACK};
	const struct tcp_segment text = {.seq = 7, .len = 1};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &rst, NULL);
	host_hear(&h, PORT, &text, "x");
	host_expect_none(&h);
	host_hear(&h, PORT, &ack, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(a.h.seq, 99);
	host_hear(&h, PORT, &syn_ack, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.seq, 98);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_ignored, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->no_connection, 3);
	host_end(&h);
}

static void test_syn_ack_offers_what_was_offered(void **state)
{
	struct tcp_segment s = syn;
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	s.has = TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED;
	s.mss = 1460;
	s.tsval = 77;
	host_hear(&h, PORT, &s, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(a.h.ack, 1001);
	assert_int_equal(a.h.has, s.has);
	assert_int_equal(a.h.mss, 1460);
	assert_int_equal(a.h.tsecr, 77);
	assert_int_equal(a.h.wscale, 6); /* for the pool's 2.5 MB that one may have */
	assert_int_equal(a.h.wnd, 65535);
	host_end(&h);
}

static void test_syn_ack_offers_nothing_unasked(void **state)
{
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.has, TCP_HAS_MSS);
	host_end(&h);
}

/** The half-open connections of a listener have 8 places, or as many as its backlog. */
static void test_oldest_half_open_goes(void **state)
{
	const struct tcp_stack_config cfg = {.syn_cookies = TCP_COOKIES_OFF};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 2);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	for (uint16_t i = 0; i < 7; i++)
		host_hear_syn(&h, (uint16_t)(100 + i));
	assert_int_equal(ip_double_pending(&h.ip), 7);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 0);
	ip_double_drain(&h.ip);
	host_hear_syn(&h, 200); /* takes the place of the first */
	assert_int_equal(ip_double_pending(&h.ip), 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 1);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(h.app.accepted, 0);
	host_end(&h);
}

static void test_limit_of_all_takes_from_the_fullest(void **state)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_OFF, .max_half_open = 4, .max_connections = 100};
	const struct ip_endpoint other = {addr(LOCAL), 6000};
	struct llp_listener *l;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 100);
	assert_int_equal(llp_listen(h.llp, &other, 100, NULL, NULL, &l), 0);
	for (uint16_t i = 0; i < 4; i++)
		host_hear_syn(&h, (uint16_t)(100 + i));
	host_hear(&h, 6000, &syn, NULL);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 4);
	assert_int_equal(((struct tcp_listener *)(void *)l)->synq.count, 1);
	host_end(&h);
}

/** RFC 9293 section 3.9.2.3 (MUST-57): nobody is at such an address. */
static void test_syn_from_a_group_is_dropped(void **state)
{
	static const char *const from[] = {"224.0.0.1", "0.0.0.0"};
	const struct ip_addr dst = addr(LOCAL);
	const uint8_t s[] = {0, 9, PORT >> 8, PORT & 0xff, 0, 0, 3, 0xe8, 0, 0, 0, 0, 0x50, TCP_SYN,
		0x10, 0, 0, 0, 0, 0};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	for (unsigned i = 0; i < 2; i++) {
		const struct ip_addr src = addr(from[i]);

		ip_double_deliver(&h.ip, &src, &dst, test_packet(h.pool, s, sizeof s), h.now);
	}
	host_expect_none(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

/** What one peer has at all listeners counts; a full listener takes from its own otherwise. */
static void test_limit_of_a_peer_holds_over_listeners(void **state)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_OFF, .max_half_open_per_peer = 9};
	const struct ip_endpoint other = {addr(LOCAL), 6000};
	struct llp_listener *l;

	host_init(&h, LOCAL, &cfg);
	assert_int_equal(llp_listen(h.llp, &other, 8, NULL, NULL, &l), 0);
	host_listen(&h, 8);
	host_hear(&h, 6000, &syn, NULL); /* its oldest, at another listener */
	for (uint16_t i = 0; i < 8; i++)
		host_hear_syn(&h, (uint16_t)(100 + i));
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 9);
	host_hear_syn(&h, 200); /* the listener is full, and the peer has what it may */
	assert_int_equal(((struct tcp_listener *)(void *)l)->synq.count, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 2);
	host_hear(&h, 6000, &syn, NULL);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 9);
	host_end(&h);
}

/** A full listener takes its own oldest while the peer may have more, whoever has most elsewhere.
 */
static void leaves_others_alone(uint32_t most_each)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_OFF, .max_half_open_per_peer = most_each};
	const struct ip_endpoint other = {addr(LOCAL), 6000};
	struct llp_listener *l;

	host_init(&h, LOCAL, &cfg);
	assert_int_equal(llp_listen(h.llp, &other, 8, NULL, NULL, &l), 0);
	host_listen(&h, 8);
	host_hear(&h, 6000, &syn, NULL); /* the oldest of all */
	for (uint16_t i = 0; i < 9; i++)
		host_hear_syn(&h, (uint16_t)(100 + i));
	assert_int_equal(((struct tcp_listener *)(void *)l)->synq.count, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 9);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 1);
	host_end(&h);
}

static void test_full_listener_leaves_others_alone(void **state)
{
	leaves_others_alone(0); /* as many as it likes */
	leaves_others_alone(10);
}

/** Ports that share a chain are ports of their own; a reservation that another has keeps us out. */
static void test_ports_of_listeners(void **state)
{
	const struct ip_endpoint any = {addr("0.0.0.0"), 7000};
	const struct ip_endpoint mine = {addr(LOCAL), 7000};
	struct llp_listener *l;

	host_init(&h, LOCAL, NULL);
	for (uint16_t i = 0; i < 3; i++) {
		const struct ip_endpoint e = {
			addr(LOCAL), (uint16_t)(5000 + i * TCP_LISTENER_CHAINS)};

		assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &l), 0);
		assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &l), -EADDRINUSE);
	}
	assert_int_equal(
		llp_port_reserve(h.llp, &(struct ip_endpoint){any.addr, 7000}, LLP_PORT_REUSE), 0);
	assert_int_equal(
		llp_port_reserve(h.llp, &(struct ip_endpoint){mine.addr, 7000}, LLP_PORT_REUSE), 0);
	assert_int_equal(llp_listen(h.llp, &mine, 1, NULL, NULL, &l), -EADDRINUSE);
	llp_port_release(h.llp, &any);
	assert_int_equal(llp_listen(h.llp, &mine, 1, NULL, NULL, &l), 0);
	host_end(&h);
}

/** The handshake ends @p ns after the peer's SYN, and after it came again if @p again. */
static struct tcp_conn *handshake(uint64_t ns, bool again)
{
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	host_advance(&h, ns);
	if (again)
		host_hear(&h, PORT, &syn, NULL);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(h.app.accepted, 1);
	return tcp_conn_of(h.app.llp);
}

/** RFC 6298 section 3, Karn: which of two answers to a SYN is acknowledged cannot be told. */
static void test_a_syn_that_came_again_measures_nothing(void **state)
{
	assert_int_equal(handshake(300 * MS, false)->rto.srtt, 300 * MS);
	host_end(&h);
	assert_int_equal(handshake(300 * MS, true)->rto.srtt, 0);
	host_end(&h);
}

/** RFC 6928 section 2: one SYN,ACK too many may be a slow path, two are a loss. */
static void test_one_lost_syn_does_not_cost_the_initial_window(void **state)
{
	struct tcp_conn *c = handshake(1100 * MS, false);

	assert_int_equal(c->cc.cwnd, tcp_cc_initial_window(c->emss));
	assert_int_equal(c->rto.base, TCP_RTO_AFTER_SYN_LOSS);
	host_end(&h);
	c = handshake(3100 * MS, false);
	assert_int_equal(c->cc.cwnd, c->emss);
	host_end(&h);
}

/** RFC 6298 section 5.7: what the peer's SYN had sent again is no expiry of our timer. */
static void test_a_syn_that_came_again_is_no_timeout(void **state)
{
	struct tcp_conn *c = handshake(300 * MS, true);

	assert_int_equal(c->cc.cwnd, tcp_cc_initial_window(c->emss));
	assert_int_equal(c->rto.base, TCP_RTO_INITIAL);
	host_end(&h);
	c = handshake(1100 * MS, true); /* one expiry, and the SYN once more */
	assert_int_equal(c->cc.cwnd, tcp_cc_initial_window(c->emss));
	assert_int_equal(c->rto.base, TCP_RTO_AFTER_SYN_LOSS);
	assert_int_equal(c->rto.srtt, 0);
	host_end(&h);
	c = handshake(3100 * MS, true);
	assert_int_equal(c->cc.cwnd, c->emss);
	host_end(&h);
}

static void test_reset_makes_room(void **state)
{
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_RST, 1002, 0, NULL, 0); /* RFC 5961 section 3.2 */
	assert_int_equal(ip_double_pending(&h.ip), 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 1);
	peer_send_at(&p, TCP_RST, 1001, 0, NULL, 0);
	assert_int_equal(ip_double_pending(&h.ip), 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

/** Another listener, which no peer comes to. */
static void listen_also(uint16_t port)
{
	const struct ip_endpoint any = {addr("::"), port};
	struct llp_listener *l;

	assert_int_equal(llp_listen(h.llp, &any, 4, host_accept, &h.app, &l), 0);
}

/** What the user cannot take yet stays half-open; its SYN,ACK asks the peer again. */
static void test_accept_again(void **state)
{
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	listen_also(PORT - 1);
	host_listen(&h, 8);
	listen_also(PORT + 1);
	h.app.refuse = -EAGAIN;
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	p.ack = a.h.seq + 1;
	peer_send_at(&p, TCP_ACK, 1001, p.ack, NULL, 0);
	host_expect_none(&h);
	assert_int_equal(h.app.accepted, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	h.app.refuse = 0;
	host_advance(&h, 3000 * MS);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(a.h.seq + 1, p.ack);
	peer_send_at(&p, TCP_ACK, 1001, p.ack, "abc", 3);
	assert_int_equal(h.app.accepted, 2);
	assert_int_equal(h.app.n_got, 3);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

static struct host *stopper;

static int stop_listening(void *user, struct llp *l)
{
	llp_unlisten(stopper->llp, stopper->listener);
	return -EAGAIN;
}

static void test_unlisten_while_accepting(void **state)
{
	const struct ip_endpoint any = {addr("::"), PORT};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	stopper = &h;
	listen_also(PORT - 1);
	assert_int_equal(llp_listen(h.llp, &any, 4, stop_listening, NULL, &h.listener), 0);
	listen_also(PORT + 1);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

static void test_unlisten_resets_handshakes(void **state)
{
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	llp_unlisten(h.llp, h.listener);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_end(&h);
}

static int listen_at(const char *a, struct llp_listener **l)
{
	const struct ip_endpoint e = {addr(a), PORT};

	return llp_listen(h.llp, &e, 4, NULL, NULL, l);
}

static void test_addresses(void **state)
{
	struct llp_listener *any6, *any4, *own, *l;
	const struct ip_endpoint v4 = {addr(LOCAL), PORT}, v6 = {addr("fd00::1"), PORT},
				 other = {addr(LOCAL), PORT + 1};

	host_init(&h, LOCAL, NULL);
	assert_int_equal(listen_at("10.9.9.9", &l), -EADDRNOTAVAIL);
	assert_int_equal(listen_at("::", &any6), 0);
	assert_int_equal(listen_at("::", &l), -EADDRINUSE);
	assert_ptr_equal(tcp_listener_find(h.tcp, &v4), any6);
	assert_ptr_equal(tcp_listener_find(h.tcp, &v6), any6);
	assert_null(tcp_listener_find(h.tcp, &other));
	assert_int_equal(listen_at("0.0.0.0", &any4), 0);
	assert_ptr_equal(tcp_listener_find(h.tcp, &v4), any4);
	assert_ptr_equal(tcp_listener_find(h.tcp, &v6), any6);
	assert_int_equal(listen_at(LOCAL, &own), 0);
	assert_ptr_equal(tcp_listener_find(h.tcp, &v4), own);
	llp_unlisten(h.llp, any6);
	assert_null(tcp_listener_find(h.tcp, &v6));
	host_end(&h);
}

static void test_refused_accept_is_reset(void **state)
{
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	h.app.refuse = -ENOMEM;
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	assert_int_equal(h.app.accepted, 1);
	assert_int_equal(h.app.connected, 0);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

static int accept_and_abort(void *user, struct llp *l)
{
	llp_abort(l);
	return -ECONNABORTED;
}

/** Who refuses it may have ended it himself. */
static void test_aborted_accept_is_reset(void **state)
{
	const struct ip_endpoint any = {addr("::"), PORT};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_listen(h.llp, &any, 4, accept_and_abort, NULL, &h.listener), 0);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_expect_none(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syn_from_a_group_is_dropped),
		cmocka_unit_test(test_limit_of_a_peer_holds_over_listeners),
		cmocka_unit_test(test_full_listener_leaves_others_alone),
		cmocka_unit_test(test_ports_of_listeners),
		cmocka_unit_test(test_syn_to_nobody_is_reset),
		cmocka_unit_test(test_segments_to_nobody),
		cmocka_unit_test(test_listen_state),
		cmocka_unit_test(test_syn_ack_offers_what_was_offered),
		cmocka_unit_test(test_syn_ack_offers_nothing_unasked),
		cmocka_unit_test(test_oldest_half_open_goes),
		cmocka_unit_test(test_limit_of_all_takes_from_the_fullest),
		cmocka_unit_test(test_a_syn_that_came_again_measures_nothing),
		cmocka_unit_test(test_one_lost_syn_does_not_cost_the_initial_window),
		cmocka_unit_test(test_a_syn_that_came_again_is_no_timeout),
		cmocka_unit_test(test_reset_makes_room),
		cmocka_unit_test(test_aborted_accept_is_reset),
		cmocka_unit_test(test_accept_again),
		cmocka_unit_test(test_unlisten_while_accepting),
		cmocka_unit_test(test_unlisten_resets_handshakes),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_refused_accept_is_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
