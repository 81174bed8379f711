/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/output.h"

#include "base/probe.h"
#include "tcp/control.h"
#include "tcp/ecn.h"
#include "tcp/external.h"
#include "tcp/input.h"
#include "tcp/loss.h"
#include "tcp/mbuf.h"
#include "tcp/pmtu.h"
#include "tcp/segment.h"
#include "tcp/timers.h"
#include "tcp/undo.h"

#include <errno.h>

/** RFC 3168 sections 6.1.4 to 6.1.6: text that was never sent before, and no window probes. */
static bool tcp_output_is_new_text(const struct tcp_conn *c, const struct tcp_record *r)
{
	return seq_geq(r->seq, c->snd_max) && !c->persist;
}

/** What is known of its checksum without another look at the text. */
static struct ip_text_sum tcp_output_text_sum(const struct tcp_record *r)
{
	if (!(r->flags & TCP_REC_SUM))
		return (struct ip_text_sum){0};
	return (struct ip_text_sum){r->len, r->sum};
}

/** The port had others behind it in a chain, the last time that it was sent. */
static void tcp_output_leave_chain(struct rte_mbuf *m)
{
	m->next = NULL;
	m->nb_segs = 1;
}

/**
 * Does record @p i make a segment like all others of its kind that leave before anything else
 * happens, but for SEQ and the text?
 */
static bool tcp_output_is_plain(const struct tcp_conn *c, uint32_t i)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);

	return i + 1 < c->sendq.count && /* it would have PSH */
	       (r->flags & (TCP_REC_SUM | TCP_REC_FIN)) == TCP_REC_SUM &&
	       tcp_output_is_new_text(c, r) && !c->cwr_pending && !c->ooo_state;
}

/** Has the record behind record @p i the same headers? */
static bool tcp_output_is_first(const struct tcp_conn *c, uint32_t i)
{
	const struct tcp_sendq *q = &c->sendq;

	return tcp_output_is_plain(c, i) &&
	       tcp_sendq_at(q, i + 1)->len == tcp_sendq_at(q, i)->len &&
	       tcp_output_is_plain(c, i + 1);
}

/** Text of record @p r leaves: it and what its segment acknowledges. */
static void tcp_output_count_text(struct tcp_conn *c, const struct tcp_record *r)
{
	tcp_segment_acknowledged(c);
	c->bytes_sent += r->len;
	c->s->stats.bytes_out += r->len;
}

/** Put the headers of @p pattern before record @p r's text, and send a reference. */
static void tcp_output_send_alike(
	struct tcp_conn *c, const struct tcp_record *r, const struct ip_pattern *pattern)
{
	struct rte_mbuf *m = r->m;

	m->data_off = r->off;
	if (unlikely(m->nb_segs != 1))
		tcp_output_leave_chain(m);
	rte_mbuf_refcnt_update(m, 1);
	tcp_output_count_text(c, r);
	tcp_segment_send_alike(c, pattern, m, r->seq, r->sum);
}

/**
 * Put the header before record @p i's text, in the mbuf's headroom, and send a reference.
 * @param pattern as for tcp_output_send_record().
 */
