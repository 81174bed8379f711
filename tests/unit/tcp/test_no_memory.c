/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation fails once: a call says so or does without, what it had is given back, and a
 * peer that goes on as TCP does gets everything across.
 */
#include "host.h"
#include "support/alloc_fault.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_is_not_made),
		cmocka_unit_test(everything_gets_across),
		cmocka_unit_test(bursts_find_their_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
