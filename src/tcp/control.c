/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/control.h"

#include "tcp/buffer.h"
#include "tcp/ecn.h"
#include "tcp/listen.h"
#include "tcp/segment.h"
#include "tcp/timers.h"

#include <errno.h>
#include <rte_mbuf.h>

/** RFC 5961 section 7's figures, per connection. */
#define CHALLENGES          10
#define CHALLENGE_PERIOD_MS 5000
/** And for all together in a second, half of it more or less (RFC 5961 section 7). */
#define ALL_CHALLENGES 1000
#define ALL_PERIOD     (1000 * TCP_MS)

/**
 * SEG.SEQ of a segment without text: SND.NXT, or where the window ends now, if the peer has taken
 * it back over text in flight (RFC 9293 section 3.8.6). Beyond that it would not look at the
 * segment (section 3.10.7.4): it would miss our ACKs of its own text, or a reset.
 */
static uint32_t tcp_control_seq(const struct tcp_conn *c)
{
	uint32_t edge = c->snd_una + c->snd_wnd;
	/* Told in units, it may reach a little further (RFC 7323 section 2.4). */
	uint32_t rest = c->snd_wnd ? (1u << c->snd_wscale) - 1 : 0;

	/* What a SYN takes is in no window. */
	return tcp_synchronized(c) && seq_lt(edge + rest, c->snd_nxt) ? edge : c->snd_nxt;
}

void tcp_send_ack(struct tcp_conn *c)
{
	struct tcp_segment h;

	tcp_segment_begin(c, &h, tcp_control_seq(c), TCP_ACK);
	tcp_segment_add_sack(c, &h, 40);
	if (tcp_segment_send_bare(c, &h) == -ENOMEM) {
		c->ack_now = true; /* again in the next round, or soon */
		c->delack_at = c->s->now + TCP_MS;
		tcp_timers_arm(c, c->delack_at);
		tcp_conn_mark_dirty(c);
		return;
	}
	tcp_segment_acknowledged(c);
}

uint16_t tcp_syn_window(const struct tcp_stack *s)
{
	uint32_t fixed = s->cfg.receive_buffer;

	return (uint16_t)u32_min(fixed ? fixed : TCP_RECEIVE_BUFFER_MIN, 65535u);
}

/**
 * What a SYN of ours offers; SYN,ACKs then leave out what the peer did not. The MSS is what we can
 * receive (RFC 9293 section 3.7.1): a path that is narrow now may widen while we are connected.
 */
static struct tcp_segment tcp_control_our_syn(
	const struct tcp_stack *s, const struct tcp_tuple *id, uint16_t mtu, uint32_t iss)
{
	unsigned iphdr = ip_addr_is_v4(&id->remote) ? 20 : 40;
	struct tcp_segment h = {.sport = id->lport,
		.dport = id->rport,
		.seq = iss,
		.flags = TCP_SYN,
		.wnd = tcp_syn_window(s),
		.has = TCP_HAS_MSS,
		.mss = (uint16_t)(mtu - iphdr - TCP_HEADER_LEN),
		.wscale = s->rcv_wscale,
		.tsval = tcp_conn_tsval(s, id)};

	if (!s->cfg.no_window_scale)
		h.has |= TCP_HAS_WSCALE;
	if (!s->cfg.no_sack)
		h.has |= TCP_HAS_SACK_PERMITTED;
	if (!s->cfg.no_timestamps)
		h.has |= TCP_HAS_TS;
	return h;
}

void tcp_send_syn(struct tcp_conn *c)
{
	struct tcp_segment h = tcp_control_our_syn(c->s, &c->id, c->path.link_mtu, c->snd_una);

	h.flags |= tcp_ecn_syn_flags(c);
	if (c->state == TCP_SYN_RECEIVED) { /* a simultaneous open */
		h.flags |= TCP_ACK;
		h.ack = c->rcv_nxt;
		h.tsecr = c->ts_recent;
		h.has = (uint8_t)(TCP_HAS_MSS | (c->wscale_on ? TCP_HAS_WSCALE : 0) |
				  (c->sack_on ? TCP_HAS_SACK_PERMITTED : 0) |
				  (c->ts_on ? TCP_HAS_TS : 0));
	}
	if (c->syn_sent_n < UINT8_MAX / 2)
		c->syn_sent_n++;
	c->hop_dead = tcp_segment_send_bare(c, &h) == -EHOSTUNREACH;
	if (c->hop_dead)
		c->soft_error = -EHOSTUNREACH;
	c->syn_unmeasured = ip_path_waits(&c->path);
}

void tcp_send_rst(struct tcp_conn *c)
{
	struct tcp_segment h;

	tcp_segment_begin(c, &h, tcp_control_seq(c), TCP_RST | TCP_ACK);
	c->s->stats.resets_out++;
	tcp_segment_send_bare(c, &h);
}

void tcp_send_keepalive(struct tcp_conn *c)
{
	struct tcp_segment h;

	tcp_segment_begin(c, &h, c->snd_nxt - 1, TCP_ACK);
	tcp_segment_send_bare(c, &h);
}

/** Of all connections together. @return false: not now. */
static bool tcp_control_challenge_allowed(struct tcp_stack *s)
{
	if (!s->challenge_at || s->now - s->challenge_at >= ALL_PERIOD) {
		/* A fixed number could be counted down from outside, to learn what another
		 * connection has used of it (Cao et al., "Off-Path TCP Exploits", 2016). */
		s->challenges = ALL_CHALLENGES / 2 + random_u32(&s->cfg.random) % ALL_CHALLENGES;
		s->challenge_at = s->now;
	}
	if (!s->challenges)
		return false;
	s->challenges--;
	return true;
}

