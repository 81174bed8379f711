/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/listen.h"

#include "base/container_of.h"
#include "tcp/conn.h"
#include "tcp/control.h"
#include "tcp/ecn.h"
#include "tcp/input.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdlib.h>

/** RFC 1122 section 4.2.2.13's increment between incarnations, as 4.4BSD. */
#define ISS_STEP 128000
/** A listener has room for so many half-open connections, however small its backlog (as Linux). */
#define SYNQ_MIN 8

static uint32_t tcp_listen_synq_limit(unsigned backlog)
{
	return u32_max(backlog, SYNQ_MIN);
}

static struct tcp_listener **tcp_listen_chain_of(struct tcp_stack *s, uint16_t port)
{
	return &s->by_port[port & (TCP_LISTENER_CHAINS - 1)];
}

int tcp_listen(struct tcp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct tcp_listener **out)
{
	struct tcp_listener *l;
	unsigned flags;
	int err;

	if (!ip_addr_is_any(&local->addr) && !ip_addr_is_local(s->cfg.ip, &local->addr))
		return -EADDRNOTAVAIL;
	for (l = *tcp_listen_chain_of(s, local->port); l; l = l->port_next)
		if (l->local.port == local->port && ip_addr_equal(&l->local.addr, &local->addr))
			return -EADDRINUSE;
	if (!s->synq.bucket && tcp_synq_init(&s->synq, s->cfg.max_half_open, &s->table.key))
		return -ENOMEM;
	l = malloc(sizeof *l);
	if (!l)
		return -ENOMEM;
	/* Last, as it changes the reservation. */
	err = tcp_ports_listen(&s->ports, local, &flags);
	if (err) {
		free(l);
		return err;
	}
	*l = (struct tcp_listener){.next = s->listeners,
		.port_next = *tcp_listen_chain_of(s, local->port),
		.s = s,
		.local = *local,
		.flags = flags,
		.synq_limit = tcp_listen_synq_limit(backlog),
		.cc = s->cc,
		.accept = accept,
		.user = user};
	l->synq.tail = &l->synq.oldest;
	s->listeners = *tcp_listen_chain_of(s, local->port) = l;
	*out = l;
	return 0;
}

void tcp_listener_set_backlog(struct llp_listener *l, unsigned backlog)
{
	((struct tcp_listener *)(void *)l)->synq_limit = tcp_listen_synq_limit(backlog);
}

void tcp_unlisten(struct tcp_listener *l)
{
	struct tcp_stack *s = l->s;
	struct tcp_listener **p = &s->listeners;

	while (l->synq.oldest) {
		tcp_send_syn_request_rst(l, &l->synq.oldest->e);
		tcp_synq_drop(l->synq.oldest);
	}
	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	for (p = tcp_listen_chain_of(s, l->local.port); *p != l;)
		p = &(*p)->port_next;
	*p = l->port_next;
	free(l);
}

/** 3: the exact address; 2: 0.0.0.0 for IPv4; 1: [::] for both; 0: not for it. */
static unsigned tcp_listen_fits(const struct tcp_listener *l, const struct ip_endpoint *local)
{
	if (ip_addr_equal(&l->local.addr, &local->addr))
		return l->local.port == local->port ? 3 : 0;
	if (!ip_addr_is_any(&l->local.addr) ||
		!tcp_endpoint_overlaps(&l->local, l->flags, local, 0))
		return 0;
	return ip_addr_is_v4(&l->local.addr) ? 2 : 1;
}

struct tcp_listener *tcp_listener_find(struct tcp_stack *s, const struct ip_endpoint *local)
{
	struct tcp_listener *best = NULL;
	unsigned best_fit = 0;

	for (struct tcp_listener *l = *tcp_listen_chain_of(s, local->port); l; l = l->port_next) {
		unsigned f = tcp_listen_fits(l, local);

		if (f > best_fit) {
			best = l;
			best_fit = f;
		}
	}
	return best;
}

