/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation fails once: a call says so or does without, what it had is given back, and a
 * peer that goes on as TCP does gets everything across.
 */
#include "host.h"
#include "support/alloc_fault.h"
#include "tcp/stall.h"
#include "tcp/unread.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a stack -------------------------------------------------------------------------------- */

static void fill_zeros(void *ctx, void *buf, size_t len)
{
	memset(buf, 0, len);
}

/** It is made whole or not at all. */
static void stack_is_not_made(void **state)
{
	struct host h;
	unsigned refused = 0;
	int64_t before;
	int err;

	host_init(&h, LOCAL, NULL);
	before = alloc_fault_live();
	do {
		const struct tcp_stack_config cfg = {
			.ip = &h.ip, .wheel = &h.wheel, .pool = h.pool, .random.fill = fill_zeros};
		struct tcp_stack *s = NULL;

		alloc_fault_at(refused + 1);
		err = tcp_stack_create(&cfg, h.now, &s);
		alloc_fault_at(0);
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_null(s);
			refused++;
		}
		tcp_stack_destroy(s); /* NULL is as good, as for free() */
		assert_int_equal(alloc_fault_live(), before);
	} while (err);
	assert_true(refused >= 4);
	host_end(&h);
}

/* ---- a connection --------------------------------------------------------------------------- */

#define OPTIONS (TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED | TCP_HAS_TS)
#define TEXT    40000u
#define RECORDS 40u
#define RECORD  1000u

static uint8_t text[TEXT];

/** What came back from the host: the newest acknowledgement, and everything taken off. */
static bool hears(struct peer *p, struct heard *last)
{
	bool any = false;

	while (ip_double_pending(&p->h->ip)) {
		host_expect(p->h, last);
		p->tsecr = last->h.tsval;
		any = true;
	}
	return any;
}

/** A handshake, each step again until it is answered. */
static void connects(struct peer *p)
{
	struct tcp_segment syn = {.seq = 1000,
		.flags = TCP_SYN,
		.wnd = 65535,
		.has = OPTIONS,
		.mss = 1460,
		.wscale = 7,
		.tsval = 7000};
	struct heard a;

	for (unsigned i = 0; !hears(p, &a); i++) {
		assert_true(i < 3);
		host_hear(p->h, PORT, &syn, NULL);
		host_round(p->h);
	}
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	p->seq = 1001;
	p->ack = a.h.seq + 1;
	for (unsigned i = 0; !p->h->app.accepted; i++) {
		assert_true(i < 3);
		peer_send(p, 0, NULL, 0);
		(void)hears(p, &a);
	}
}

/** All of the text, the second half of each pair of segments first, until all is acknowledged. */
static void sends_out_of_order(struct peer *p)
{
	uint32_t base = p->seq, acked = base;
	struct heard a;

	for (unsigned tries = 0; acked != base + TEXT; tries++) {
		assert_true(tries < 10);
		for (uint32_t at = acked - base; at < TEXT; at += 2000) {
			for (uint32_t half = 2; half-- > 0;)
				if (at + 1000 * half < TEXT)
					peer_send_at(p, TCP_ACK, base + at + 1000 * half, p->ack,
						text + at + 1000 * half, 1000);
			if (hears(p, &a) && seq_gt(a.h.ack, acked))
				acked = a.h.ack;
		}
		host_advance(p->h, 300 * MS);
		if (hears(p, &a) && seq_gt(a.h.ack, acked))
			acked = a.h.ack;
		p->tsval += 300;
	}
	p->seq = acked;
}

/** Records of the user, of which none is lost because there was no room at first. */
static void user_sends(struct host *h, struct peer *p)
{
	uint32_t sent = 0, end = p->ack + RECORDS * RECORD;
	struct heard a;

	for (unsigned tries = 0; sent < RECORDS;) {
		uint8_t *room = llp_reserve(h->app.llp, RECORD, true);

		if (!room) {
			assert_true(++tries < 10);
			peer_send(p, 0, NULL, 0);
			continue;
		}
		memset(room, (int)sent++, RECORD);
		llp_commit(h->app.llp, RECORD);
		llp_push(h->app.llp);
	}
	for (unsigned tries = 0; p->ack != end; tries++) {
		assert_true(tries < 100);
		host_advance(h, 100 * MS);
		while (ip_double_pending(&h->ip)) {
			host_expect(h, &a);
			p->tsecr = a.h.tsval;
			/* Its window is closed halfway: what waits then has to go on when it opens.
			 */
			p->wnd = tries == 1 ? 0 : 65535 >> 7;
			if (a.h.seq == p->ack)
				p->ack += a.len;
		}
		p->tsval += 100;
		peer_send(p, 0, NULL, 0);
	}
	assert_int_equal(tcp_conn_of(h->app.llp)->sendq.count, 0);
}

