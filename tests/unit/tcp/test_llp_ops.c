/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/timers.h"

#include <errno.h>
#include <stdlib.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static unsigned fill(uint32_t len)
{
	unsigned n = 0;
	void *room;

	while ((room = llp_reserve(h.app.llp, len, false))) {
		memset(room, 'f', len);
		llp_commit(h.app.llp, len);
		n++;
	}
	return n;
}

static void fill_once(uint32_t len)
{
	memset(llp_reserve(h.app.llp, len, false), 'f', len);
	llp_commit(h.app.llp, len);
}

static void test_buffer_fills_and_empties(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 64 * 1024};

	start(&cfg);
	assert_int_equal(fill(1024), 64);
	llp_push(h.app.llp);
	host_round(&h);
	assert_int_equal(h.app.writable, 0);
	while (llp_unacked(h.app.llp)) {
		ip_double_drain(&h.ip);
		p.ack = c->snd_nxt;
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.writable, 1);
	host_end(&h);
}

/* From the next segment on; the ECN bits are ours. */
static void test_type_of_service(void **state)
{
	struct heard a;

	start(NULL);
	llp_set_tos(h.app.llp, 0x6b);
	fill_once(100);
	llp_push(h.app.llp);
	host_round(&h);
	host_expect(&h, &a);
	assert_int_equal(h.ip.taken_tos, 0x68);
	host_end(&h);
}

static void test_many_small_records_are_bounded(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 64 * 1024};

	start(&cfg);
	assert_int_equal(fill(1), 256);
	host_end(&h);
}

static void test_pool_share(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 1 << 30};

	start(&cfg);
	c->snd_wnd = 1 << 30; /* it is not the window that bounds it */
	assert_int_equal(fill(1000), (4095 / 8 * 3 * 4 + 4) / 5);
	host_end(&h);
}

static void test_reserve_bounds(void **state)
{
	start(NULL);
	assert_null(llp_reserve(h.app.llp, 2049, false));
	assert_null(llp_reserve(h.app.llp, 0, false));
	assert_non_null(llp_reserve(h.app.llp, 2048, false));
	llp_commit(h.app.llp, 0); /* given back */
	assert_int_equal(test_pool_missing(h.pool), 0);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	llp_commit(h.app.llp, 60); /* less than reserved */
	assert_int_equal(llp_unacked(h.app.llp), 60);
	assert_non_null(llp_reserve(h.app.llp, 100, true));
	llp_commit(h.app.llp, 0);
	assert_int_equal(llp_unacked(h.app.llp), 60);
	host_end(&h);
}

/** Positions: of what is queued, also in a record that others share, and of what is acknowledged.
 */
static void test_acknowledged_up_to(void **state)
{
	uint64_t first, begin;

	start(NULL);
	begin = llp_queued(h.app.llp);
	assert_int_equal(llp_acked(h.app.llp), begin);
	app_send(&h.app, "hello", 5);
	first = llp_queued(h.app.llp);
	assert_int_equal(first, begin + 5);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_acked(h.app.llp), first);
	assert_int_equal(h.app.acked, 0); /* nobody asked */
	llp_watch_acks(h.app.llp);
	fill_once(10);
	memset(llp_reserve(h.app.llp, 20, true), 'j', 20);
	llp_commit(h.app.llp, 20);
	assert_int_equal(llp_queued(h.app.llp), first + 30);
	llp_push(h.app.llp);
	host_round(&h);
	assert_int_equal(llp_acked(h.app.llp), first);
	h.app.acked = 0;
	p.ack += 10; /* a part of it */
	peer_send(&p, 0, NULL, 0);
	assert_true(h.app.acked > 0);
	assert_int_equal(llp_acked(h.app.llp), first + 10);
	p.ack += 20;
	h.app.acked = 0;
	/* With text the ACK is not put off: the user waits for it. */
	peer_send(&p, 0, "x", 1);
	assert_int_equal(llp_acked(h.app.llp), first + 30);
	assert_int_equal(llp_acked(h.app.llp), llp_queued(h.app.llp));
	assert_true(h.app.acked_before > 0);
	host_end(&h);
}

