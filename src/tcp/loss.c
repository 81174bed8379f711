/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/loss.h"

#include "base/probe.h"
#include "tcp/output.h"
#include "tcp/timers.h"
#include "tcp/tlp.h"
#include "tcp/undo.h"

/** How long a peer that seems to have reneged may need to take what it has to its user. */
#define RENEGE_WAIT (10 * TCP_MS)
/** A retransmission timeout of this does not grow while the owner of the next hop's address is not
 * settled.
 */
#define UNSETTLED_RTO (1000 * TCP_MS)

void tcp_loss_init(struct tcp_conn *c)
{
	tcp_rack_init(&c->rec.rack, c->snd_una);
	c->recover = c->snd_una - 1;
	c->rec.rto_from = c->progress_at;
}

/* ---- what an ACK delivered ----------------------------------------------------------------- */

/**
 * RFC 8985 section 6.2, step 2: an answer to the last transmission of what was sent twice takes a
 * round trip. On a cumulative ACK the echoed timestamp tells as well; on others it is an old one.
 */
static uint64_t tcp_loss_credible_until(
	const struct tcp_conn *c, const struct tcp_segment *seg, bool cumulative)
{
	uint64_t now = c->s->now, until = now - u64_min(now, tcp_min_rtt_get(&c->rec.min_rtt));
	int32_t age = (int32_t)(c->s->now_ms + c->ts_offset - seg->tsecr);

	if (!cumulative || !c->ts_on || !(seg->has & TCP_HAS_TS) || age < 0 ||
		(uint64_t)age * TCP_MS > now)
		return until;
	return u64_min(until, now - now % TCP_MS - (uint64_t)age * TCP_MS + TCP_MS - 1);
}

/**
 * A block that tells of something above SND.UNA: anything else is a D-SACK or nonsense, such as
 * the byte that SEG.ACK asks for.
 */
static bool tcp_loss_block_ok(const struct tcp_conn *c, struct tcp_range r)
{
	return seq_lt(r.left, r.right) && seq_gt(r.left, c->snd_una) &&
	       seq_leq(r.right, c->snd_nxt);
}

/** Lowest first, lest two blocks that one ACK brings look like reordering. */
static unsigned tcp_loss_sort_blocks(
	const struct tcp_conn *c, const struct tcp_segment *seg, struct tcp_range *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < seg->n_sack; i++) {
		unsigned k = n;

		if (!tcp_loss_block_ok(c, seg->sack[i]))
			continue;
		for (; k && seq_lt(seg->sack[i].left, to[k - 1].left); k--)
			to[k] = to[k - 1];
		to[k] = seg->sack[i];
		n++;
	}
	return n;
}

void tcp_loss_take(struct tcp_conn *c, struct tcp_ack_info *n)
{
	const struct tcp_segment *seg = n->seg;
	struct tcp_range r[TCP_SACK_MAX];
	unsigned blocks;

	n->d.fack = c->rec.rack.fack;
	n->d.mbuf_cache = &c->s->mbuf_cache;
	if (seq_gt(seg->ack, c->snd_una)) {
		n->d.credible_until = tcp_loss_credible_until(c, seg, true);
		tcp_sendq_ack(&c->sendq, seg->ack, &n->d);
		c->snd_una = seg->ack;
	}
	if (!seg->n_sack || !c->sack_on)
		return;
	n->d.credible_until = tcp_loss_credible_until(c, seg, false);
	blocks = tcp_loss_sort_blocks(c, seg, r);
	for (unsigned i = 0; i < blocks; i++)
		tcp_sendq_sack(&c->sendq, r[i], &n->d);
}

/* ---- the timer ----------------------------------------------------------------------------- */

/** RFC 2018 section 8: the peer cannot have what it asks for. */
static bool tcp_loss_reneged(const struct tcp_conn *c)
{
	return c->sendq.nxt && (tcp_sendq_at(&c->sendq, 0)->flags & TCP_REC_SACKED);
}

/** @p reorder when the next record will be believed lost, if no news comes; 0: none. */
static void tcp_loss_run_timer(struct tcp_conn *c, uint64_t reorder)
{
	uint64_t rto = c->rec.rto_from + tcp_timers_interval(c), at = rto;

	c->rec.timer = TCP_TIMER_RTO;
	if (!tcp_flight(c)) {
		if (!c->persist)
			c->rtx_at = TIMER_NEVER;
		return;
	}
	if (tcp_loss_reneged(c)) {
		at = u64_min(rto, c->s->now + u64_max(c->rto.srtt / 2, RENEGE_WAIT));
	} else if (reorder && reorder < rto) {
		c->rec.timer = TCP_TIMER_REORDER;
		at = reorder;
	} else if (tcp_tlp_wanted(c)) {
		c->rec.timer = TCP_TIMER_PROBE;
		at = u64_min(rto, c->s->now + tcp_tlp_pto(c));
	}
	tcp_timers_set_rtx(c, at);
}