/** What to remember of a SYN: its options as far as we take them. */
static struct tcp_syn_request tcp_listen_syn_request_of(
	const struct tcp_stack *s, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	const struct tcp_stack_config *cfg = &s->cfg;
	struct tcp_syn_request e = {.id = {rx->dst, rx->src, seg->dport, seg->sport},
		.irs = seg->seq,
		.ts_recent = seg->tsval,
		.mss = seg->mss,
		.wnd = seg->wnd,
		.has = seg->has,
		.wscale = seg->wscale,
		.ecn = tcp_ecn_offered(cfg, rx, seg)};

	if (cfg->no_window_scale)
		e.has &= (uint8_t)~TCP_HAS_WSCALE;
	if (cfg->no_sack)
		e.has &= (uint8_t)~TCP_HAS_SACK_PERMITTED;
	if (cfg->no_timestamps)
		e.has &= (uint8_t)~TCP_HAS_TS;
	return e;
}

/** Answer without remembering anything (RFC 4987 section 3.6). */
static void tcp_listen_answer_with_cookie(
	struct tcp_listener *l, struct tcp_syn_request *e, const uint32_t *iss_above)
{
	struct tcp_stack *s = l->s;
	uint16_t mss = e->has & TCP_HAS_MSS ? e->mss : tcp_conn_default_mss(&e->id);

	e->iss = tcp_cookie_make(&s->cookies, &s->cfg.random, &e->id, e->irs, mss, s->now);
	if (iss_above && seq_leq(e->iss, *iss_above)) {
		s->stats.accept_overflows++; /* no cookie will do; its next SYN may find room */
		return;
	}
	if (!(e->has & TCP_HAS_TS)) {
		e->has &= TCP_HAS_MSS;
		e->ecn = false;
	}
	s->stats.syn_cookies_sent++;
	tcp_send_syn_ack(l, e, true);
}

/**
 * A handshake that has to go before one of @p peer may begin; NULL: none. Where it is another
 * listener's, one of this listener may have to go as well: ask again.
 */
static struct tcp_synq_entry *tcp_listen_in_the_way(
	const struct tcp_listener *l, const struct ip_addr *peer)
{
	const struct tcp_synq *all = &l->s->synq;
	const struct tcp_stack_config *cfg = &l->s->cfg;
	const uint32_t most_each = cfg->max_half_open_per_peer;
	bool full = l->synq.count >= l->synq_limit;
	struct peer_charge *charge =
		peer_set_in_the_way(&all->peers, peer, full ? 0 : cfg->max_half_open, most_each);
	struct tcp_synq_entry *h =
		charge ? container_of(charge, struct tcp_synq_entry, charge) : NULL;

	if (!full || (h && h->listener == l))
		return h;
	if (h && most_each && peer_set_count(&all->peers, peer) >= most_each)
		return h; /* what one peer may have is counted over all listeners */
	/* RFC 4987 section 3.3: a peer that answers does so long before its request is the oldest.
	 */
	return l->synq.oldest;
}

static void tcp_listen_syn_arrives(struct tcp_listener *l, const struct ip_rx *rx,
	const struct tcp_segment *seg, const uint32_t *iss_above)
{
	struct tcp_stack *s = l->s;
	struct tcp_syn_request e = tcp_listen_syn_request_of(s, rx, seg);
	struct tcp_synq_entry *old = tcp_listen_in_the_way(l, &rx->src);

	if (!tcp_conn_room(s)) {
		s->stats.accept_overflows++; /* the peer's next SYN may find room */
		return;
	}
	if (s->cfg.syn_cookies == TCP_COOKIES_ALWAYS ||
		(s->cfg.syn_cookies == TCP_COOKIES_AUTO && old)) {
		tcp_listen_answer_with_cookie(l, &e, iss_above);
		return;
	}
	for (; old; old = tcp_listen_in_the_way(l, &rx->src)) {
		tcp_synq_drop(old);
		s->stats.half_recycled++;
	}
	e.iss = tcp_conn_iss(s, &e.id);
	if (iss_above && seq_leq(e.iss, *iss_above))
		e.iss = *iss_above + ISS_STEP;
	if (tcp_synq_add(l, &e))
		s->stats.accept_overflows++;
}

