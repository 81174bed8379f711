/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 9293 section 3.10.7: the steps are named as there. */
#include "tcp/control.h"
#include "tcp/ecn.h"
#include "tcp/input.h"
#include "tcp/listen.h"
#include "tcp/pmtu.h"
#include "tcp/timers.h"

#include <errno.h>
#include <rte_mbuf.h>

static void tcp_rcv_tell_connected(struct tcp_conn *c)
{
	if (c->state != TCP_CLOSED && c->llp.user_ops && c->llp.user_ops->connected)
		c->llp.user_ops->connected(c->llp.user);
}

/** Text and FIN: the seventh and eighth step. Owns @p m. */
static void tcp_rcv_data_fin(struct tcp_conn *c, struct tcp_segment *seg, struct rte_mbuf *m)
{
	if (tcp_in(c, TCP_STATES_RECEIVING) && (seg->len || (seg->flags & TCP_FIN))) {
		tcp_text_arrives(c, seg, m);
		return;
	}
	c->s->stats.text_unwanted += seg->len != 0;
	rte_pktmbuf_free(m);
}

/** The first sample (RFC 6298 section 2.2), of a SYN that was sent once and at once (Karn). */
static void tcp_rcv_measure_handshake(struct tcp_conn *c)
{
	if (c->syn_sent_n == 1 && !c->syn_unmeasured)
		tcp_rto_sample(&c->rto, c->s->now - c->progress_at);
}

/** SYN-SENT, fourth: the SYN is there and its ACK, if any, is good. Owns @p m. */
static void tcp_rcv_syn_sent_syn(struct tcp_conn *c, struct tcp_segment *seg, struct rte_mbuf *m)
{
	tcp_conn_take_syn(c, seg);
	if (!(seg->flags & TCP_ACK)) { /* simultaneous open */
		c->state = TCP_SYN_RECEIVED;
		tcp_send_syn(c);
		rte_pktmbuf_free(m);
		return;
	}
	tcp_ecn_take_syn_ack(c, seg);
	c->snd_una = seg->ack;
	tcp_rcv_measure_handshake(c);
	tcp_conn_establish(c);
	c->s->stats.connects++;
	c->ack_now = true;
	tcp_rcv_tell_connected(c);
	seg->seq++;
	seg->flags &= (uint8_t)~TCP_SYN;
	tcp_rcv_data_fin(c, seg, m);
}

static void tcp_rcv_syn_sent(
	struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	bool ack = (seg->flags & TCP_ACK) != 0;

	if (ack && (seq_leq(seg->ack, c->snd_una) || seq_gt(seg->ack, c->snd_nxt))) {
		c->s->stats.bad_ack++;
		tcp_reply_rst(c->s, rx, seg);
	} else if (seg->flags & TCP_RST) {
		if (ack && c->ecn.asked) { /* RFC 3168 section 6.1.1.1: perhaps for that */
			c->s->stats.resets_in++;
			tcp_send_syn(c);
			tcp_timers_set_rtx(c, c->s->now + tcp_rto_get(&c->rto));
		} else if (ack) {
			c->s->stats.resets_in++;
			tcp_conn_close(c, -ECONNREFUSED);
		} else {
			c->s->stats.resets_ignored++;
		}
	} else if (seg->flags & TCP_SYN) {
		tcp_rcv_syn_sent_syn(c, seg, m);
		return;
	} else {
		c->s->stats.out_of_window++;
	}
	rte_pktmbuf_free(m);
}

/** With no window open, ACK and RST still count at @p nxt. */
bool tcp_segment_acceptable(const struct tcp_segment *seg, uint32_t nxt, uint32_t wnd)
{
	uint32_t space = tcp_segment_space(seg);
	uint32_t last = seg->seq + (space ? space - 1 : 0);

	/* What takes no space may be at the right edge itself: where a peer is that has filled the
	 * window. Not a reset (RFC 5961 section 3.2). */
	if (!space && !(seg->flags & TCP_RST))
		return seg->seq - nxt <= wnd;
	if (wnd == 0)
		return seg->seq == nxt;
	return seg->seq - nxt < wnd || last - nxt < wnd ||
	       (seq_lt(seg->seq, nxt) && seq_gt(last, nxt));
}