/** Of one connection. @return false: not now. */
static bool tcp_control_challenge_left(struct tcp_conn *c)
{
	if (c->s->now_ms - c->challenge_ms >= CHALLENGE_PERIOD_MS) {
		c->challenge_ms = c->s->now_ms;
		c->challenges = 0;
	}
	return c->challenges < CHALLENGES;
}

void tcp_challenge_ack(struct tcp_conn *c)
{
	if (!tcp_control_challenge_left(c) || !tcp_control_challenge_allowed(c->s)) {
		c->s->stats.challenge_acks_limited++;
		return;
	}
	c->challenges++;
	c->s->stats.challenge_acks++;
	tcp_send_ack(c);
}

void tcp_answer_probe(struct tcp_conn *c)
{
	if (!tcp_control_challenge_left(c)) {
		c->s->stats.challenge_acks_limited++;
		return;
	}
	c->challenges++;
	tcp_send_ack(c);
}

/** Send a header that belongs to no connection. */
static void tcp_control_send_stateless(struct tcp_stack *s, const struct ip_addr *src,
	const struct ip_addr *dst, struct tcp_segment *h, uint8_t tos)
{
	struct ip_path path = {.tos = tos};
	struct rte_mbuf *m;

	if (ip_path_init(s->cfg.ip, &path, src, dst, s->now))
		return;
	m = tcp_stack_packet(s);
	if (!m)
		return;
	if (h->has & TCP_HAS_MSS) /* a SYN: only the path knows */
		h->mss =
			(uint16_t)(path.link_mtu - (ip_addr_is_v4(dst) ? 20 : 40) - TCP_HEADER_LEN);
	m->data_len = (uint16_t)tcp_wire_emit(h, rte_pktmbuf_mtod(m, uint8_t *));
	m->pkt_len = m->data_len;
	s->stats.segments_out++;
	ip_send(s->cfg.ip, &path, IP_PROTO_TCP, m, s->now);
}

/** The same of a half-open connection of @p l. */
static void tcp_control_send_half_open(
	const struct tcp_listener *l, const struct tcp_syn_request *e, struct tcp_segment *h)
{
	tcp_control_send_stateless(l->s, &e->id.local, &e->id.remote, h, l->tos);
}

void tcp_send_syn_ack(const struct tcp_listener *l, const struct tcp_syn_request *e, bool cookie)
{
	struct tcp_segment h = tcp_control_our_syn(l->s, &e->id, UINT16_MAX, e->iss);

	h.flags |= e->ecn && !e->ecn_doubted ? TCP_ACK | TCP_ECE : TCP_ACK;
	h.ack = e->irs + 1;
	h.tsecr = e->ts_recent;
	h.has &= e->has | TCP_HAS_MSS;
	if (cookie && (h.has & TCP_HAS_TS)) {
		const struct tcp_cookie_options o = {
			.has = e->has, .wscale = e->wscale, .ecn = e->ecn};

		h.tsval = tcp_cookie_stamp(h.tsval, &o);
	}
	tcp_control_send_half_open(l, e, &h);
}

/** What every other segment of a half-open connection has. */
static struct tcp_segment tcp_control_syn_request_header(
	const struct tcp_stack *s, const struct tcp_syn_request *e, uint8_t flags)
{
	return (struct tcp_segment){.sport = e->id.lport,
		.dport = e->id.rport,
		.seq = e->iss + 1,
		.ack = e->irs + 1,
		.flags = flags,
		.wnd = tcp_syn_window(s),
		.has = e->has & TCP_HAS_TS,
		.tsval = tcp_conn_tsval(s, &e->id),
		.tsecr = e->ts_recent};
}

void tcp_reply_challenge(const struct tcp_listener *l, const struct tcp_syn_request *e)
{
	struct tcp_stack *s = l->s;
	struct tcp_segment h = tcp_control_syn_request_header(s, e, TCP_ACK);

	if (!tcp_control_challenge_allowed(s)) {
		s->stats.challenge_acks_limited++;
		return;
	}
	if (e->has & TCP_HAS_WSCALE)
		h.wnd = (uint16_t)(h.wnd >> s->rcv_wscale);
	s->stats.challenge_acks++;
	tcp_control_send_half_open(l, e, &h);
}

void tcp_send_syn_request_rst(const struct tcp_listener *l, const struct tcp_syn_request *e)
{
	struct tcp_segment h = tcp_control_syn_request_header(l->s, e, TCP_RST | TCP_ACK);

	l->s->stats.resets_out++;
	tcp_control_send_half_open(l, e, &h);
}

void tcp_reply_rst(struct tcp_stack *s, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	struct tcp_segment h = {.sport = seg->dport, .dport = seg->sport, .flags = TCP_RST};

	if ((seg->flags & TCP_RST) || ip_addr_is_multicast(&rx->src))
		return;
	if (seg->flags & TCP_ACK) {
		h.seq = seg->ack;
	} else {
		h.ack = seg->seq + tcp_segment_space(seg);
		h.flags |= TCP_ACK;
	}
	s->stats.resets_out++;
	tcp_control_send_stateless(s, &rx->dst, &rx->src, &h, 0);
}
