/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/output.h"

#include "base/bytes.h"
#include "tcp/buffer.h"
#include "tcp/ecn.h"
#include "tcp/loss.h"
#include "tcp/pmtu.h"
#include "tcp/timers.h"
#include "tcp/undo.h"

#include <errno.h>

/** RFC 5961 section 7's figures, per connection. */
#define CHALLENGES          10
#define CHALLENGE_PERIOD_MS 5000
/** And for all together in a second, half of it more or less (RFC 5961 section 7). */
#define ALL_CHALLENGES 1000
#define ALL_PERIOD     (1000 * TCP_MS)

_Static_assert(RTE_PKTMBUF_HEADROOM >= IP_HEADROOM + TCP_HEADER_MAX, "headers fit the headroom");

/** @return what to write into the window field; moves the edge that we have promised. */
static uint16_t advertise(struct tcp_conn *c)
{
	uint32_t buffer = tcp_rcv_buffer(c), edge = tcp_buffer_edge(c);
	uint32_t wnd, unit = 1u << c->rcv_wscale;

	/* RFC 9293 section 3.8.6.2.2: no small steps; and never back (section 3.8.6, SHLD-14). */
	if (seq_gt(edge, c->rcv_adv) && edge - c->rcv_adv >= tcp_buffer_step(c))
		c->rcv_adv = edge;
	/* Rounded up: rounded down it would take back what was told (RFC 7323 section 2.4). Only
	 * a peer that sends less than a unit at a time into a full buffer has to bear with that:
	 * the window would never close. */
	wnd = tcp_rcv_wnd(c) + unit - 1;
	if (c->rcv_nxt - c->last_ack_sent < unit && c->recvq.bytes + wnd > buffer + buffer / 8)
		wnd = tcp_rcv_wnd(c);
	wnd >>= c->rcv_wscale;
	if (wnd > 65535) {
		wnd = 65535;
		c->rcv_adv = c->rcv_nxt + (wnd << c->rcv_wscale);
	}
	c->rcv_adv = seq_max(c->rcv_adv, c->rcv_nxt + (wnd << c->rcv_wscale));
	return (uint16_t)wnd;
}

/**
 * The ACK in the segment being built is the newest: nothing more is owed, unless it had no room
 * for what SACK has to tell.
 */
static void acknowledged(struct tcp_conn *c)
{
	c->last_ack_sent = c->rcv_nxt;
	c->ack_now = c->early && c->sack_on && tcp_sack_is_news(&c->early->sack);
	c->delack_at = TIMER_NEVER;
}

static void count_out(struct tcp_conn *c)
{
	c->segments_out++;
	c->s->stats.segments_out++;
}

/** Fill in what every segment of a synchronized connection has. */
static void prepare(struct tcp_conn *c, struct tcp_segment *h, uint32_t seq, uint8_t flags)
{
	h->sport = c->id.lport;
	h->dport = c->id.rport;
	h->seq = seq;
	h->ack = c->rcv_nxt;
	h->flags = flags;
	h->wnd = advertise(c);
	if (c->ecn.echo && !(flags & TCP_RST)) /* RFC 3168 section 6.1.3 */
		h->flags |= TCP_ECE;
	h->has = 0;
	h->n_sack = 0;
	if (c->ts_on) {
		h->has = TCP_HAS_TS;
		h->tsval = c->s->now_ms + c->ts_offset;
		h->tsecr = c->ts_recent;
	}
}

/** SACK blocks into @p h, as many as fit @p room bytes of options. */
static void add_sack(struct tcp_conn *c, struct tcp_segment *h, uint32_t room)
{
	uint32_t most = tcp_sack_blocks(c);

	if (likely(!c->early) || !c->sack_on || room < 12)
		return;
	tcp_sack_emit(&c->early->sack, &c->early->ooo, h, u32_min((room - 4) / 8, most));
}

static int send_packet(struct tcp_conn *c, struct rte_mbuf *m)
{
	count_out(c);
	return ip_send(c->s->cfg.ip, &c->path, IP_PROTO_TCP, m, c->s->now);
}