/** RFC 5961 section 5.2: SEG.ACK is neither of what was never sent nor of long ago. */
static bool tcp_rcv_is_ack_plausible(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return (seg->flags & TCP_ACK) && seq_leq(seg->ack, c->snd_max) &&
	       seq_geq(seg->ack, c->snd_una - c->max_snd_wnd);
}

/**
 * Is it text that the peer sends again though it was received? A stranger guesses such sequence
 * numbers one time in two, so the ACK must be the peer's as well.
 */
static bool tcp_rcv_is_repeated(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return seg->len && seq_lt(seg->seq, c->rcv_nxt) &&
	       seq_leq(seg->seq + seg->len, c->rcv_nxt) && tcp_in(c, TCP_STATES_RECEIVING) &&
	       tcp_rcv_is_ack_plausible(c, seg);
}

/**
 * A keep-alive (RFC 9293 section 3.8.4), or a probe of a closed window without text: one before
 * what is expected, and an ACK that is the peer's. A stranger guesses both once in more than 2^32
 * times.
 */
static bool tcp_rcv_is_probe(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return seg->seq == c->rcv_nxt - 1 && !(seg->flags & TCP_SYN) && !tcp_segment_space(seg) &&
	       tcp_synchronized(c) && tcp_rcv_is_ack_plausible(c, seg);
}

/**
 * What is not acceptable, and no reset, is answered by an ACK. If it is the peer's text once more,
 * that ACK says so (RFC 2883 section 4); afterwards nothing is left of it.
 */
static void tcp_rcv_answer_by_ack(struct tcp_conn *c, const struct tcp_segment *seg)
{
	if (tcp_rcv_is_probe(c, seg)) {
		tcp_answer_probe(c);
		return;
	}
	/* RFC 5961 section 4.2: a SYN, wherever it is; and what takes no space, lest two ends
	 * answer each other for ever. */
	if ((seg->flags & TCP_SYN) || !tcp_segment_space(seg)) {
		tcp_challenge_ack(c);
		return;
	}
	if (tcp_rcv_is_repeated(c, seg))
		tcp_ooo_state_duplicate(c, (struct tcp_range){seg->seq, seg->seq + seg->len});
	c->ack_now = true;
	tcp_conn_mark_dirty(c);
}

/** The peer's FIN once more, in TIME-WAIT: our ACK of it was lost. Others only look like it. */
static bool tcp_rcv_is_fin_again(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return c->state == TCP_TIME_WAIT && (seg->flags & (TCP_FIN | TCP_SYN)) == TCP_FIN &&
	       seg->seq + seg->len == c->rcv_nxt - 1 && tcp_rcv_is_ack_plausible(c, seg);
}

static void tcp_rcv_answer_unacceptable(struct tcp_conn *c, const struct tcp_segment *seg)
{
	if (seg->flags & TCP_RST) {
		c->s->stats.resets_ignored++;
		return;
	}
	if (!tcp_rcv_is_probe(c, seg) && !tcp_rcv_is_repeated(c, seg))
		c->s->stats.out_of_window++;
	if (tcp_rcv_is_fin_again(c, seg))
		tcp_conn_restart_time_wait(c);
	/* Our ACKs do not arrive, perhaps. A pure receiver has no timer that would tell. */
	if (!(seg->flags & TCP_SYN) && tcp_rcv_is_repeated(c, seg) && !tcp_flight(c))
		tcp_conn_doubt_path(c);
	tcp_rcv_answer_by_ack(c, seg);
}

/**
 * Text for a gap, sent before what came from behind the gap. TS.Recent may by now be of a
 * retransmission, which was sent later still: by R1, whatever was only late would be dropped and
 * sent again, and its retransmission makes the next late one too old. But what is not older than
 * the gap is no duplicate from 2^32 bytes ago, which is what R1 is against.
 */
static bool tcp_rcv_fills_gap(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	const struct tcp_ooo_state *e = c->ooo_state;

	return e && e->ooo.n && seg->len && seq_geq(seg->tsval, e->ts_gap) &&
	       c->rcv_nxt - e->gap_seq < TCP_GAP_MAX;
}

/**
 * An ACK that was overtaken by another, on a path that reorders. It says what it says with SACK and
 * D-SACK, and nothing else: not an old duplicate, or it would be older than a retransmission
 * time-out.
 */
