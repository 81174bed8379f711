/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc_net.h"

#include <stdlib.h>

static uint64_t draw(struct net *n)
{
	uint64_t z = n->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static struct net_packet *at(const struct net_flow *f, uint32_t i)
{
	return &f->ring[i & (f->cap - 1)];
}

void net_init(struct net *n, const struct net_config *cfg, const struct tcp_cc_ops *const *ops)
{
	memset(n, 0, sizeof *n);
	n->cfg = *cfg;
	n->now = MS;
	n->rng = cfg->seed;
	for (; n->n < NET_FLOWS && ops[n->n]; n->n++) {
		struct net_flow *f = &n->flow[n->n];

		f->c.s = &f->s;
		f->limited = UINT32_MAX; /* before the first byte */
		f->cap = 1 << 18;
		f->ring = calloc(f->cap, sizeof *f->ring);
		f->start = n->now;
		tcp_cc_init(&f->c.cc, ops[n->n], NET_SMSS, false, n->now);
		f->c.rto.srtt = cfg->rtt; /* of the handshake */
	}
}

void net_end(struct net *n)
{
	for (unsigned i = 0; i < n->n; i++) {
		tcp_cc_fini(&n->flow[i].c.cc);
		free(n->flow[i].ring);
	}
}

/** Through the queue, onto the wire. */
static void launch(struct net *n, struct net_packet *p)
{
	uint64_t start = n->wire_free > n->now ? n->wire_free : n->now;
	uint32_t queue = (uint32_t)((start - n->now) * n->cfg.rate / NET_SECOND);

	p->lost = draw(n) % 1000000 < n->cfg.loss_ppm || queue + NET_SMSS > n->cfg.queue;
	p->marked = n->cfg.mark && queue > n->cfg.mark;
	if (queue > n->queue_max)
		n->queue_max = queue;
	if (n->now > 2 * NET_SECOND && queue > n->queue_max_late)
		n->queue_max_late = queue;
	if (!p->lost)
		n->wire_free = start + NET_SMSS * NET_SECOND / n->cfg.rate;
	p->arrives = (p->lost ? start : n->wire_free) + n->cfg.rtt;
}

static void send(struct net *n, struct net_flow *f)
{
	struct tcp_conn *c = &f->c;
	struct net_packet *p = at(f, f->tail++);
	uint32_t in_flight = tcp_pipe(c);
	uint64_t rate;

	f->s.now = n->now;
	*p = (struct net_packet){.r = {.len = NET_SMSS, .seq = c->snd_nxt, .sent_at = n->now}};
	tcp_rate_on_sent(c, &p->r, in_flight);
	launch(n, p);
	c->snd_nxt += NET_SMSS;
	f->sent += NET_SMSS;
	rate = tcp_cc_pacing_rate(&c->cc, in_flight, c->rto.srtt);
	f->next_send = rate ? n->now + NET_SMSS * NET_SECOND / rate : n->now;
}

static void measure(struct net_flow *f, uint64_t rtt)
{
	f->c.rto.srtt = f->c.rto.srtt - f->c.rto.srtt / 8 + rtt / 8;
}

/** @p fresh: something is lost that was sent after the last reduction. */
static void react(struct net *n, struct net_flow *f, const struct tcp_cc_ack *a, bool fresh)
{
	struct tcp_conn *c = &f->c;

	if (f->in_recovery && seq_geq(c->snd_una, f->recover)) {
		f->in_recovery = false;
		tcp_cc_recovered(&c->cc, n->now);
	}
	if ((!fresh && !a->ece) || f->in_recovery)
		return;
	f->in_recovery = true;
	f->recover = c->snd_nxt;
	tcp_cc_congestion(&c->cc, fresh ? TCP_CC_LOSS : TCP_CC_ECN, a->prior_in_flight, n->now);
	if (!c->cc.ops->owns_cwnd)
		c->cc.cwnd = c->cc.ssthresh;
}

static void note(struct net *n, struct net_flow *f, uint32_t bytes)
{
	unsigned second = (unsigned)((n->now - f->start) / NET_SECOND);

	f->delivered += bytes;
	if (second < NET_SECONDS)
		f->bytes_per_s[second] += bytes;
}

/** The packets in front have been decided about, up to one that arrived: its ACK comes. */
static void acknowledge(struct net *n, struct net_flow *f)
{
	struct tcp_conn *c = &f->c;
	struct tcp_delivery d = {.any = true};
	struct tcp_rate_sample rate;
	struct tcp_cc_ack a = {.now = n->now, .prior_in_flight = tcp_pipe(c), .rate = &rate};
	bool fresh = false;

	f->s.now = n->now;
	if (a.prior_in_flight + NET_SMSS > c->cc.cwnd && n->now >= f->next_send)
		f->limited = c->snd_nxt;
	a.cwnd_limited = seq_leq(c->snd_una, f->limited);
	while (f->head != f->tail && at(f, f->head)->arrives <= n->now) {
		struct net_packet *p = at(f, f->head++);

		c->snd_una += NET_SMSS;
		if (p->lost) {
			a.lost += NET_SMSS;
			fresh |= seq_geq(p->r.seq, f->recover);
			continue;
		}
		d.newest = p->r;
		d.delivered += NET_SMSS;
		a.ece |= p->marked;
		a.rtt = n->now - p->r.sent_at;
	}
	c->sendq.total_lost += a.lost;
	f->losses += a.lost / NET_SMSS;
	measure(f, a.rtt);
	a.srtt = c->rto.srtt;
	a.acked = a.delivered = d.acked = d.delivered;
	react(n, f, &a, fresh);
	a.in_recovery = f->in_recovery;
	a.in_flight = tcp_pipe(c);
	a.snd_una = c->snd_una;
	a.snd_nxt = c->snd_nxt;
	note(n, f, d.delivered);
	tcp_rate_take(c, &d, &rate);
	tcp_cc_on_ack(&c->cc, &a);
	if (c->cc.held_back)
		tcp_rate_app_limited(c, a.in_flight);
}

/** When the next ACK comes: that of the first packet which arrived, or of those it waits for. */
static uint64_t next_ack(const struct net *n, const struct net_flow *f)
{
	uint32_t i = f->head, left = n->cfg.acks ? n->cfg.acks : 1;
	uint64_t when = UINT64_MAX;

	for (; i != f->tail && left; i++) {
		if (at(f, i)->lost)
			continue;
		when = at(f, i)->arrives;
		left--;
	}
	return when;
}

static uint64_t next_send(const struct net *n, const struct net_flow *f)
{
	if (tcp_pipe(&f->c) + NET_SMSS > f->c.cc.cwnd || f->tail - f->head >= f->cap - 1)
		return UINT64_MAX;
	return u64_max(u64_max(f->next_send, f->start), n->now);
}

void net_run(struct net *n, uint64_t ns)
{
	uint64_t end = n->now + ns;

	for (;;) {
		uint64_t when = UINT64_MAX;
		struct net_flow *who = NULL;
		bool ack = false;

		for (unsigned i = 0; i < n->n; i++) {
			uint64_t a = next_ack(n, &n->flow[i]), s = next_send(n, &n->flow[i]);

			if (u64_min(a, s) >= when)
				continue;
			when = u64_min(a, s);
			who = &n->flow[i];
			ack = a <= s;
		}
		if (!who || when > end)
			break;
		n->now = when;
		if (ack)
			acknowledge(n, who);
		else
			send(n, who);
	}
	n->now = end;
}

unsigned net_share(const struct net *n, unsigned i, unsigned from, unsigned to)
{
	uint64_t sum = 0;

	for (unsigned s = from; s < to; s++)
		sum += n->flow[i].bytes_per_s[s];
	return (unsigned)(sum * 1000 / (n->cfg.rate * (to - from)));
}