/** A segment of nothing but a header. @return 0 or a negative errno. */
static int send_bare(struct tcp_conn *c, const struct tcp_segment *h)
{
	struct rte_mbuf *m = tcp_stack_packet(c->s);
	unsigned len = tcp_wire_len(h);

	if (!m)
		return -ENOMEM;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	tcp_wire_emit(h, rte_pktmbuf_mtod(m, uint8_t *));
	return send_packet(c, m);
}

void tcp_send_ack(struct tcp_conn *c)
{
	struct tcp_segment h;

	prepare(c, &h, c->snd_nxt, TCP_ACK);
	add_sack(c, &h, 40);
	if (send_bare(c, &h) == -ENOMEM) {
		c->ack_now = true; /* again in the next round, or soon */
		c->delack_at = c->s->now + TCP_MS;
		tcp_timers_arm(c, c->delack_at);
		tcp_conn_touch(c);
		return;
	}
	acknowledged(c);
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
static struct tcp_segment our_syn(
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
	struct tcp_segment h = our_syn(c->s, &c->id, c->path.link_mtu, c->iss);

	h.flags |= tcp_ecn_syn_flags(c);
	if (c->state == TCP_SYN_RECEIVED) { /* a simultaneous open */
		h.flags |= TCP_ACK;
		h.ack = c->rcv_nxt;
		h.tsecr = c->ts_recent;
		h.has = (uint8_t)(TCP_HAS_MSS | (c->wscale_on ? TCP_HAS_WSCALE : 0) |
				  (c->sack_on ? TCP_HAS_SACK_PERMITTED : 0) |
				  (c->ts_on ? TCP_HAS_TS : 0));
	}
	if (c->syn_sent_n < UINT8_MAX)
		c->syn_sent_n++;
	c->hop_dead = send_bare(c, &h) == -EHOSTUNREACH;
	if (c->hop_dead)
		c->soft_error = -EHOSTUNREACH;
}

void tcp_send_rst(struct tcp_conn *c)
{
	struct tcp_segment h;

	prepare(c, &h, c->snd_nxt, TCP_RST | TCP_ACK);
	c->s->stats.resets_out++;
	send_bare(c, &h);
}

void tcp_send_keepalive(struct tcp_conn *c)
{
	struct tcp_segment h;

	prepare(c, &h, c->snd_nxt - 1, TCP_ACK);
	send_bare(c, &h);
}

/** Of all connections together. @return false: not now. */
static bool challenge_allowed(struct tcp_stack *s)
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

void tcp_challenge_ack(struct tcp_conn *c)
{
	if (c->s->now_ms - c->challenge_ms >= CHALLENGE_PERIOD_MS) {
		c->challenge_ms = c->s->now_ms;
		c->challenges = 0;
	}
	if (c->challenges >= CHALLENGES || !challenge_allowed(c->s)) {
		c->s->stats.challenge_acks_limited++;
		return;
	}
	c->challenges++;
	c->s->stats.challenge_acks++;
	tcp_send_ack(c);
}

/** Send a header that belongs to no connection. */
static void send_stateless(struct tcp_stack *s, const struct ip_addr *src,
	const struct ip_addr *dst, struct tcp_segment *h)
{
	struct ip_path path = {0};
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

void tcp_send_syn_ack(struct tcp_stack *s, const struct tcp_embryo *e, bool cookie)
{
	struct tcp_segment h = our_syn(s, &e->id, UINT16_MAX, e->iss);

	h.flags |= e->ecn ? TCP_ACK | TCP_ECE : TCP_ACK;
	h.ack = e->irs + 1;
	h.tsecr = e->ts_recent;
	h.has &= e->has | TCP_HAS_MSS;
	if (cookie && (h.has & TCP_HAS_TS)) {
		const struct tcp_cookie_options o = {
			.has = e->has, .wscale = e->wscale, .ecn = e->ecn};

		h.tsval = tcp_cookie_stamp(h.tsval, &o);
	}
	send_stateless(s, &e->id.local, &e->id.remote, &h);
}

/** What every other segment of a half-open connection has. */
static struct tcp_segment embryo_header(
	const struct tcp_stack *s, const struct tcp_embryo *e, uint8_t flags)
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

void tcp_reply_challenge(struct tcp_stack *s, const struct tcp_embryo *e)
{
	struct tcp_segment h = embryo_header(s, e, TCP_ACK);

	if (!challenge_allowed(s)) {
		s->stats.challenge_acks_limited++;
		return;
	}
	if (e->has & TCP_HAS_WSCALE)
		h.wnd = (uint16_t)(h.wnd >> s->rcv_wscale);
	s->stats.challenge_acks++;
	send_stateless(s, &e->id.local, &e->id.remote, &h);
}

void tcp_send_embryo_rst(struct tcp_stack *s, const struct tcp_embryo *e)
{
	struct tcp_segment h = embryo_header(s, e, TCP_RST | TCP_ACK);

	s->stats.resets_out++;
	send_stateless(s, &e->id.local, &e->id.remote, &h);
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
	send_stateless(s, &rx->dst, &rx->src, &h);
}

/** RFC 3168 sections 6.1.4 to 6.1.6: text that was never sent before, and no window probes. */
static bool is_new_text(const struct tcp_conn *c, const struct tcp_record *r)
{
	return seq_geq(r->seq, c->snd_max) && !c->persist;
}

/** Put the header before record @p r's text, in the mbuf's headroom, and send a reference. */
static int send_text(struct tcp_conn *c, struct tcp_record *r, bool last)
{
	bool ect = tcp_ecn_capable(c) && is_new_text(c, r);
	int err;

	struct tcp_segment h;
	struct rte_mbuf *m = r->m;
	unsigned hlen;

	prepare(c, &h, r->seq, last ? TCP_ACK | TCP_PSH : TCP_ACK);
	if (ect && c->cwr_pending) { /* section 6.1.2: on the first new text */
		h.flags |= TCP_CWR;
		c->cwr_pending = false;
	}
	if (c->emss > r->len)
		add_sack(c, &h, c->emss - r->len);
	hlen = tcp_wire_len(&h);
	m->data_off = (uint16_t)(r->off - hlen);
	m->data_len = (uint16_t)(hlen + r->len);
	m->pkt_len = m->data_len;
	m->ol_flags = 0;
	tcp_wire_emit(&h, rte_pktmbuf_mtod(m, uint8_t *));
	rte_mbuf_refcnt_update(m, 1);
	acknowledged(c);
	c->bytes_sent += r->len;
	c->s->stats.bytes_out += r->len;
	c->path.tos |= ect ? TCP_ECN_ECT0 : 0;
	err = send_packet(c, m);
	c->path.tos &= (uint8_t)~TCP_ECN_MASK;
	return err;
}

int tcp_send_copy(struct tcp_conn *c, uint32_t seq, uint32_t len)
{
	uint32_t i = tcp_sendq_find(&c->sendq, seq), done = 0;
	struct rte_mbuf *m = tcp_stack_packet(c->s);
	struct tcp_segment h;
	char *p;

	if (!m)
		return -ENOMEM;
	p = rte_pktmbuf_append(m, (uint16_t)len);
	for (; done < len; i++) {
		const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
		uint32_t from = seq + done - r->seq, n = u32_min(r->len - from, len - done);

		memcpy(p + done, tcp_record_text(r) + from, n);
		done += n;
	}
	prepare(c, &h, seq, TCP_ACK);
	tcp_wire_emit(&h, (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)tcp_wire_len(&h)));
	acknowledged(c);
	return send_packet(c, m);
}

/** Make record @p i fit for sending: not larger than a segment, nor still with the port. */
static int ready_record(struct tcp_conn *c, uint32_t i)
{
	struct tcp_stack *s = c->s;
	struct tcp_record *r = tcp_sendq_at(&c->sendq, i);

	if (r->len > c->emss) {
		/* A peer with a tiny MSS must not have us fill the pool with cuttings: the next
		 * waits until one of those in flight is acknowledged. */
		if (s->tx_held >= s->tx_limit && tcp_flight(c))
			return -ENOMEM;
		if (tcp_sendq_split(&c->sendq, i, c->emss, s->cfg.pool))
			return -ENOMEM;
		s->tx_held++;
		r = tcp_sendq_at(&c->sendq, i);
	}
	if (rte_mbuf_refcnt_read(r->m) > 1 && tcp_sendq_renew(&c->sendq, i, s->cfg.pool))
		return -ENOMEM;
	return 0;
}

static int send_fin(struct tcp_conn *c, const struct tcp_record *r)
{
	struct tcp_segment h;
	int err;

	prepare(c, &h, r->seq, TCP_FIN | TCP_ACK);
	add_sack(c, &h, 40);
	err = send_bare(c, &h);
	if (err != -ENOMEM)
		acknowledged(c);
	return err;
}

/** Send record @p i. What the network refuses counts as sent: the timer brings it back. */
static int send_record(struct tcp_conn *c, uint32_t i)
{
	struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	int err;

	if (r->flags & TCP_REC_FIN) {
		err = send_fin(c, r);
	} else {
		if (ready_record(c, i)) {
			c->s->stats.pool_empty++;
			return -ENOMEM;
		}
		r = tcp_sendq_at(&c->sendq, i);
		err = send_text(c, r, i + 1 == c->sendq.count);
		if (err == -EMSGSIZE) { /* the path shrank under us: cut and try once more */
			tcp_pmtu_path_changed(c);
			if (ready_record(c, i))
				return -ENOMEM;
			r = tcp_sendq_at(&c->sendq, i);
			err = send_text(c, r, i + 1 == c->sendq.count);
		}
	}
	if (err == -ENOMEM)
		return err;
	if (err)
		c->soft_error = err;
	return 0;
}

/** There is something that has not been sent, and the user has let go of it. */
static bool more_to_send(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;

	return q->nxt < q->count && seq_lt(tcp_sendq_at(q, q->nxt)->seq, c->push_seq);
}

/** The first record that has not been sent fits into the peer's window. */
static bool window_allows(const struct tcp_conn *c)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, c->sendq.nxt);

	/* A record is not cut to fit the window: that is also the sender's part in avoiding silly
	 * windows (RFC 9293 section 3.8.6.2.1). When nothing is in flight, probes go out. */
	return seq_leq(r->seq + u32_min(tcp_record_space(r), c->emss), c->snd_una + c->snd_wnd);
}