/** Another connection, of ours, with the state of another congestion control. */
static void connects_away(struct host *h)
{
	const struct llp_connect_params to = {
		.remote = {addr(REMOTE), RPORT + 1}, .congestion_control = "bbr"};
	struct app other = {.take = SIZE_MAX};
	struct heard a;
	int err;

	err = llp_connect(h->llp, &to, &app_ops, &other, &other.llp);
	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(llp_connect(h->llp, &to, &app_ops, &other, &other.llp), 0);
	}
	host_expect(h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	llp_abort(other.llp);
	host_round(h);
	ip_double_drain(&h->ip);
}

static void reserves_a_port(struct host *h)
{
	struct ip_endpoint local = {addr(LOCAL), 777};
	int err = h->llp->ops->port_reserve(h->llp, &local, 0);

	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(h->llp->ops->port_reserve(h->llp, &local, 0), 0);
	}
	h->llp->ops->port_release(h->llp, &local);
}

static void listens(struct host *h)
{
	const struct ip_endpoint any = {addr("::"), PORT};
	int err = llp_listen(h->llp, &any, 8, host_accept, &h->app, &h->listener);

	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(
			llp_listen(h->llp, &any, 8, host_accept, &h->app, &h->listener), 0);
	}
}

/** One run without the @p nth allocation. @return whether there was one. */
static bool run_without(unsigned nth)
{
	const int64_t before = alloc_fault_live();
	struct host h;
	struct peer p = {.h = &h, .lport = PORT, .wnd = 65535 >> 7, .ts = true, .tsval = 7000};
	bool failed;

	host_init(&h, LOCAL, NULL);
	h.app.got = malloc(TEXT); /* what the test needs does not fail */
	assert_non_null(h.app.got);
	h.app.cap_got = TEXT;
	alloc_fault_at(nth);
	reserves_a_port(&h);
	listens(&h);
	connects(&p);
	h.app.take = 0; /* the user is late */
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, text, 1000);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	sends_out_of_order(&p);
	user_sends(&h, &p);
	connects_away(&h);
	failed = alloc_fault_seen() >= nth;
	alloc_fault_at(0);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(h.app.n_got, TEXT);
	assert_memory_equal(h.app.got, text, TEXT);
	llp_abort(h.app.llp);
	host_round(&h);
	host_end(&h);
	assert_int_equal(alloc_fault_live(), before);
	return failed;
}

static void everything_gets_across(void **state)
{
	unsigned n = 1;

	for (uint32_t i = 0; i < TEXT; i++)
		text[i] = (uint8_t)(i * 31 >> 3);
	while (run_without(n))
		n++;
	assert_true(n > 10);
}

/** The ring of a send queue grows into those that bursts before it have left. */
static void bursts_find_their_rings(void **state)
{
	struct host h;
	struct peer p = {.h = &h, .lport = PORT, .wnd = 65535 >> 7, .ts = true, .tsval = 7000};
	struct tcp_conn *c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);

	for (unsigned burst = 0; burst < 2; burst++) {
		c->ring_log2 = 0; /* nothing is expected */
		alloc_fault_at(0);
		for (unsigned i = 0; i < 20; i++)
			app_send(&h.app, text, 100);
		assert_true((alloc_fault_seen() == 0) == (burst == 1));
		assert_int_equal(c->sendq.cap, 32);
		peer_send_at(&p, TCP_ACK, p.seq, c->snd_nxt, NULL, 0);
		ip_double_drain(&h.ip);
		assert_int_equal(c->sendq.cap, 1);
	}
	host_end(&h);
}

/* ---- the table ------------------------------------------------------------------------------ */

/** One that cannot grow is filled, but for the place that ends each look, and then refuses. */
static void a_table_does_not_grow(void **state)
{
	const struct siphash_key key = {{5, 6}};
	struct tcp_conn *c;
	struct tcp_table t;
	uint32_t n = 0, slots;

	assert_int_equal(tcp_table_init(&t, &key), 0);
	slots = t.mask + 1;
	c = aligned_alloc(_Alignof(struct tcp_conn), slots * sizeof *c);
	assert_non_null(c);
	memset(c, 0, slots * sizeof *c);
	for (uint32_t i = 0; i < slots; i++)
		c[i].id = (struct tcp_tuple){addr(LOCAL), addr(REMOTE), (uint16_t)i, RPORT};
	alloc_fault_chance(1, 0);
	while (tcp_table_insert(&t, &c[n]) == 0)
		n++;
	alloc_fault_chance(0, 0);
	assert_int_equal(n, slots - 1);
	for (uint32_t i = 0; i < slots; i++)
		assert_ptr_equal(tcp_table_find(&t, &c[i].id), i < n ? &c[i] : NULL);
	assert_int_equal(tcp_table_insert(&t, &c[n]), 0);
	assert_ptr_equal(tcp_table_find(&t, &c[n].id), &c[n]);
	tcp_table_fini(&t);
	free(c);
}

