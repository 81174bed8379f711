/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <errno.h>

static struct host h;
static struct peer p;

static void test_iss(void **state)
{
	struct tcp_tuple a = {addr(LOCAL), addr(REMOTE), 1, 2}, b = a;
	uint32_t first;

	host_init(&h, LOCAL, NULL);
	b.rport = 3;
	first = tcp_conn_iss(h.tcp, &a);
	assert_int_equal(tcp_conn_iss(h.tcp, &a), first);
	assert_int_not_equal(tcp_conn_iss(h.tcp, &b), first);
	host_advance(&h, 4 * MS); /* one tick in 4 microseconds */
	assert_int_equal(tcp_conn_iss(h.tcp, &a), first + 1000);
	host_end(&h);
}

static void test_emss(void **state)
{
	struct tcp_conn *c;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, 0); /* no MSS option: 536 */
	c = tcp_conn_of(h.app.llp);
	assert_int_equal(c->emss, 536);
	c->peer_mss = 9000;
	tcp_conn_update_emss(c);
	assert_int_equal(c->emss, 1460);
	c->mtu = 9000;
	tcp_conn_update_emss(c);
	assert_int_equal(c->emss, 2048); /* what a packet of the pool holds */
	host_end(&h);
}

static void test_emss_ipv6(void **state)
{
	const struct llp_connect_params to = {.remote = {addr("fd00::2"), 7}};
	struct llp *l;

	host_init(&h, "fd00::1", NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), 0);
	tcp_conn_of(l)->peer_mss = 9000;
	tcp_conn_update_emss(tcp_conn_of(l));
	assert_int_equal(llp_emss(l), 1440);
	host_end(&h);
}

static void test_tiny_mss_is_raised(void **state)
{
	const struct tcp_segment syn = {
		.seq = 1000, .flags = TCP_SYN, .wnd = 5000, .has = TCP_HAS_MSS, .mss = 1};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000};
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(llp_emss(h.app.llp), 216);
	host_end(&h);
}

static void test_table_full(void **state)
{
	const struct tcp_stack_config cfg = {.max_connections = 1};
	const struct llp_connect_params to = {.remote = {addr(REMOTE), 7}};
	struct llp *l;

	host_init(&h, LOCAL, &cfg);
	peer_accepted(&p, &h, 0);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENOMEM);
	/* TIME-WAIT makes room. */
	llp_shutdown(h.app.llp);
	p.ack++;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_end(&h);
}

/** The address is gone before the handshake is complete, and comes back. */
static void test_no_route_for_what_was_agreed(void **state)
{
	unsigned addresses;
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	host_hear_syn(&h, RPORT);
	host_expect(&h, &a);
	addresses = h.ip.n_addr;
	h.ip.n_addr = 0;
	p = (struct peer){.h = &h, .lport = PORT, .wnd = 5000};
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(h.app.accepted, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->accept_overflows, 1);
	assert_int_equal(h.tcp->table.count, 0);
	h.ip.n_addr = addresses;
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(h.app.accepted, 1);
	host_end(&h);
}