bool tcp_may_send_new(const struct tcp_conn *c)
{
	return more_to_send(c) && window_allows(c);
}

/** Does cwnd allow @p len bytes? Nothing in flight: one record may always go. */
static bool cwnd_allows(struct tcp_conn *c, uint32_t len)
{
	uint32_t p = tcp_pipe(c);

	if (!p || p + u32_min(len, c->emss) <= c->cc.cwnd)
		return true;
	c->cwnd_limited = c->snd_nxt;
	return false;
}

/** Which record goes next? @return false if the queue is empty or a window forbids it. */
static bool next_record(struct tcp_conn *c, uint32_t *i)
{
	const struct tcp_sendq *q = &c->sendq;

	*i = tcp_sendq_first_lost(q);
	if (*i < q->nxt && c->rec.frto != TCP_FRTO_TRY)
		return c->rtx_first ||
		       (c->rec.frto == TCP_FRTO_OFF && cwnd_allows(c, tcp_sendq_at(q, *i)->len));
	*i = q->nxt;
	if (!tcp_may_send_new(c))
		return false;
	/* RFC 5682 section 3.1, step 2b. */
	if (c->rec.frto == TCP_FRTO_TRY)
		return c->rec.frto_left > 0;
	return cwnd_allows(c, tcp_sendq_at(q, *i)->len);
}

