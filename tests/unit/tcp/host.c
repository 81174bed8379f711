/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>

struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/* ---- the application ----------------------------------------------------------------------- */

static void on_connected(void *user)
{
	((struct app *)user)->connected++;
}

static void keep(struct app *a, const uint8_t *p, size_t n)
{
	if (a->n_got + n > a->cap_got) {
		a->cap_got = (a->n_got + n) * 2;
		a->got = realloc(a->got, a->cap_got);
	}
	memcpy(a->got + a->n_got, p, n);
	a->n_got += n;
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct app *a = user;
	size_t left = total < a->take ? total : a->take, taken = left;

	a->shows++;
	a->acked_before = a->acked;
	a->shown = total;
	a->pieces = n;
	*need = a->need;
	if (a->abort_in_readable) {
		llp_abort(a->llp);
		return 0;
	}
	if (a->release_in_readable) {
		llp_release(a->llp);
		return 0;
	}
	for (unsigned i = 0; i < n && left; i++) {
		size_t k = v[i].len < left ? v[i].len : left;

		keep(a, v[i].base, k);
		if (a->reply)
			app_send(a, v[i].base, (uint32_t)k);
		left -= k;
	}
	return taken;
}

static void on_acked(void *user)
{
	((struct app *)user)->acked++;
}

static void on_writable(void *user)
{
	((struct app *)user)->writable++;
}

static void on_eof(void *user)
{
	struct app *a = user;

	a->eof++;
	if (a->shutdown_on_eof)
		llp_shutdown(a->llp);
	if (a->release_on_eof)
		llp_release(a->llp);
}

static void on_eof_waits(void *user)
{
	struct app *a = user;

	a->eof_waits++;
	if (a->abort_on_eof_waits)
		llp_abort(a->llp);
}

static void on_closed(void *user, int error)
{
	struct app *a = user;

	a->closed++;
	a->error = error;
	a->llp = NULL;
}

const struct llp_user_ops app_ops = {.connected = on_connected,
	.readable = on_readable,
	.writable = on_writable,
	.acked = on_acked,
	.eof = on_eof,
	.eof_waits = on_eof_waits,
	.closed = on_closed};

int host_accept(void *user, struct llp *l)
{
	struct app *a = user;

	a->accepted++;
	if (a->refuse)
		return a->refuse;
	a->llp = l;
	llp_set_user(l, &app_ops, a);
	return 0;
}

/** @return false: there is no room. */
static bool app_try_queue(struct app *a, uint32_t len, bool join)
{
	void *room = llp_reserve(a->llp, len, join);

	if (!room)
		return false;
	memset(room, 'q', len);
	llp_commit(a->llp, len);
	return true;
}

void app_queue(struct app *a, uint32_t len, bool join)
{
	assert_true(app_try_queue(a, len, join));
}

unsigned app_fill(struct app *a, uint32_t len)
{
	unsigned n = 0;

	while (app_try_queue(a, len, false))
		n++;
	return n;
}

void app_send(struct app *a, const void *text, uint32_t len)
{
	void *room = llp_reserve(a->llp, len, false);

	assert_non_null(room);
	memcpy(room, text, len);
	llp_commit(a->llp, len);
	llp_push(a->llp);
}

void app_send_pattern(struct app *a, uint32_t first, uint32_t len)
{
	uint8_t *room = llp_reserve(a->llp, len, false);

	assert_non_null(room);
	for (uint32_t i = 0; i < len; i++)
		room[i] = (uint8_t)((first + i) * 31 >> 3);
	llp_commit(a->llp, len);
	llp_push(a->llp);
}

/* ---- the host ------------------------------------------------------------------------------ */

static void fill(void *ctx, void *buf, size_t len)
{
	static uint32_t x = 1;
	uint8_t *p = buf;

	while (len--) {
		x = x * 1664525 + 1013904223;
		*p++ = (uint8_t)(x >> 24);
	}
}