/** @return the connection that grows from @p e, in SYN-RECEIVED, or NULL: there is no room. */
static struct tcp_conn *tcp_listen_grow(struct tcp_listener *l, const struct tcp_syn_request *e)
{
	const struct tcp_segment syn = {.seq = e->irs,
		.wnd = e->wnd,
		.has = e->has,
		.mss = e->mss,
		.wscale = e->wscale,
		.tsval = e->ts_recent};
	struct tcp_conn *c;

	if (tcp_conn_new(l->s, &e->id, TCP_SYN_RECEIVED, &c)) {
		l->s->stats.accept_overflows++;
		return NULL;
	}
	tcp_conn_set_iss(c, e->iss);
	c->passive = true;
	c->listener = l;
	c->cc.ops = l->cc;
	c->path.tos = l->tos;
	c->syn_sent_n = e->syn_sent_n;
	c->syn_unmeasured = e->repeated;
	c->progress_at = e->sent_at;
	c->ecn.on = e->ecn;
	c->ecn.distrusted = e->ecn_doubted; /* marks are echoed all the same: they may be meant */
	tcp_conn_take_syn(c, &syn);
	return c;
}

/**
 * The ACK of our SYN: make the connection and let it take the segment. Owns @p m.
 * @return false if it was not accepted yet, and the handshake's end shall be tried again.
 */
static bool tcp_listen_complete(struct tcp_listener *l, const struct tcp_syn_request *e,
	const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	struct tcp_conn *c = tcp_listen_grow(l, e);

	if (!c) {
		rte_pktmbuf_free(m);
		return false;
	}
	c->segments_in++;
	tcp_segment_arrives(c, rx, seg, m);
	return !c->accept_again;
}

static bool tcp_listen_is_listening(const struct tcp_stack *s, const struct tcp_listener *l)
{
	const struct tcp_listener *x = s->listeners;

	while (x && x != l)
		x = x->next;
	return x != NULL;
}

/** A segment without a connection that may be the ACK of a cookie. @return true: it was. */
static bool tcp_listen_cookie_arrives(
	struct tcp_listener *l, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	struct tcp_stack *s = l->s;
	struct tcp_syn_request e = {.id = {rx->dst, rx->src, seg->dport, seg->sport},
		.irs = seg->seq - 1,
		.iss = seg->ack - 1,
		.ts_recent = seg->tsval,
		.has = TCP_HAS_MSS};
	struct tcp_cookie_options o = {0};

	e.mss = tcp_cookie_check(&s->cookies, &e.id, e.irs, e.iss, s->now);
	if (!e.mss)
		return false;
	if ((seg->has & TCP_HAS_TS) && !s->cfg.no_timestamps) {
		if (!tcp_cookie_unstamp(seg->tsecr, tcp_conn_tsval(s, &e.id), &o))
			return false;
		e.has |= o.has | TCP_HAS_TS;
		e.wscale = o.wscale;
		e.ecn = o.ecn;
	}
	s->stats.syn_cookies_received++;
	/* A peer that is not accepted now may come again with its next segment: it has the cookie.
	 */
	tcp_listen_complete(l, &e, rx, seg, m);
	return true;
}

/** Second: nothing that we acknowledged, unless a cookie did. Owns @p m. */
static void tcp_listen_ack_arrives(
	struct tcp_listener *l, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	struct tcp_stack *s = l->s;

	if (!(seg->flags & TCP_SYN) && tcp_cookies_about(&s->cookies, s->now)) {
		if (tcp_listen_cookie_arrives(l, rx, seg, m))
			return;
		s->stats.syn_cookies_failed++;
		/* The first segment of a peer with a cookie may be lost, or come after this one:
		 * a reset would end what is about to begin. */
		if (seg->len) {
			rte_pktmbuf_free(m);
			return;
		}
	}
	s->stats.no_connection++;
	tcp_reply_rst(s, rx, seg);
	rte_pktmbuf_free(m);
}