static int tcp_output_send_text(struct tcp_conn *c, uint32_t i, struct ip_pattern *pattern)
{
	struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	bool first = pattern && tcp_output_is_first(c, i), last = i + 1 == c->sendq.count;
	bool ect = tcp_ecn_capable(c) && tcp_output_is_new_text(c, r);
	bool cwr = ect && c->cwr_pending; /* RFC 3168 section 6.1.2: on the first new text */
	int err;

	struct tcp_segment h;
	struct rte_mbuf *m = r->m;
	unsigned hlen;

	tcp_segment_begin(c, &h, r->seq, last ? TCP_ACK | TCP_PSH : TCP_ACK);
	if (r->flags & TCP_REC_FIN)
		h.flags |= TCP_FIN;
	if (cwr)
		h.flags |= TCP_CWR;
	if (c->emss > r->len)
		tcp_segment_add_sack(c, &h, c->emss - r->len);
	hlen = tcp_wire_len(&h);
	m->data_off = (uint16_t)(r->off - hlen);
	m->data_len = (uint16_t)(hlen + tcp_record_head(r));
	m->pkt_len = hlen + r->len;
	m->ol_flags = 0;
	if (unlikely(m->nb_segs != 1) && !(r->flags & TCP_REC_EXTERNAL))
		tcp_output_leave_chain(m);
	tcp_wire_emit(&h, rte_pktmbuf_mtod(m, uint8_t *));
	if (unlikely(r->flags & TCP_REC_EXTERNAL)) {
		rte_pktmbuf_refcnt_update(m, 1);
		tcp_external_sent(c);
	} else {
		rte_mbuf_refcnt_update(m, 1);
	}
	c->path.tos |= ect ? TCP_ECN_ECT0 : 0;
	err = first ? tcp_segment_send_first(c, m, tcp_output_text_sum(r), pattern)
		    : tcp_segment_send(c, m, tcp_output_text_sum(r));
	c->path.tos &= (uint8_t)~TCP_ECN_MASK;
	if (err)
		return err;
	tcp_output_count_text(c, r);
	c->cwr_pending &= !cwr;
	return 0;
}

int tcp_send_copy(struct tcp_conn *c, uint32_t seq, uint32_t len)
{
	uint32_t i = tcp_sendq_find(&c->sendq, seq), done = 0;
	struct rte_mbuf *m = tcp_stack_packet(c->s);
	struct tcp_segment h;
	char *p;
	int err;

	if (!m)
		return -ENOMEM;
	p = rte_pktmbuf_append(m, (uint16_t)len);
	for (; done < len; i++) {
		const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
		uint32_t from = seq + done - r->seq, n = u32_min(r->len - from, len - done);

		if (tcp_external_own_record(c, i)) {
			rte_pktmbuf_free(m);
			return -ENOMEM;
		}
		memcpy(p + done, tcp_record_text(r) + from, n);
		done += n;
	}
	tcp_segment_begin(c, &h, seq, TCP_ACK);
	tcp_wire_emit(&h, (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)tcp_wire_len(&h)));
	err = tcp_segment_send(c, m, (struct ip_text_sum){0});
	if (!err)
		tcp_segment_acknowledged(c);
	return err;
}

/** Cut record @p i behind its first @p len bytes. @return 0, -ENOMEM. */
static int tcp_output_cut(struct tcp_conn *c, uint32_t i, uint32_t len)
{
	int r;

	if (tcp_conn_send_room(c) || tcp_external_own_record(c, i))
		return -ENOMEM;
	do
		r = tcp_sendq_split(&c->sendq, i, len, c->s->cfg.pool);
	while (r && tcp_stack_refill(c->s));
	c->s->tx_held += r == 0;
	return r;
}

/** Let record @p i have a packet that the port has no part in. @return 0, -ENOMEM. */
static int tcp_output_renew(struct tcp_conn *c, uint32_t i)
{
	int r;

	if (rte_mbuf_refcnt_read(tcp_sendq_at(&c->sendq, i)->m) == 1)
		return 0;
	do
		r = tcp_sendq_renew(&c->sendq, i, c->s->cfg.pool);
	while (r && tcp_stack_refill(c->s));
	return r;
}

static bool tcp_output_was_sent(const struct tcp_conn *c, uint32_t i)
{
	return i < c->sendq.nxt || (tcp_sendq_at(&c->sendq, i)->flags & TCP_REC_KARN);
}

/** Record @p i, which is external, fits a segment, was never sent, and need not be a copy. */
static bool tcp_output_is_untouched(const struct tcp_conn *c, uint32_t i)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);

	return !c->closing_early && !tcp_output_was_sent(c, i) && r->len <= c->emss &&
	       rte_mbuf_refcnt_read(r->m) == 1 && !tcp_external_backs_off(c);
}

/** Let external record @p i be as it can be sent. @return 0, -ENOMEM. */
static int tcp_output_ready_external(struct tcp_conn *c, uint32_t i)
{
	if (tcp_output_is_untouched(c, i))
		return 0;
	if (tcp_external_own_record(c, i))
		return -ENOMEM;
	if (tcp_output_was_sent(c, i))
		tcp_external_lost(c);
	return 0;
}