static void run_timer(struct tcp_conn *c, bool sent)
{
	if (tcp_flight(c)) {
		if (sent || c->persist || c->rtx_at == TIMER_NEVER) {
			c->persist = false;
			tcp_loss_sent(c);
		}
	} else if (!more_to_send(c)) {
		c->persist = false;
		c->rtx_at = TIMER_NEVER;
	} else if (!c->persist) {
		tcp_timers_start_persist(c);
	}
}

static void account_again(struct tcp_conn *c, uint32_t i)
{
	c->rtx_first = false;
	c->retransmits++;
	c->s->stats.retransmits++;
	/* The timeout is for the oldest byte, and for its last transmission. */
	if (i == 0)
		c->rec.rto_from = c->s->now;
}

static void account_new(struct tcp_conn *c, const struct tcp_record *r)
{
	if (tcp_flight(c) == 0)
		c->progress_at = c->rec.rto_from = c->s->now;
	if (c->rec.frto_left)
		c->rec.frto_left--;
	c->snd_nxt = tcp_record_end(r);
	c->snd_max = seq_max(c->snd_max, c->snd_nxt);
}

static void account_sent(struct tcp_conn *c, uint32_t i)
{
	struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	uint32_t in_flight = tcp_pipe(c);

	tcp_rate_on_sent(c, r, in_flight);
	tcp_pace_sent(c, r->len, in_flight);
	if (i < c->sendq.nxt)
		account_again(c, i);
	else
		account_new(c, r);
	tcp_sendq_sent(&c->sendq, i, c->s->now);
}