/** Without a place in it there is no connection, and what was taken for that is given back. */
static void a_full_table_refuses_a_connection(void **state)
{
	const struct llp_connect_params to = {.remote = {addr(REMOTE), RPORT}};
	struct app other = {.take = SIZE_MAX};
	uint32_t slots, n = 0;
	struct tcp_table *t;
	unsigned refused = 0;
	const void *pooled;
	struct tcp_conn *c;
	int64_t before;
	struct host h;
	int err;

	host_init(&h, LOCAL, NULL);
	t = &h.tcp->table;
	slots = t->mask + 1;
	c = aligned_alloc(_Alignof(struct tcp_conn), slots * sizeof *c);
	assert_non_null(c);
	memset(c, 0, slots * sizeof *c);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &other, &other.llp), 0);
	llp_abort(other.llp); /* the next one finds its memory there */
	host_round(&h);
	ip_double_drain(&h.ip);
	for (uint32_t i = 0; i < slots; i++)
		c[i].id = (struct tcp_tuple){addr(REMOTE), addr(LOCAL), (uint16_t)i, RPORT};
	alloc_fault_chance(1, 0);
	while (tcp_table_insert(t, &c[n]) == 0)
		n++;
	alloc_fault_chance(0, 0);
	before = alloc_fault_live();
	pooled = h.tcp->conn_pool.free_conns;
	for (unsigned nth = 1;; nth++) {
		alloc_fault_at(nth);
		err = llp_connect(h.llp, &to, &app_ops, &other, &other.llp);
		alloc_fault_at(0);
		if (!err)
			break;
		refused++;
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(t->count, n);
		assert_int_equal(alloc_fault_live(), before);
		assert_ptr_equal(h.tcp->conn_pool.free_conns, pooled);
		host_expect_none(&h);
	}
	assert_true(refused > 0);
	ip_double_drain(&h.ip);
	while (n > 0)
		tcp_table_remove(t, &c[--n]);
	free(c);
	host_end(&h);
}

/* ---- what is noted of peers ------------------------------------------------------------------ */

/** A closed window that there is no memory to note is as any other that nobody minds. */
static void a_stall_is_not_noted(void **state)
{
	struct tcp_conn *c;
	struct host h;
	struct peer p;

	for (unsigned n = 1; n <= 2; n++) {
		c = host_accepted(&h, &p, TCP_HAS_MSS, NULL);
		alloc_fault_at(n); /* the note, and its peer */
		tcp_stall_begin(c);
		alloc_fault_at(0);
		assert_false(c->stalled);
		assert_null(c->stall);
		tcp_stall_begin(c);
		assert_true(c->stalled);
		host_end(&h);
	}
}

/** Who holds most is found as well where no peer can be charged. */
static void greed_of_unknown_peers(void **state)
{
	const struct tcp_stack_config cfg = {.receive_packets = 24};
	struct tcp_conn *c;
	struct host h;
	struct peer p[2];

	c = host_accepted(&h, &p[0], TCP_HAS_MSS, &cfg);
	h.app.connected = 0;
	peer_connected(&p[1], &h, TCP_HAS_MSS);
	h.app.take = 0;
	for (unsigned i = 0; i < 3; i++)
		peer_send(&p[i != 2], 0, text, 1000);
	assert_true(c->has_unread);
	host_advance(&h, 2000 * MS);
	ip_double_drain(&h.ip);
	tcp_unread_want(h.tcp, 0);
	alloc_fault_chance(1, 0);
	host_round(&h);
	alloc_fault_chance(0, 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->unread_ended, 1);
	assert_int_equal(h.tcp->table.count, 1);
	assert_int_equal(c->state, TCP_ESTABLISHED); /* the other one held two packets */
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Half-open connections that no peer is charged with make room as others do. */
static void half_open_of_unknown_peers(void **state)
{
	const struct tcp_stack_config cfg = {.syn_cookies = TCP_COOKIES_OFF};
	struct host h;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	for (uint16_t i = 0; i < 9; i++) {
		alloc_fault_at(2); /* the first is the connection's own */
		host_hear_syn(&h, (uint16_t)(100 + i));
		alloc_fault_at(0);
	}
	assert_int_equal(h.tcp->synq.peers.count, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 1);
	host_end(&h);
}

/** Without memory for the state of another congestion control there is one that needs none. */
static void congestion_control_is_not_changed(void **state)
{
	struct tcp_info info;
	struct host h;
	struct peer p;

	host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	tcp_conn_of(h.app.llp)->cc.cwnd = 50000;
	alloc_fault_at(1);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "bbr"), 0);
	alloc_fault_at(0);
	tcp_get_info(h.app.llp, &info);
	assert_string_not_equal(info.congestion_control, "bbr");
	assert_int_equal(info.cwnd, 50000);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_is_not_made),
		cmocka_unit_test(everything_gets_across),
		cmocka_unit_test(bursts_find_their_rings),
		cmocka_unit_test(a_table_does_not_grow),
		cmocka_unit_test(a_full_table_refuses_a_connection),
		cmocka_unit_test(a_stall_is_not_noted),
		cmocka_unit_test(greed_of_unknown_peers),
		cmocka_unit_test(half_open_of_unknown_peers),
		cmocka_unit_test(congestion_control_is_not_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