/** A FIN is no byte that was queued before it. */
static void test_acknowledged_before_fin(void **state)
{
	uint64_t end;

	start(NULL);
	llp_watch_acks(h.app.llp);
	app_send(&h.app, "bye", 3);
	end = llp_queued(h.app.llp);
	llp_shutdown(h.app.llp);
	host_round(&h);
	assert_true(llp_acked(h.app.llp) < end);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_true(llp_acked(h.app.llp) >= end);
	host_end(&h);
}

/** Headers do not lie in the headroom, unless a full segment would not fit behind them. */
static void test_headers_behind_the_headroom(void **state)
{
	uint8_t *room, *begin;

	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_TS, NULL);
	room = llp_reserve(h.app.llp, 100, false);
	begin = c->reserved->buf_addr;
	assert_ptr_equal(room, rte_pktmbuf_mtod(c->reserved, uint8_t *));
	assert_true(
		room - begin >= RTE_PKTMBUF_HEADROOM + IP_HEADROOM + TCP_HEADER_LEN + TCP_TS_LEN);
	llp_commit(h.app.llp, 0);
	room = llp_reserve(h.app.llp, c->s->room, false);
	begin = c->reserved->buf_addr;
	assert_int_equal(room - begin, RTE_PKTMBUF_HEADROOM);
	llp_commit(h.app.llp, 0);
	host_end(&h);
}

static void test_reservation_dies_with_the_connection(void **state)
{
	start(NULL);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	llp_abort(h.app.llp);
	host_end(&h);
}

/** The ring of a queue that runs empty meanwhile is kept for what is reserved. */
static void test_ring_stays_for_what_is_reserved(void **state)
{
	struct heard a;
	void *room;

	start(NULL);
	for (unsigned i = 0; i < 3; i++)
		app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	assert_int_equal(c->sendq.cap, 4);
	room = llp_reserve(h.app.llp, 3, false);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
	assert_int_equal(c->sendq.cap, 4);
	memcpy(room, "def", 3);
	llp_commit(h.app.llp, 3);
	llp_push(h.app.llp);
	host_expect(&h, &a);
	assert_memory_equal(a.text, "def", 3);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->sendq.cap, 1);
	host_end(&h);
}

/** The peer resets it while its user writes: what was reserved is not to be had any more. */
static void test_reset_behind_a_reservation(void **state)
{
	const struct tcp_segment rst = {.seq = 1001, .flags = TCP_RST};

	start(NULL);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	host_hear(&h, PORT, &rst, NULL);
	assert_int_equal(h.app.closed, 1);
	llp_commit(&c->llp, 100);
	llp_push(&c->llp);
	host_round(&h);
	host_expect_none(&h);
	assert_int_equal(test_pool_missing(h.pool), 0);
	host_end(&h);
}

static void reserve_when_closed(void *user, int error)
{
	struct app *a = user;

	a->closed++;
	assert_null(llp_reserve(a->llp, 10, false));
}