/** Nothing is in flight: is what congestion control knew of the path still true? */
static void begin_flight(struct tcp_conn *c)
{
	uint64_t idle = c->s->now - c->progress_at;

	if (idle < c->rto.srtt)
		return;
	tcp_cc_restart(&c->cc, idle, tcp_rto_get(&c->rto), c->s->now);
	tcp_pace_restart(c);
}

/** @return false if what waits, waits for its time. */
static bool send_allowed(struct tcp_conn *c, bool *sent)
{
	uint32_t i;

	while (next_record(c, &i)) {
		if (i < c->sendq.nxt && tcp_pmtu_suspect(c, i))
			continue;
		if (!tcp_pace_may_send(c))
			return false;
		if (send_record(c, i)) {
			tcp_conn_touch(c); /* no packet: again in the next round */
			break;
		}
		tcp_prr_sent(&c->rec.prr, tcp_sendq_at(&c->sendq, i)->len);
		if (i < c->sendq.nxt)
			tcp_undo_rexmit(c, tcp_sendq_at(&c->sendq, i)->len);
		account_sent(c, i);
		*sent = true;
	}
	return true;
}

void tcp_output(struct tcp_conn *c)
{
	bool sent = false;

	if (!tcp_in(c, TCP_STATES_SENDING) || !c->sendq.count)
		return;
	if (c->path.mtu != c->path_mtu)
		tcp_pmtu_path_changed(c);
	if (tcp_flight(c) == 0 && more_to_send(c))
		begin_flight(c);
	if (send_allowed(c, &sent)) {
		tcp_pace_idle(c);
		if (!more_to_send(c) && tcp_pipe(c) < c->cc.cwnd)
			tcp_rate_app_limited(c, tcp_pipe(c));
	}
	run_timer(c, sent);
	if (c->pmtu)
		tcp_pmtu_consider(c);
}

int tcp_send_loss_probe(struct tcp_conn *c)
{
	bool again = !tcp_may_send_new(c);
	uint32_t i = c->sendq.nxt - again;

	if (!tcp_in(c, TCP_STATES_SENDING) || !tcp_flight(c) || send_record(c, i))
		return -1;
	account_sent(c, i);
	return again;
}

void tcp_send_window_probe(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	struct tcp_record *r;

	if (q->nxt >= q->count || send_record(c, q->nxt))
		return;
	/* SND.NXT stays: the window forbids it. But the peer may have opened it and take this. */
	r = tcp_sendq_at(q, q->nxt);
	r->flags |= TCP_REC_KARN;
	c->snd_max = seq_max(c->snd_max, tcp_record_end(r));
}