void host_init(struct host *h, const char *a, const struct tcp_stack_config *tweak)
{
	static unsigned n;
	char name[16];
	struct tcp_stack_config cfg = tweak ? *tweak : (struct tcp_stack_config){0};

	test_eal_init();
	memset(h, 0, sizeof *h);
	snprintf(name, sizeof name, "host%u", n++);
	ip_double_init(&h->ip, 1500, a);
	h->now = 1000 * 1000 * MS;
	timer_wheel_init(&h->wheel, h->now);
	h->pool = test_pool(name, HOST_PACKETS, 2048);
	h->app.take = SIZE_MAX;
	cfg.ip = &h->ip;
	cfg.wheel = &h->wheel;
	cfg.pool = h->pool;
	cfg.random.fill = fill;
	if (!cfg.congestion_control)
		cfg.congestion_control = "newreno"; /* scripts count on halves */
	assert_int_equal(tcp_stack_create(&cfg, h->now, &h->tcp), 0);
	h->llp = tcp_llp_stack(h->tcp);
}

void host_end(struct host *h)
{
	tcp_stack_destroy(h->tcp);
	ip_double_drain(&h->ip);
	assert_int_equal(test_pool_missing(h->pool), 0);
	assert_int_equal(timer_wheel_next(&h->wheel), TIMER_NEVER);
	rte_mempool_free(h->pool);
	free(h->app.got);
}

void host_round(struct host *h)
{
	tcp_round_end(h->tcp);
}

void host_take_packets(struct host *h, unsigned left)
{
	while (rte_mempool_avail_count(h->pool) > left) {
		assert_true(h->n_taken < HOST_PACKETS);
		h->taken[h->n_taken] = rte_pktmbuf_alloc(h->pool);
		assert_non_null(h->taken[h->n_taken++]);
	}
}

void host_give_packets(struct host *h)
{
	rte_pktmbuf_free_bulk(h->taken, h->n_taken);
	h->n_taken = 0;
}

void host_advance(struct host *h, uint64_t ns)
{
	uint64_t end = h->now + ns, next;

	while ((next = timer_wheel_next(&h->wheel)) <= end) {
		if (next > h->now)
			h->now = next;
		tcp_set_now(h->tcp, h->now);
		timer_wheel_run(&h->wheel, h->now);
		tcp_round_end(h->tcp);
	}
	h->now = end;
	tcp_set_now(h->tcp, h->now);
	tcp_round_end(h->tcp);
}

unsigned host_sent_within(struct host *h, uint64_t ns)
{
	unsigned n;

	host_advance(h, ns);
	n = ip_double_pending(&h->ip);
	ip_double_drain(&h->ip);
	return n;
}

void host_listen(struct host *h, unsigned backlog)
{
	const struct ip_endpoint any = {addr("::"), PORT};

	assert_int_equal(llp_listen(h->llp, &any, backlog, host_accept, &h->app, &h->listener), 0);
}

struct llp *host_connect(struct host *h)
{
	const struct llp_connect_params p = {.remote = {addr(REMOTE), RPORT}};

	assert_int_equal(llp_connect(h->llp, &p, &app_ops, &h->app, &h->app.llp), 0);
	return h->app.llp;
}

void host_hear(struct host *h, uint16_t lport, const struct tcp_segment *seg, const void *text)
{
	const struct ip_addr src = addr(REMOTE), dst = addr(LOCAL);
	struct tcp_segment s = *seg;
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	unsigned hlen;

	assert_non_null(m);
	s.sport = RPORT;
	s.dport = lport;
	hlen = tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *));
	assert_non_null(rte_pktmbuf_append(m, (uint16_t)(hlen + s.len)));
	if (s.len)
		memcpy(rte_pktmbuf_mtod_offset(m, void *, hlen), text, s.len);
	ip_double_deliver(&h->ip, &src, &dst, m, h->now);
}

void host_hear_syn(struct host *h, uint16_t rport)
{
	const struct ip_addr src = addr(REMOTE), dst = addr(LOCAL);
	const uint8_t s[] = {(uint8_t)(rport >> 8), (uint8_t)rport, PORT >> 8, PORT & 0xff, 0, 0, 3,
		0xe8, 0, 0, 0, 0, 0x50, TCP_SYN, 0x10, 0, 0, 0, 0, 0};

	ip_double_deliver(&h->ip, &src, &dst, test_packet(h->pool, s, sizeof s), h->now);
}

void host_expect(struct host *h, struct heard *out)
{
	struct rte_mbuf *m = ip_double_take(&h->ip);
	const void *text;

	assert_non_null(m);
	assert_int_equal(
		tcp_wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, m->pkt_len, &out->h),
		0);
	out->len = out->h.len;
	text = rte_pktmbuf_read(m, out->h.header_len, out->len, out->text);
	if (text && text != out->text)
		memcpy(out->text, text, out->len);
	rte_pktmbuf_free(m);
}