/** Make record @p i fit for sending: not larger than a segment, nor still with the port. */
static int tcp_output_ready_record(struct tcp_conn *c, uint32_t i)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	const struct tcp_stack *s = c->s;

	if ((r->flags & TCP_REC_EXTERNAL) && tcp_output_ready_external(c, i))
		return -ENOMEM;
	if (r->len > c->emss) {
		/* A peer with a tiny MSS must not have us fill the pool with cuttings. Beyond the
		 * limit there is one at a time, of the oldest text: the next waits until that is
		 * acknowledged. The oldest must not wait, as all behind it may be lost, too. */
		if (s->tx_held >= s->tx_limit && i != 0)
			return -ENOMEM;
		if (tcp_output_cut(c, i, c->emss))
			return -ENOMEM;
	}
	return tcp_output_renew(c, i);
}

static int tcp_output_send_fin(struct tcp_conn *c, const struct tcp_record *r)
{
	struct tcp_segment h;
	int err;

	tcp_segment_begin(c, &h, r->seq, TCP_FIN | TCP_ACK);
	tcp_segment_add_sack(c, &h, 40);
	err = tcp_segment_send_bare(c, &h);
	if (err != -ENOMEM)
		tcp_segment_acknowledged(c);
	return err;
}

/** Send record @p i, which has text. @return as ip_send(), or -ENOMEM. */
static int tcp_output_send_text_record(struct tcp_conn *c, uint32_t i, struct ip_pattern *pattern)
{
	int err;

	if (tcp_output_ready_record(c, i)) {
		c->s->stats.pool_empty++;
		return -ENOMEM;
	}
	if (pattern && pattern->text == tcp_sendq_at(&c->sendq, i)->len &&
		tcp_output_is_plain(c, i)) {
		tcp_output_send_alike(c, tcp_sendq_at(&c->sendq, i), pattern);
		return 0;
	}
	err = tcp_output_send_text(c, i, pattern);
	if (err != -EMSGSIZE)
		return err;
	/* The path shrank under us: cut and try once more. */
	tcp_pmtu_path_changed(c);
	return tcp_output_ready_record(c, i) ? -ENOMEM : tcp_output_send_text(c, i, pattern);
}

/**
 * Send record @p i. What the network refuses counts as sent: the timer brings it back.
 * @param pattern of others that were sent since the last event, to use or to fill in; NULL: it is
 *        sent alone.
 */
static int tcp_output_send_record(struct tcp_conn *c, uint32_t i, struct ip_pattern *pattern)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	int err = r->m ? tcp_output_send_text_record(c, i, pattern) : tcp_output_send_fin(c, r);

	if (err == -ENOMEM)
		return err;
	if (err)
		c->soft_error = err;
	return 0;
}

/** There is something that has not been sent, and the user has let go of it. */
static bool tcp_output_more_to_send(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;

	return q->nxt < q->count && seq_lt(tcp_sendq_at(q, q->nxt)->seq, c->push_seq);
}

/** The first record that has not been sent fits into the peer's window. */
static bool tcp_output_window_allows(const struct tcp_conn *c)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, c->sendq.nxt);

	/* A record is not cut to fit the window: that is also the sender's part in avoiding silly
	 * windows (RFC 9293 section 3.8.6.2.1). When nothing is in flight, probes go out. */
	return seq_leq(r->seq + u32_min(tcp_record_space(r), c->emss), c->snd_una + c->snd_wnd);
}

bool tcp_may_send_new(const struct tcp_conn *c)
{
	return tcp_output_more_to_send(c) && tcp_output_window_allows(c);
}

/** Does cwnd allow @p len bytes? Nothing in flight: one record may always go. */
static bool tcp_output_cwnd_allows(struct tcp_conn *c, uint32_t len)
{
	uint32_t p = tcp_pipe(c);

	if (!p || p + u32_min(len, c->emss) <= c->cc.cwnd)
		return true;
	c->cwnd_limited = c->snd_nxt;
	return false;
}