static void test_nothing_when_closed(void **state)
{
	struct llp_user_ops ops = app_ops;

	start(NULL);
	ops.closed = reserve_when_closed;
	llp_set_user(h.app.llp, &ops, &h.app);
	peer_send_at(&p, TCP_RST, p.seq, p.ack, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void test_nothing_after_shutdown(void **state)
{
	start(NULL);
	llp_shutdown(h.app.llp);
	assert_null(llp_reserve(h.app.llp, 10, false));
	host_end(&h);
}

static void test_fin_rides_on_the_last_record(void **state)
{
	struct heard a;
	void *room;

	start(NULL);
	room = llp_reserve(h.app.llp, 3, false);
	memcpy(room, "abc", 3);
	llp_commit(h.app.llp, 3); /* not pushed */
	llp_shutdown(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.len, 3);
	assert_int_equal(a.h.flags, TCP_FIN | TCP_PSH | TCP_ACK);
	host_end(&h);
}

static void test_release_delivers(void **state)
{
	struct heard a;

	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	llp_release(h.app.llp);
	host_advance(&h, 250 * MS); /* lost: sent again all the same */
	host_expect(&h, &a);
	p.ack = c->snd_nxt;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_TIME_WAIT);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(h.app.eof, 0);
	host_end(&h);
}

/** A connection that is not there yet cannot be left to itself. */
static void test_orphan_while_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_orphan(h.app.llp);
	assert_false(tcp_conn_of(h.app.llp)->orphan);
	assert_int_equal(h.tcp->orphans.count, 0);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The peer's FIN is not waited for without an end. */
static void test_orphan_in_fin_wait_2(void **state)
{
	start(NULL);
	llp_shutdown(h.app.llp);
	p.ack++;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	llp_orphan(h.app.llp);
	assert_int_equal(h.tcp->orphans.count, 1);
	host_advance(&h, TCP_ORPHAN_FIN_WAIT_2 - MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_advance(&h, 2 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_release_in_eof(void **state)
{
	start(NULL);
	h.app.release_on_eof = true;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_LAST_ACK);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_abort(void **state)
{
	struct heard a;

	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	llp_abort(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(a.h.seq, p.ack + 3);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void fill_and_abort(void *user)
{
	(void)fill(1024);
	llp_abort(h.app.llp);
}

/** In a round's end, when it is due again in the next: it is there until then. */
static void test_abort_when_writable(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 16 * 1024};
	struct llp_user_ops ops = app_ops;
	struct heard a;

	start(&cfg);
	ops.writable = fill_and_abort;
	llp_set_user(h.app.llp, &ops, &h.app);
	(void)fill(1024);
	llp_push(h.app.llp);
	while (ip_double_pending(&h.ip)) {
		host_expect(&h, &a);
		p.ack += a.len;
	}
	peer_send(&p, 0, NULL, 0);
	assert_ptr_equal(h.tcp->dead, c);
	assert_ptr_equal(h.tcp->dirty, c);
	host_round(&h);
	assert_null(h.tcp->dead);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_give_up_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_shutdown(h.app.llp);
	assert_int_equal(h.app.closed, 0); /* never from inside the call */
	host_advance(&h, MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNABORTED);
	host_connect(&h);
	llp_abort(h.app.llp);
	host_connect(&h);
	llp_release(h.app.llp);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

/** The peer answers the SYN before the user is told that it gave up: it is told all the same. */
static void test_give_up_connecting_as_the_answer_comes(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 10000};
	struct tcp_segment syn = {.seq = 9, .flags = TCP_SYN | TCP_ACK, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	host_expect(&h, &a);
	llp_shutdown(h.app.llp);
	assert_null(llp_reserve(h.app.llp, 10, false));
	syn.ack = a.h.seq + 1;
	host_hear(&h, a.h.sport, &syn, NULL);
	assert_null(llp_reserve(h.app.llp, 10, false));
	host_round(&h);
	host_advance(&h, MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNABORTED);
	host_expect(&h, &a);
	while (ip_double_pending(&h.ip))
		host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_end(&h);
}

static void test_queued_before_the_connection(void **state)
{
	struct heard a;
	struct tcp_segment syn = {.seq = 9, .flags = TCP_SYN | TCP_ACK, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	app_send(&h.app, "early", 5);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	host_expect_none(&h);
	syn.ack = a.h.seq + 1;
	host_hear(&h, a.h.sport, &syn, NULL);
	host_round(&h);
	host_expect(&h, &a); /* carries the ACK of the SYN */
	assert_int_equal(a.len, 5);
	assert_int_equal(a.h.ack, 10);
	host_expect_none(&h);
	host_end(&h);
}

static void test_connect_errors(void **state)
{
	struct llp_connect_params to = {
		.local = {addr("10.7.7.7"), 0}, .remote = {addr(REMOTE), 7}};
	struct llp *l;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -EADDRNOTAVAIL);
	to.local.addr = addr("0.0.0.0");
	to.remote.addr = addr("fd00::1");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr("0.0.0.0");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr("224.0.0.1");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr(REMOTE);
	to.local.port = 1234;
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), 0);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -EADDRINUSE);
	host_end(&h);
}

static void test_endpoints_and_addresses(void **state)
{
	struct ip_endpoint local, remote;
	struct ip_addr a, b = addr(REMOTE);

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_endpoints(h.app.llp, &local, &remote);
	a = addr(LOCAL);
	assert_true(ip_addr_equal(&local.addr, &a));
	assert_true(local.port >= 49152);
	assert_true(ip_addr_equal(&remote.addr, &b));
	assert_int_equal(remote.port, RPORT);
	assert_true(llp_is_local(h.llp, &a));
	assert_false(llp_is_local(h.llp, &b));
	assert_int_equal(llp_source(h.llp, &b, &a), 0);
	host_end(&h);
}

static uint16_t port_of(struct llp *l)
{
	struct ip_endpoint local, remote;

	llp_endpoints(l, &local, &remote);
	return local.port;
}

/** RFC 6056 section 3.1: whatever is in use is passed over. */
static void test_chosen_port_is_free(void **state)
{
	struct llp_connect_params to = {.remote = {addr(REMOTE), RPORT}};
	struct ip_endpoint e = {addr(LOCAL), 0};
	struct llp_listener *listener;
	struct llp *l[4];
	uint16_t port;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[0]), 0);
	port = port_of(l[0]);
	assert_in_range(port, 49152, 65500); /* of this address and these keys */
	to.local.port = (uint16_t)(port + 1);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[1]), 0);
	e.port = (uint16_t)(port + 2);
	assert_int_equal(llp_port_reserve(h.llp, &e, 0), 0);
	e.port = (uint16_t)(port + 3);
	assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &listener), 0);
	to.local.port = 0;
	for (unsigned i = 2; i < 4; i++) {
		assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[i]), 0);
		assert_int_equal(port_of(l[i]), port_of(l[0]) + 2 + i);
	}
	host_end(&h);
}