uint8_t host_expect_text(struct host *h, uint32_t seq, uint32_t len)
{
	struct heard a;

	host_expect(h, &a);
	assert_int_equal(a.h.seq, seq);
	assert_int_equal(a.len, len);
	return a.h.flags;
}

void host_expect_none(struct host *h)
{
	assert_int_equal(ip_double_pending(&h->ip), 0);
}

/* ---- the scripted peer --------------------------------------------------------------------- */

static struct tcp_segment peer_syn(struct peer *p, struct host *h, unsigned options, uint8_t flags)
{
	*p = (struct peer){.h = h, .seq = 1000, .wnd = 65535, .tsval = 7000};
	p->ts = (options & TCP_HAS_TS) != 0;
	return (struct tcp_segment){.seq = p->seq++,
		.flags = flags,
		.wnd = p->wnd,
		.has = (uint8_t)options,
		.mss = 1460,
		.wscale = 7,
		.tsval = p->tsval};
}

void peer_accepted(struct peer *p, struct host *h, unsigned options)
{
	struct tcp_segment syn = peer_syn(p, h, options, TCP_SYN);
	struct heard a;

	host_listen(h, 8);
	p->lport = PORT;
	host_hear(h, PORT, &syn, NULL);
	host_expect(h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(a.h.ack, p->seq);
	p->ack = a.h.seq + 1;
	p->tsecr = a.h.tsval;
	peer_send(p, 0, NULL, 0);
	host_expect_none(h);
	assert_int_equal(h->app.accepted, 1);
	assert_int_equal(h->app.connected, 1);
}

struct tcp_conn *host_accepted(
	struct host *h, struct peer *p, unsigned options, const struct tcp_stack_config *tweak)
{
	host_init(h, LOCAL, tweak);
	peer_accepted(p, h, options);
	return tcp_conn_of(h->app.llp);
}

void peer_connected(struct peer *p, struct host *h, unsigned options)
{
	struct tcp_segment syn = peer_syn(p, h, options, TCP_SYN | TCP_ACK);
	struct heard a;

	host_connect(h);
	host_expect(h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	p->lport = a.h.sport;
	p->ack = syn.ack = a.h.seq + 1;
	p->tsecr = syn.tsecr = a.h.tsval;
	host_hear(h, p->lport, &syn, NULL);
	host_round(h);
	host_expect(h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	assert_int_equal(a.h.ack, p->seq);
	assert_int_equal(h->app.connected, 1);
}

static struct tcp_segment peer_segment(
	const struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack)
{
	return (struct tcp_segment){.seq = seq,
		.ack = ack,
		.flags = flags,
		.wnd = p->wnd,
		.has = p->ts ? TCP_HAS_TS : 0,
		.tsval = p->tsval,
		.tsecr = p->tsecr};
}

void peer_send_at(
	struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack, const void *text, uint32_t len)
{
	struct tcp_segment s = peer_segment(p, flags, seq, ack);

	s.len = len;
	host_hear(p->h, p->lport, &s, text);
	host_round(p->h);
}

void peer_send(struct peer *p, uint8_t flags, const void *text, uint32_t len)
{
	peer_send_at(p, (uint8_t)(flags | TCP_ACK), p->seq, p->ack, text, len);
	p->seq += len + ((flags & TCP_FIN) != 0);
}

void peer_sack(struct peer *p, uint32_t ack, const struct tcp_range *r, unsigned n)
{
	struct tcp_segment s = peer_segment(p, TCP_ACK, p->seq, ack);

	s.n_sack = (uint8_t)n;
	if (n)
		memcpy(s.sack, r, n * sizeof *r);
	host_hear(p->h, p->lport, &s, NULL);
	host_round(p->h);
}

void sendq_room(struct tcp_sendq *q)
{
	struct tcp_record *ring = &q->one;
	uint32_t cap = q->cap ? 2 * q->cap : 1;

	if (q->count < q->cap)
		return;
	if (cap > 1)
		ring = malloc(cap * sizeof *ring);
	assert_non_null(ring);
	free(tcp_sendq_take_ring(q, ring, cap));
}