/** Which record goes next? @return false if the queue is empty or a window forbids it. */
static bool tcp_output_next_record(struct tcp_conn *c, uint32_t *i)
{
	const struct tcp_sendq *q = &c->sendq;

	*i = tcp_sendq_first_lost(q);
	if (*i < q->nxt && c->rec.frto != TCP_FRTO_TRY)
		return c->rtx_first || (c->rec.frto == TCP_FRTO_OFF &&
					       tcp_output_cwnd_allows(c, tcp_sendq_at(q, *i)->len));
	*i = q->nxt;
	if (!tcp_may_send_new(c))
		return false;
	/* RFC 5682 section 3.1, step 2b. */
	if (c->rec.frto == TCP_FRTO_TRY)
		return c->rec.frto_left > 0;
	return tcp_output_cwnd_allows(c, tcp_sendq_at(q, *i)->len);
}

static void tcp_output_run_timer(struct tcp_conn *c, bool sent)
{
	if (tcp_flight(c)) {
		if (sent || c->persist || c->rtx_at == TIMER_NEVER) {
			c->persist = false;
			tcp_loss_sent(c);
		}
	} else if (!tcp_output_more_to_send(c)) {
		c->persist = false;
		c->rtx_at = TIMER_NEVER;
	} else if (!c->persist) {
		tcp_timers_start_persist(c);
	}
}

static void tcp_output_account_again(struct tcp_conn *c, uint32_t i)
{
	c->rtx_first = false;
	c->retransmits++;
	c->s->stats.retransmits++;
	PROBE4(retransmit, c->id.lport, c->id.rport, tcp_sendq_at(&c->sendq, i)->seq,
		tcp_sendq_at(&c->sendq, i)->len);
	/* The timeout is for the oldest byte, and for its last transmission. */
	if (i == 0)
		c->rec.rto_from = c->s->now;
}

static void tcp_output_account_new(struct tcp_conn *c, const struct tcp_record *r)
{
	if (tcp_flight(c) == 0)
		c->progress_at = c->rec.rto_from = c->s->now;
	if (c->rec.frto_left)
		c->rec.frto_left--;
	c->snd_nxt = tcp_record_end(r);
	c->snd_max = seq_max(c->snd_max, c->snd_nxt);
}

static void tcp_output_account_sent(struct tcp_conn *c, uint32_t i)
{
	struct tcp_record *r = tcp_sendq_at(&c->sendq, i);
	uint32_t in_flight = tcp_pipe(c);

	tcp_rate_on_sent(c, r, in_flight);
	tcp_pace_sent(c, r->len, in_flight);
	if (i < c->sendq.nxt)
		tcp_output_account_again(c, i);
	else
		tcp_output_account_new(c, r);
	tcp_sendq_sent(&c->sendq, i, c->s->now);
}

/** Nothing is in flight: is what congestion control knew of the path still true? */
static void tcp_output_begin_flight(struct tcp_conn *c)
{
	uint64_t idle = c->s->now - c->rec.rto_from;

	if (idle < c->rto.srtt)
		return;
	tcp_cc_restart(&c->cc, idle, tcp_rto_get(&c->rto), c->s->now);
	tcp_pace_restart(c);
}

/**
 * May record @p i leave now? What goes first of all, as it repairs a loss, does not wait: it takes
 * the place of what has left the network.
 */
static bool tcp_output_is_time(struct tcp_conn *c, uint32_t i)
{
	return (i < c->sendq.nxt && c->rtx_first) || tcp_pace_may_send(c);
}

/**
 * The ACK that is owed has no say in what is sent: one record is all that waits, and as things
 * stand it may go at once. No repair goes before it.
 */
static bool tcp_output_is_free(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;

	return q->nxt + 1 == q->count && !q->rtx_queue.n && c->path.mtu == c->path_mtu &&
	       tcp_may_send_new(c) &&
	       tcp_pipe(c) + u32_min(tcp_sendq_at(q, q->nxt)->len, c->emss) <= c->cc.cwnd &&
	       c->s->now >= c->pace.at;
}

/** The ACK that was owed while a record left comes first in the books. */
static void tcp_output_settle(struct tcp_conn *c)
{
	tcp_ack_settle(c->s);
	if (tcp_flight(c) == 0)
		tcp_output_begin_flight(c);
}