/** A queue that is empty keeps its ring for what is being written. */
static void test_ring_stays_for_what_is_written(void **state)
{
	struct tcp_conn *c;
	void *room;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, TCP_HAS_MSS);
	c = tcp_conn_of(h.app.llp);
	for (unsigned i = 0; i < 3; i++)
		app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	room = llp_reserve(h.app.llp, 3, false);
	assert_non_null(room);
	peer_send_at(&p, TCP_ACK, p.seq, c->snd_nxt, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
	assert_true(c->sendq.cap > 1);
	llp_commit(h.app.llp, 0); /* given back */
	peer_send(&p, 0, "x", 1);
	assert_int_equal(c->sendq.cap, 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Who asks to see what was never sent has no ACK sent for it, before there is one to send. */
static void test_nothing_is_acknowledged_before_it_came(void **state)
{
	struct tcp_segment syn = {.seq = 1000,
		.flags = TCP_SYN | TCP_ACK,
		.wnd = 5000,
		.has = TCP_HAS_MSS,
		.mss = 1460};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	host_expect(&h, &a);
	llp_resume(h.app.llp);
	assert_true(tcp_conn_of(h.app.llp)->ack_now);
	host_round(&h);
	host_expect_none(&h);
	syn.ack = a.h.seq + 1;
	host_hear(&h, a.h.sport, &syn, NULL);
	host_round(&h);
	assert_int_equal(h.app.connected, 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	assert_int_equal(a.h.ack, 1001);
	host_expect_none(&h);
	host_end(&h);
}

/** A SYN that there is no room for is not answered: the peer's next one may find some. */
static void test_syn_waits_for_room(void **state)
{
	const struct tcp_stack_config cfg = {.max_connections = 1};
	struct heard a;

	for (unsigned time_wait = 0; time_wait < 2; time_wait++) {
		host_init(&h, LOCAL, &cfg);
		peer_accepted(&p, &h, 0);
		host_hear_syn(&h, RPORT + 1);
		host_expect_none(&h);
		assert_int_equal(tcp_stack_stats(h.tcp)->accept_overflows, 1);
		/* Its user leaves it, or it is over: then it may go for another. */
		llp_release(h.app.llp);
		if (time_wait) {
			p.ack++;
			peer_send(&p, TCP_FIN, NULL, 0);
			assert_int_equal(h.tcp->time_wait.count, 1);
		}
		host_round(&h);
		ip_double_drain(&h.ip);
		host_hear_syn(&h, RPORT + 1);
		host_expect(&h, &a);
		assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
		host_end(&h);
	}
}

static void test_time_wait_holds_no_packets(void **state)
{
	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, 0);
	h.app.take = 0;
	h.app.need = 4; /* of half an FPDU: the rest does not come */
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.tcp->rx_held, 1);
	llp_shutdown(h.app.llp);
	p.ack++;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	ip_double_drain(&h.ip);
	assert_int_equal(h.tcp->rx_held, 0);
	assert_int_equal(h.tcp->tx_held, 0);
	assert_int_equal(test_pool_missing(h.pool), 0);
	host_end(&h);
}

static void test_info_and_listing(void **state)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, TCP_HAS_MSS | TCP_HAS_TS);
	app_send(&h.app, "abc", 3);
	assert_true(tcp_connection_get(h.tcp, 0, &local, &remote, &info));
	assert_false(tcp_connection_get(h.tcp, 1, &local, &remote, &info));
	assert_int_equal(local.port, PORT);
	assert_int_equal(remote.port, RPORT);
	assert_string_equal(info.state, "ESTABLISHED");
	assert_int_equal(info.flight, 3);
	assert_int_equal(info.bytes_sent, 3);
	assert_true(info.timestamps);
	assert_false(info.sack);
	/* Handshakes follow, oldest first. */
	host_hear_syn(&h, RPORT + 1);
	host_hear_syn(&h, RPORT + 2);
	assert_true(tcp_connection_get(h.tcp, 2, &local, &remote, &info));
	assert_int_equal(remote.port, RPORT + 2);
	assert_string_equal(info.state, "SYN-RECEIVED");
	assert_false(tcp_connection_get(h.tcp, 3, &local, &remote, &info));
	host_end(&h);
}

static void test_walk(void **state)
{
	struct tcp_walk w = {{0}};
	struct tcp_walk_item item;
	unsigned found = 0;
	enum walk step;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&p, &h, TCP_HAS_MSS | TCP_HAS_TS);
	app_send(&h.app, "abc", 3);
	host_hear_syn(&h, RPORT + 1);
	while ((step = tcp_connection_walk(h.tcp, &w, &item)) != WALK_END)
		found += step == WALK_HELD;
	assert_int_equal(found, 1); /* no handshakes */
	assert_int_equal(item.local.port, PORT);
	assert_int_equal(item.remote.port, RPORT);
	assert_string_equal(item.info.state, "ESTABLISHED");
	assert_int_equal(item.queued, 3);
	assert_int_equal(item.unread, 0);
	host_end(&h);
}