static void test_port_reservations(void **state)
{
	struct ip_endpoint e = {addr(LOCAL), 0}, same, foreign = {addr("10.7.7.7"), 1};
	struct llp_listener *l;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_port_reserve(h.llp, &foreign, 0), -EADDRNOTAVAIL);
	assert_int_equal(llp_port_reserve(h.llp, &e, 0), 0);
	assert_true(e.port >= 49152);
	same = e;
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), -EADDRINUSE);
	assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &l), 0); /* it is ours */
	llp_port_release(h.llp, &e);
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), -EADDRINUSE); /* a listener */
	llp_unlisten(h.llp, l);
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), 0);
	host_end(&h);
}

/** Both ends in one stack: what it sends comes back to it. */
static void test_connection_to_self(void **state)
{
	static struct app client;
	const struct llp_connect_params to = {.remote = {addr(LOCAL), PORT}};
	struct ip_addr src, dst;
	struct rte_mbuf *m;
	struct llp *l;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	client = (struct app){.take = SIZE_MAX};
	h.app.reply = true;
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &client, &l), 0);
	client.llp = l;
	for (int i = 0; i < 20; i++) {
		if (i == 5)
			app_send(&client, "echo", 4);
		while ((m = ip_double_take_from(&h.ip, &src, &dst)))
			ip_double_deliver(&h.ip, &src, &dst, m, h.now);
		host_round(&h);
	}
	assert_int_equal(client.n_got, 4);
	assert_memory_equal(client.got, "echo", 4);
	free(client.got);
	host_end(&h);
}