void tcp_loss_sent(struct tcp_conn *c)
{
	if (c->rec.timer == TCP_TIMER_REORDER && c->rtx_at != TIMER_NEVER)
		return;
	tcp_loss_run_timer(c, 0);
}

/* ---- recovery ------------------------------------------------------------------------------ */

static struct tcp_rack_loss tcp_loss_detect(struct tcp_conn *c)
{
	uint64_t wnd = tcp_rack_reo_wnd(&c->rec.rack, tcp_min_rtt_get(&c->rec.min_rtt), c->rto.srtt,
		tcp_ca_recovering(c), c->sendq.n_sacked);

	return tcp_rack_detect(&c->rec.rack, &c->sendq, wnd, c->s->now);
}

/** Congestion control sets the goal, proportional rate reduction leads there. */
static void tcp_loss_reduce(struct tcp_conn *c, enum tcp_cc_signal why, uint32_t in_flight)
{
	/* Text sent for others' duplicates is not counted (RFC 5681 section 3.2, step 2). */
	tcp_cc_congestion(&c->cc, why, u32_min(tcp_flight(c), c->cc.cwnd), c->s->now);
	tcp_prr_begin(&c->repair.prr, in_flight);
	c->repair.reduced_at = c->s->now;
}

static void tcp_loss_enter_recovery(struct tcp_conn *c, uint32_t in_flight)
{
	/* In CWR it is reduced already in this window (RFC 3168 section 6.1.2). */
	if (c->ca_state != TCP_CA_CWR) {
		tcp_loss_reduce(c, TCP_CC_LOSS, in_flight);
		tcp_undo_begin(c, false);
	}
	c->ca_state = TCP_CA_RECOVERY;
	c->rtx_first = true; /* RFC 6675 section 5, step 4.3; RFC 5681 section 3.2, step 3 */
	c->recover = c->snd_nxt;
	c->rec.tlp_out = false;
	c->fast_recoveries++;
	if (!c->sack_on && c->sendq.nxt)
		tcp_sendq_lose(&c->sendq, 0);
}

/** Back to normal, whatever it was. */
static void tcp_loss_settle(struct tcp_conn *c)
{
	c->ca_state = TCP_CA_OPEN;
	c->rtx_first = false;
	c->rec.frto = TCP_FRTO_OFF;
	c->dupacks = 0;
	c->dup_bytes = 0;
}

/** All that was in flight when recovery began is acknowledged. */
static void tcp_loss_leave(struct tcp_conn *c)
{
	if (c->ca_state != TCP_CA_LOSS && !c->cc.ops->owns_cwnd)
		c->cc.cwnd = c->cc.ssthresh;
	if (tcp_ca_recovering(c))
		tcp_rack_recovered(&c->rec.rack);
	tcp_loss_settle(c);
	c->repair.undo_until = c->snd_nxt;
	tcp_cc_recovered(&c->cc, c->s->now);
}

void tcp_loss_undo(struct tcp_conn *c)
{
	if (c->rec.undo_timeout) {
		c->rto.spurious += c->rto.spurious < UINT16_MAX;
	} else {
		c->spurious_recoveries += c->spurious_recoveries < UINT16_MAX;
		/* It was reordering, which RACK cannot see in what was sent again. */
		c->rec.rack.reordering_seen = true;
	}
	c->rec.undo_on = false;
	tcp_sendq_unlose(&c->sendq);
	/* What is not taken back ends as in tcp_loss_leave(). */
	if (c->ca_state == TCP_CA_RECOVERY && !c->cc.prior_cwnd && !c->cc.ops->owns_cwnd)
		c->cc.cwnd = c->cc.ssthresh;
	tcp_cc_undo(&c->cc, c->s->now);
	if (!tcp_ca_recovering(c))
		return;
	tcp_rack_recovered(&c->rec.rack);
	tcp_loss_settle(c);
	c->recover = c->snd_una - 1;
	c->rec.rto_from = c->s->now;
}