/** @return false if what waits, waits for its time. */
static bool tcp_output_send_allowed(struct tcp_conn *c, bool *sent)
{
	struct ip_pattern pattern;
	uint32_t i;

	pattern.text = 0; /* and no more: few packets have another behind them */
	while (tcp_output_next_record(c, &i)) {
		if (i < c->sendq.nxt && tcp_pmtu_suspect(c, i))
			continue;
		if (!tcp_output_is_time(c, i))
			return false;
		if (tcp_output_send_record(c, i, &pattern)) {
			tcp_conn_mark_dirty(c); /* no packet: again in the next round */
			break;
		}
		/* The last one, and somebody may wait for it: the books can wait. */
		if (i + 1 == c->sendq.count)
			ip_expedite(c->s->cfg.ip);
		if (c->s->owed_ack.c == c) {
			tcp_output_settle(c);
			pattern.text = 0;
			i = c->sendq.nxt; /* what was acknowledged has left the queue */
		}
		if (tcp_ca_reducing(c))
			tcp_prr_sent(&c->repair.prr, tcp_sendq_at(&c->sendq, i)->len);
		if (i < c->sendq.nxt)
			tcp_undo_rexmit(c, tcp_sendq_at(&c->sendq, i)->len);
		tcp_output_account_sent(c, i);
		*sent = true;
	}
	return true;
}

void tcp_output(struct tcp_conn *c)
{
	bool sent = false;

	if (!tcp_in(c, TCP_STATES_SENDING) || !c->sendq.count)
		return;
	if (c->s->owed_ack.c == c && !tcp_output_is_free(c))
		tcp_ack_settle(c->s);
	if (c->path.mtu != c->path_mtu)
		tcp_pmtu_path_changed(c);
	if (tcp_flight(c) == 0 && tcp_output_more_to_send(c))
		tcp_output_begin_flight(c);
	if (tcp_output_send_allowed(c, &sent)) {
		tcp_pace_idle(c);
		/* The peer's window is no more of the network than a user with nothing to send.
		 */
		if (!tcp_may_send_new(c) && tcp_pipe(c) < c->cc.cwnd)
			tcp_rate_app_limited(c, tcp_pipe(c));
	}
	tcp_output_run_timer(c, sent);
	if (c->pmtu)
		tcp_pmtu_consider(c);
}

int tcp_send_loss_probe(struct tcp_conn *c)
{
	bool again = !tcp_may_send_new(c);
	uint32_t i = c->sendq.nxt - again;

	if (!tcp_in(c, TCP_STATES_SENDING) || !tcp_flight(c) || tcp_output_send_record(c, i, NULL))
		return -1;
	tcp_output_account_sent(c, i);
	return again;
}

/** Only the FIN is outside of the window. It goes all the same: peers take it, as it needs no room.
 */
static void tcp_output_send_fin_early(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	struct tcp_record *r;

	if (tcp_output_send_record(c, q->nxt, NULL))
		return;
	/* SND.NXT stays: the window forbids it. */
	r = tcp_sendq_at(q, q->nxt);
	r->flags |= TCP_REC_KARN;
	c->snd_max = seq_max(c->snd_max, tcp_record_end(r));
}

/**
 * The window has room, but for less than the next record: that much goes, if it has stayed so.
 * @return false: nothing goes.
 */
static bool tcp_output_cut_to_window(struct tcp_conn *c)
{
	if (c->snd_wnd == 0 || c->wnd_moved)
		return false;
	if (tcp_output_cut(c, c->sendq.nxt, c->snd_wnd)) {
		c->s->stats.pool_empty++;
		return false;
	}
	return true;
}

void tcp_send_window_probe(struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;
	bool allowed;

	if (q->nxt >= q->count)
		return;
	allowed = tcp_output_window_allows(c);
	if (!allowed && tcp_sendq_at(q, q->nxt)->len <= c->snd_wnd) {
		tcp_output_send_fin_early(c);
	} else if (allowed || tcp_output_cut_to_window(c)) {
		c->persist = false;
		tcp_output(c);
	} else {
		tcp_send_keepalive(c);
		c->wnd_moved = false;
	}
}