/** Those accepted have the listener's. */
static const char *accepted_with(void)
{
	struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 65535};
	struct tcp_segment third = {.seq = 1001, .flags = TCP_ACK, .wnd = 65535};
	struct tcp_info info;
	struct heard a;

	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	third.ack = a.h.seq + 1;
	host_hear(&h, PORT, &third, NULL);
	host_round(&h);
	tcp_get_info(h.app.llp, &info);
	return info.congestion_control;
}

static void test_congestion_control_is_chosen(void **state)
{
	struct llp_connect_params to = {
		.remote = {addr(REMOTE), RPORT}, .congestion_control = "vegas"};
	struct tcp_info info;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &h.app.llp), -EINVAL);
	to.congestion_control = "bbr";
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &h.app.llp), 0);
	tcp_get_info(h.app.llp, &info); /* before it is established, too */
	assert_string_equal(info.congestion_control, "bbr");
	assert_int_equal(info.pacing_rate, 0);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "cubic"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_string_equal(info.congestion_control, "cubic");
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);

	host_listen(&h, 5);
	assert_int_equal(tcp_listener_set_congestion_control(h.listener, "vegas"), -EINVAL);
	assert_int_equal(tcp_listener_set_congestion_control(h.listener, "cubic"), 0);
	assert_string_equal(accepted_with(), "cubic");
	host_end(&h);
}

static void test_congestion_control_is_changed(void **state)
{
	struct tcp_info info;
	struct peer q;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&q, &h, TCP_HAS_MSS);
	tcp_conn_of(h.app.llp)->cc.cwnd = 50000;
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "vegas"), -EINVAL);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "bbr"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_string_equal(info.phase, "Startup");
	assert_int_equal(info.cwnd, 50000);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "newreno"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_int_equal(info.cwnd, 50000);
	assert_int_equal(info.ssthresh, 50000); /* what BBR knew of the path */
	tcp_conn_of(h.app.llp)->cc.prior_cwnd = 60000;
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "newreno"), 0);
	assert_int_equal(tcp_conn_of(h.app.llp)->cc.prior_cwnd, 60000); /* nothing was forgotten */
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_port_is_free),
		cmocka_unit_test(test_buffer_fills_and_empties),
		cmocka_unit_test(test_many_small_records_are_bounded),
		cmocka_unit_test(test_type_of_service),
		cmocka_unit_test(test_pool_share),
		cmocka_unit_test(test_reserve_bounds),
		cmocka_unit_test(test_acknowledged_up_to),
		cmocka_unit_test(test_acknowledged_before_fin),
		cmocka_unit_test(test_headers_behind_the_headroom),
		cmocka_unit_test(test_reservation_dies_with_the_connection),
		cmocka_unit_test(test_ring_stays_for_what_is_reserved),
		cmocka_unit_test(test_reset_behind_a_reservation),
		cmocka_unit_test(test_nothing_when_closed),
		cmocka_unit_test(test_nothing_after_shutdown),
		cmocka_unit_test(test_fin_rides_on_the_last_record),
		cmocka_unit_test(test_release_delivers),
		cmocka_unit_test(test_orphan_while_connecting),
		cmocka_unit_test(test_orphan_in_fin_wait_2),
		cmocka_unit_test(test_release_in_eof),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_abort_when_writable),
		cmocka_unit_test(test_give_up_connecting),
		cmocka_unit_test(test_give_up_connecting_as_the_answer_comes),
		cmocka_unit_test(test_queued_before_the_connection),
		cmocka_unit_test(test_connect_errors),
		cmocka_unit_test(test_endpoints_and_addresses),
		cmocka_unit_test(test_port_reservations),
		cmocka_unit_test(test_connection_to_self),
		cmocka_unit_test(test_congestion_control_is_chosen),
		cmocka_unit_test(test_congestion_control_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