/** Without SACK: what duplicate ACKs and partial ACKs say (RFC 5681 section 3.2, RFC 6582). */
static void tcp_loss_count_duplicates(struct tcp_conn *c, struct tcp_ack_info *n)
{
	uint32_t counted;

	if (n->duplicate) {
		if (c->dupacks < UINT8_MAX)
			c->dupacks++;
		/* A segment has left the network: what SACK would say. */
		if (!c->sack_on) {
			n->d.delivered = u32_min(c->emss, tcp_flight(c) - c->dup_bytes);
			c->dup_bytes += n->d.delivered;
		}
		return;
	}
	if (!n->d.acked)
		return;
	counted = u32_min(c->dup_bytes, n->d.acked);
	c->dup_bytes -= counted;
	n->d.delivered -= u32_min(counted, n->d.delivered);
	if (tcp_ca_recovering(c)) {
		/* RFC 6582 section 3.2, step 3: a partial ACK; the next hole is lost too. */
		if (c->ca_state == TCP_CA_RECOVERY && !c->sack_on && c->sendq.nxt) {
			tcp_sendq_lose(&c->sendq, 0);
			c->rtx_first = true;
		}
	} else {
		c->dupacks = 0;
		c->dup_bytes = 0;
	}
}

/** RFC 6582 section 3.2, step 2: no second time for what go-back-N makes the peer repeat. */
static bool tcp_loss_third_duplicate(const struct tcp_conn *c)
{
	return !c->sack_on && c->dupacks >= TCP_DUP_THRESH && seq_gt(c->snd_una, c->recover);
}

/** Proportional rate reduction's part of an ACK. @p lost more was found lost by it. */
static void tcp_loss_send_in_proportion(struct tcp_conn *c, const struct tcp_delivery *d, bool lost)
{
	uint32_t pipe = tcp_pipe(c);

	if (c->cc.ops->owns_cwnd)
		return;
	/* In CWR nothing is repaired, so nothing is to be caught up with. */
	c->cc.cwnd = pipe + tcp_prr_ack(&c->repair.prr, d->delivered, pipe, c->cc.ssthresh,
				    c->cc.smss, d->acked && !lost && tcp_ca_recovering(c));
}

/** A retransmission was lost, one that was sent at @p sent_at. */
static void tcp_loss_lost_again(struct tcp_conn *c, const struct tcp_ack_info *n, uint64_t sent_at)
{
	/* It has left the network, and the next ACK may be a round trip away: whatever share of
	 * this one proportional rate reduction leaves. */
	c->rtx_first = true;
	/* RFC 5681 section 4.3: so the window falls again. But where some packets are late, some
	 * retransmissions are late, too. The window would fall in each round trip of a long
	 * recovery, and nothing could take that back. */
	if (sent_at < c->repair.reduced_at || c->rec.rack.reordering_seen)
		return;
	tcp_loss_reduce(c, TCP_CC_LOSS, n->prior_pipe);
	c->rec.undo_on = false;
}

/** What looking for losses found, in whatever state. */
static void tcp_loss_conclude(
	struct tcp_conn *c, const struct tcp_ack_info *n, struct tcp_rack_loss loss)
{
	if (!tcp_ca_recovering(c)) {
		if (loss.lost || tcp_loss_third_duplicate(c))
			tcp_loss_enter_recovery(c, n->prior_pipe);
	} else if (c->ca_state == TCP_CA_RECOVERY && loss.relost) {
		tcp_loss_lost_again(c, n, loss.relost);
	}
	if (tcp_ca_reducing(c))
		tcp_loss_send_in_proportion(c, &n->d, loss.lost != 0);
}

/** TCP_CA_OPEN, and nothing is late, probed or to be taken back. */
static bool tcp_loss_ca_open(const struct tcp_conn *c)
{
	return c->ca_state == TCP_CA_OPEN && !c->dupacks && !c->rec.undo_on && !c->rec.tlp_out &&
	       !c->sendq.n_sacked && !c->sendq.rtx_queue.n;
}

void tcp_loss_on_ack(struct tcp_conn *c, struct tcp_ack_info *n)
{
	struct tcp_rack_loss loss = {0};
	bool undone;

	tcp_rack_delivered(&c->rec.rack, &n->d, c->snd_una, c->s->now);
	if (likely(tcp_loss_ca_open(c) && !n->duplicate && !n->seg->n_sack)) {
		c->recover = c->snd_una - 1; /* kept near, so that it cannot come round */
		tcp_loss_run_timer(c, 0);
		return;
	}
	undone = tcp_undo_on_ack(c, n);
	tcp_tlp_on_ack(c, n);
	if (c->ca_state != TCP_CA_OPEN && seq_geq(c->snd_una, c->recover))
		tcp_loss_leave(c);
	tcp_loss_count_duplicates(c, n);
	if (c->sack_on)
		loss = tcp_loss_detect(c);
	tcp_loss_conclude(c, n, loss);
	if (n->d.acked || n->d.sacked || loss.lost || undone)
		tcp_loss_run_timer(c, loss.next);
}