static void test_state_names(void **state)
{
	assert_string_equal(tcp_state_name(TCP_CLOSED), "CLOSED");
	assert_string_equal(tcp_state_name(TCP_SYN_RECEIVED), "SYN-RECEIVED");
	assert_string_equal(tcp_state_name(TCP_TIME_WAIT), "TIME-WAIT");
}

static void test_idle_connection_is_small(void **state)
{
	uint8_t text[1000] = {0};
	struct tcp_conn *c;

	assert_int_equal(_Alignof(struct tcp_conn), TCP_CACHE_LINE); /* as the pool gives them */
	/* In whole cache lines, and with three slots of the table, which it has at worst: 1 KiB. */
	assert_true(sizeof(struct tcp_conn) <= 15 * 64);
	assert_true(15 * 64 + 3 * sizeof(struct tcp_slot) <= 1024);
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_SACK_PERMITTED, NULL);
	for (unsigned i = 0; i < 20; i++) /* much was done */
		app_send(&h.app, text, sizeof text);
	peer_send_at(&p, TCP_ACK, p.seq + 1000, p.ack, text, 1000);
	peer_send(&p, 0, text, 1000);
	assert_true(c->sendq.ring != &c->sendq.one);
	while (llp_unacked(h.app.llp)) {
		p.ack = c->snd_nxt;
		p.seq = c->rcv_nxt;
		peer_send(&p, 0, NULL, 0);
		ip_double_drain(&h.ip);
	}
	host_advance(&h, 1000 * MS);
	ip_double_drain(&h.ip);
	assert_ptr_equal(c->sendq.ring, &c->sendq.one);
	assert_null(c->ooo_state);
	assert_null(c->recvq.first);
	assert_int_equal(test_pool_missing(h.pool), 0);
	host_end(&h);
}

static void test_options_can_be_switched_off(void **state)
{
	const struct tcp_stack_config cfg = {
		.no_sack = true, .no_timestamps = true, .no_window_scale = true};
	struct heard a;

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	host_expect(&h, &a);
	assert_int_equal(a.h.has, TCP_HAS_MSS);
	host_end(&h);
	host_init(&h, LOCAL, &cfg);
	peer_accepted(&p, &h, TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED);
	assert_false(tcp_conn_of(h.app.llp)->ts_on);
	assert_false(tcp_conn_of(h.app.llp)->sack_on);
	assert_int_equal(tcp_conn_of(h.app.llp)->snd_wscale, 0);
	host_end(&h);
	/* RFC 7323 sections 2.2, 3.2; RFC 2018 section 2: what we did not offer is not taken. */
	host_init(&h, LOCAL, &cfg);
	peer_connected(&p, &h, TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED);
	assert_false(tcp_conn_of(h.app.llp)->ts_on);
	assert_false(tcp_conn_of(h.app.llp)->sack_on);
	assert_int_equal(tcp_conn_of(h.app.llp)->snd_wscale, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syn_waits_for_room),
		cmocka_unit_test(test_iss),
		cmocka_unit_test(test_emss),
		cmocka_unit_test(test_emss_ipv6),
		cmocka_unit_test(test_tiny_mss_is_raised),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_ring_stays_for_what_is_written),
		cmocka_unit_test(test_no_route_for_what_was_agreed),
		cmocka_unit_test(test_nothing_is_acknowledged_before_it_came),
		cmocka_unit_test(test_time_wait_holds_no_packets),
		cmocka_unit_test(test_info_and_listing),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_state_names),
		cmocka_unit_test(test_idle_connection_is_small),
		cmocka_unit_test(test_options_can_be_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