static bool tcp_rcv_is_overtaken_ack(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return !tcp_segment_space(seg) && seg->seq == c->rcv_nxt && tcp_synchronized(c) &&
	       tcp_rcv_is_ack_plausible(c, seg) && seq_leq(seg->ack, c->snd_una) &&
	       c->ts_recent - seg->tsval <= tcp_rto_get(&c->rto) / TCP_MS;
}

/** RFC 7323 section 5.3, R1. @return false: drop the segment. */
static bool tcp_rcv_paws(struct tcp_conn *c, const struct tcp_segment *seg)
{
	if (!c->ts_on || (seg->flags & TCP_RST))
		return true;
	if (!(seg->has & TCP_HAS_TS)) { /* section 3.2: SHOULD be dropped without an answer */
		c->s->stats.paws_drops++;
		/* RFC 5961 section 4.2: a SYN MUST be answered. It may be of a peer that has begun
		 * anew, and offers less. */
		if ((seg->flags & TCP_SYN) && tcp_synchronized(c))
			tcp_challenge_ack(c);
		return false;
	}
	if (!seq_lt(seg->tsval, c->ts_recent) || tcp_ts_recent_is_old(c) ||
		tcp_rcv_fills_gap(c, seg) || tcp_rcv_is_overtaken_ack(c, seg))
		return true;
	c->s->stats.paws_drops++;
	tcp_rcv_answer_by_ack(c, seg);
	return false;
}

/** Second: a reset within the window (RFC 5961 section 3.2). */
static void tcp_rcv_reset_arrives(struct tcp_conn *c, const struct tcp_segment *seg)
{
	int err = -ECONNRESET;

	if (seg->seq != c->rcv_nxt) {
		c->s->stats.resets_ignored++;
		tcp_challenge_ack(c);
		return;
	}
	/* RFC 1337 section 3: an old duplicate, which we acknowledged, may have brought this on. */
	if (c->state == TCP_TIME_WAIT) {
		c->s->stats.resets_ignored++;
		return;
	}
	c->s->stats.resets_in++;
	if (c->state == TCP_SYN_RECEIVED)
		err = -ECONNREFUSED;
	tcp_conn_close(c, err);
}

/** The three-way handshake of a passive open is complete: offer it. */
static void tcp_rcv_offer(struct tcp_conn *c)
{
	struct tcp_listener *l = c->listener;
	int err;

	c->passive = false;
	c->queue_next = NULL;
	err = l->accept(l->user, &c->llp);
	if (!err) {
		c->s->stats.accepts++;
		return;
	}
	if (c->state == TCP_CLOSED)
		return;
	c->llp.user_ops = NULL;
	c->accept_again = err == -EAGAIN;
	if (!c->accept_again)
		tcp_send_rst(c);
	tcp_conn_close(c, -ECONNABORTED);
}

/** Fifth, SYN-RECEIVED. @return false: the segment is done with. */
static bool tcp_rcv_handshake_ack(
	struct tcp_conn *c, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	if (!seq_lt(c->snd_una, seg->ack) || seq_gt(seg->ack, c->snd_nxt)) {
		c->s->stats.bad_ack++;
		tcp_reply_rst(c->s, rx, seg);
		return false;
	}
	tcp_segment_accepted(c, seg);
	c->snd_una = seg->ack;
	c->snd_wnd = (uint32_t)seg->wnd << c->snd_wscale;
	c->max_snd_wnd = u32_max(c->max_snd_wnd, c->snd_wnd);
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
	tcp_rcv_measure_handshake(c);
	tcp_conn_establish(c);
	if (c->passive)
		tcp_rcv_offer(c);
	else
		c->s->stats.connects++;
	tcp_rcv_tell_connected(c);
	return c->state != TCP_CLOSED;
}

/** What the acknowledgment of our FIN changes. @return false: the connection is over. */
static bool tcp_rcv_fin_acked(struct tcp_conn *c)
{
	switch (c->state) {
	case TCP_FIN_WAIT_1:
		c->state = TCP_FIN_WAIT_2;
		if (c->orphan)
			tcp_timers_set_life(c, c->s->now + TCP_ORPHAN_FIN_WAIT_2);
		return true;
	case TCP_CLOSING:
		tcp_conn_time_wait(c);
		return true;
	case TCP_LAST_ACK:
		tcp_conn_time_wait(c);
		return false;
	default:
		return true;
	}
}