void tcp_listen_input(struct tcp_listener *l, const struct ip_rx *rx, struct tcp_segment *seg,
	struct rte_mbuf *m, const uint32_t *iss_above)
{
	/* First to fourth; and RFC 9293 section 3.9.2.3 (MUST-57): no connection with a broadcast
	 * or multicast peer. */
	if (!(seg->flags & TCP_RST) && (seg->flags & TCP_ACK)) {
		tcp_listen_ack_arrives(l, rx, seg, m);
		return;
	}
	if ((seg->flags & (TCP_SYN | TCP_RST | TCP_FIN)) == TCP_SYN &&
		!ip_addr_is_multicast(&rx->src) && !ip_addr_is_any(&rx->src))
		tcp_listen_syn_arrives(l, rx, seg, iss_above);
	else if (seg->flags & TCP_RST)
		l->s->stats.resets_ignored++;
	else
		l->s->stats.no_connection++;
	rte_pktmbuf_free(m);
}

/** RFC 9293 section 3.10.7.4 as far as the ACK field. @return true: the handshake is complete. */
static bool tcp_listen_check(
	struct tcp_synq_entry *h, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	const struct tcp_listener *l = h->listener;
	struct tcp_stack *s = l->s;
	const struct tcp_syn_request *e = &h->e;
	/* Text and FIN behind a SYN that has been answered do not make another of it. */
	bool again = (seg->flags & (TCP_SYN | TCP_RST)) == TCP_SYN && seg->seq == e->irs;

	if ((e->has & TCP_HAS_TS) && !(seg->flags & TCP_RST)) { /* RFC 7323 sections 3.2, 5.3 */
		if (!(seg->has & TCP_HAS_TS)) {
			s->stats.paws_drops++;
			return false;
		}
		if (seq_lt(seg->tsval, e->ts_recent)) {
			s->stats.paws_drops++;
			tcp_reply_challenge(l, e);
			return false;
		}
	}
	if (again || !tcp_segment_acceptable(seg, e->irs + 1, tcp_syn_window(s))) {
		if (again && !(seg->flags & TCP_ACK)) {
			h->e.repeated = true;
			h->e.ecn_doubted |= !tcp_ecn_asks(seg);
			tcp_send_syn_ack(l, e, false); /* ours was lost */
		} else if (seg->flags & TCP_RST) {
			s->stats.resets_ignored++;
		} else {
			s->stats.out_of_window++;
			tcp_reply_challenge(l, e);
		}
		return false;
	}
	if (seg->flags & TCP_RST) { /* RFC 5961 section 3.2 */
		if (seg->seq == e->irs + 1) {
			s->stats.resets_in++;
			tcp_synq_drop(h);
		} else {
			s->stats.resets_ignored++;
			tcp_reply_challenge(l, e);
		}
		return false;
	}
	if (seg->flags & TCP_SYN) { /* back to LISTEN */
		tcp_synq_drop(h);
		return false;
	}
	if ((seg->flags & TCP_ACK) && seg->ack == e->iss + 1)
		return true;
	s->stats.bad_ack++;
	if (seg->flags & TCP_ACK)
		tcp_reply_rst(s, rx, seg);
	return false;
}

void tcp_synq_input(struct tcp_synq_entry *h, const struct ip_rx *rx, struct tcp_segment *seg,
	struct rte_mbuf *m)
{
	struct tcp_listener *l = h->listener;
	struct tcp_stack *s = l->s;

	if (!tcp_listen_check(h, rx, seg)) {
		rte_pktmbuf_free(m);
		return;
	}
	tcp_synq_unlink(h); /* the user may stop listening from inside */
	if (tcp_listen_complete(l, &h->e, rx, seg, m) || !tcp_listen_is_listening(s, l))
		free(h);
	else
		tcp_synq_relink(h);
}