void tcp_loss_ecn(struct tcp_conn *c)
{
	if (c->ca_state != TCP_CA_OPEN)
		return;
	tcp_loss_reduce(c, TCP_CC_ECN, tcp_pipe(c));
	c->rec.undo_on = false;
	c->ca_state = TCP_CA_CWR;
	c->recover = c->snd_nxt;
}

/* ---- timeouts ------------------------------------------------------------------------------ */

/** The reordering timer (RFC 8985 section 6.2, step 5). */
static void tcp_loss_reorder_timeout(struct tcp_conn *c)
{
	struct tcp_ack_info none;
	struct tcp_rack_loss loss;

	tcp_ack_info_begin(&none, NULL, tcp_pipe(c));
	loss = tcp_loss_detect(c);
	tcp_loss_conclude(c, &none, loss);
	tcp_loss_run_timer(c, loss.next);
	tcp_conn_mark_dirty(c);
}

/** RFC 6298 sections 5.4 to 5.6, with RFC 8985 section 6.3 for what is lost. */
static void tcp_loss_retransmit_timeout(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	bool same = c->ca_state == TCP_CA_LOSS && c->snd_una == c->repair.undo_from;
	bool fresh = !tcp_ca_recovering(c);
	uint64_t wnd = tcp_rack_reo_wnd(
		&c->rec.rack, tcp_min_rtt_get(&c->rec.min_rtt), c->rto.srtt, true, q->n_sacked);

	if (tcp_loss_reneged(c))
		tcp_sendq_forget_sacks(q);
	/* RFC 5681 section 3.1: ssthresh falls once for the same data. */
	if (c->ca_state != TCP_CA_LOSS) {
		tcp_cc_timeout(&c->cc, tcp_flight(c), c->s->now);
		tcp_undo_begin(c, true);
		c->repair.reduced_at = c->s->now;
	} else {
		if (!c->cc.ops->owns_cwnd)
			c->cc.cwnd = c->cc.smss;
		c->rec.undo_on = c->rec.undo_on && same;
	}
	tcp_rack_timeout(&c->rec.rack, q, c->sack_on ? wnd : 0, c->s->now);
	while (!c->sack_on && q->flight.n)
		tcp_sendq_lose(q, tcp_sendq_oldest(q));
	tcp_loss_settle(c);
	c->ca_state = TCP_CA_LOSS;
	c->rtx_first = true;
	c->recover = c->snd_nxt;
	c->rec.tlp_out = false;
	/* RFC 5682 section 3.1, step 1: not when recovery was under way, but again for the same. */
	c->rec.frto = fresh || same ? TCP_FRTO_WAIT : TCP_FRTO_OFF;
	c->rec.rto_from = c->s->now;
}

void tcp_loss_timer(struct tcp_conn *c)
{
	switch (c->rec.timer) {
	case TCP_TIMER_REORDER:
		tcp_loss_reorder_timeout(c);
		break;
	case TCP_TIMER_PROBE:
		if (tcp_tlp_timeout(c)) /* RFC 8985 section 7.3: the last resort, anew */
			c->rec.rto_from = c->s->now;
		tcp_loss_run_timer(c, 0);
		break;
	default:
		c->timeouts++;
		c->s->stats.timeouts++;
		PROBE4(rto, c->id.lport, c->id.rport, c->snd_una, c->timeouts);
		tcp_loss_retransmit_timeout(c);
		/* A link where packets went to the wrong station is not congested: as RFC 6069. */
		if (!tcp_conn_doubt_path(c) || tcp_rto_get(&c->rto) < UNSETTLED_RTO)
			tcp_rto_expired(&c->rto);
		tcp_loss_run_timer(c, 0);
		tcp_output(c);
	}
}

void tcp_loss_too_big(struct tcp_conn *c)
{
	for (uint32_t i = 0; i < c->sendq.nxt; i++)
		if (tcp_sendq_at(&c->sendq, i)->len > c->emss)
			tcp_sendq_lose(&c->sendq, i);
}