/** Fifth: the ACK field. @return false: the segment is done with. */
static bool tcp_rcv_ack_field(struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg)
{
	if (!(seg->flags & TCP_ACK)) {
		c->s->stats.bad_ack++;
		return false;
	}
	if (c->state == TCP_SYN_RECEIVED)
		return tcp_rcv_handshake_ack(c, rx, seg);
	if (!tcp_rcv_is_ack_plausible(c, seg)) {
		c->s->stats.bad_ack++;
		tcp_challenge_ack(c);
		return false;
	}
	tcp_segment_accepted(c, seg);
	if (c->state == TCP_TIME_WAIT)
		return true;
	tcp_ecn_ack(c, seg);
	if (c->pmtu)
		tcp_pmtu_sack(c, seg);
	tcp_ack_arrives(c, seg);
	return !tcp_fin_acked(c) || tcp_rcv_fin_acked(c);
}

/** @return true if the segment survived the first five steps and its text and FIN are next. */
static bool tcp_rcv_check(struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg)
{
	/* The peer's SYN,ACK of a simultaneous open repeats its SYN: only the ACK is new (figure
	 * 8). */
	if (c->state == TCP_SYN_RECEIVED && seg->seq == c->rcv_nxt - 1 &&
		(seg->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == (TCP_SYN | TCP_ACK)) {
		seg->seq++;
		seg->flags &= (uint8_t)~TCP_SYN;
		seg->wnd = (uint16_t)(seg->wnd >> c->snd_wscale); /* a SYN's is not scaled */
	}
	if (!tcp_rcv_paws(c, seg))
		return false;
	if (c->state == TCP_SYN_RECEIVED && seg->seq == c->rcv_nxt - 1 &&
		(seg->flags & (TCP_SYN | TCP_RST)) == TCP_SYN) {
		tcp_send_syn(c); /* our SYN,ACK was lost; whatever text is behind the peer's */
		return false;
	}
	if (!tcp_segment_acceptable(seg, c->rcv_nxt, tcp_rcv_wnd(c))) {
		tcp_rcv_answer_unacceptable(c, seg);
		return false;
	}
	if (seg->flags & TCP_RST) {
		tcp_rcv_reset_arrives(c, seg);
		return false;
	}
	if (seg->flags & TCP_SYN) {
		c->s->stats.syns_ignored++;
		tcp_challenge_ack(c);
		return false;
	}
	return tcp_rcv_ack_field(c, rx, seg);
}

/**
 * A new SYN for a pair in TIME-WAIT (RFC 9293 section 3.6.1, RFC 6191).
 * @return true if taken, and @p m with it.
 */
static bool tcp_rcv_reopen(
	struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	const struct ip_endpoint to = {c->id.local, c->id.lport};
	uint32_t above = c->snd_nxt;
	struct tcp_listener *l;
	bool newer;

	if ((seg->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) != TCP_SYN)
		return false;
	if (c->ts_on && (seg->has & TCP_HAS_TS) && seg->tsval != c->ts_recent)
		newer = seq_gt(seg->tsval, c->ts_recent);
	else
		newer = seq_gt(seg->seq, c->rcv_nxt);
	l = newer ? tcp_listener_find(c->s, &to) : NULL;
	if (!l || !c->orphan) /* not before its user has read all */
		return false;
	tcp_conn_close(c, 0);
	tcp_listen_input(l, rx, seg, m, &above);
	return true;
}

void tcp_segment_arrives(
	struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m)
{
	if (c->state == TCP_SYN_SENT) {
		tcp_rcv_syn_sent(c, rx, seg, m);
		return;
	}
	if (c->state == TCP_TIME_WAIT && tcp_rcv_reopen(c, rx, seg, m))
		return;
	if (!tcp_rcv_check(c, rx, seg)) {
		rte_pktmbuf_free(m);
		return;
	}
	/* RFC 3168 section 6.1.5: not of text that no window has room for. */
	if (seg->len && tcp_in(c, TCP_STATES_RECEIVING) && tcp_rcv_wnd(c))
		tcp_ecn_text(c, rx, seg);
	tcp_rcv_data_fin(c, seg, m);
}
