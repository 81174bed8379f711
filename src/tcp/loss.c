/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/loss.h"

/** DupThresh: RFC 5681 section 3.2, RFC 6675 section 2. */
#define DUP_THRESH 3

void tcp_loss_sack(struct tcp_conn *c, const struct tcp_segment *seg, struct tcp_delivery *d)
{
	if (!c->sack_on)
		return;
	for (unsigned i = 0; i < seg->n_sack; i++) {
		struct tcp_range r = seg->sack[i];
		uint32_t before = d->sacked;

		/* Blocks at or below SND.UNA are D-SACKs (RFC 2883); others must make sense. */
		if (!seq_lt(r.left, r.right) || seq_leq(r.right, c->snd_una) ||
			seq_gt(r.right, c->snd_nxt))
			continue;
		tcp_sendq_sack(&c->sendq, r, d);
		if (d->sacked != before && seq_gt(r.right, c->high_sacked))
			c->high_sacked = r.right;
	}
}

/**
 * RFC 6675 section 4, IsLost: three SACKed segments above. Records may be far smaller than SMSS,
 * so segments are counted, not bytes. What was sent again is left to the timer.
 */
static bool mark_lost(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	uint32_t i = tcp_sendq_find(q, c->high_sacked - 1) + 1, above = 0;
	bool any = false;

	if (!q->sacked)
		return false;
	if (i > q->nxt)
		i = q->nxt;
	while (i && above < DUP_THRESH)
		above += (tcp_sendq_at(q, --i)->flags & TCP_REC_SACKED) != 0;
	while (i--) {
		if (tcp_sendq_at(q, i)->flags & (TCP_REC_SACKED | TCP_REC_LOST))
			continue;
		tcp_sendq_lose(q, i);
		any = true;
	}
	return any;
}

static void enter_recovery(struct tcp_conn *c)
{
	tcp_cc_congestion(&c->cc, TCP_CC_LOSS, tcp_flight(c), c->s->now);
	if (!c->cc.ops->owns_cwnd)
		c->cc.cwnd = c->cc.ssthresh; /* RFC 6675 section 5, step 4.2 */
	c->recovery = true;
	c->rtx_first = true; /* RFC 6675 section 5, step 4.3; RFC 5681 section 3.2, step 3 */
	c->recover = c->snd_nxt;
	c->fast_recoveries++;
	if (c->sendq.nxt && !(tcp_sendq_at(&c->sendq, 0)->flags & TCP_REC_LOST))
		tcp_sendq_lose(&c->sendq, 0);
}

static void advance(struct tcp_conn *c, uint32_t acked)
{
	c->dup_bytes = c->dup_bytes > acked ? c->dup_bytes - acked : 0;
	if (!c->recovery && !c->rto_recovery) {
		c->dupacks = 0;
		c->dup_bytes = 0;
		return;
	}
	if (seq_geq(c->snd_una, c->recover)) {
		c->recovery = c->rto_recovery = c->rtx_first = false;
		tcp_cc_recovered(&c->cc, c->s->now);
		c->dupacks = 0;
		c->dup_bytes = 0;
	} else if (c->recovery && !c->sack_on && c->sendq.nxt) {
		/* RFC 6582 section 3.2, step 3: a partial ACK; the next hole is lost too. */
		tcp_sendq_lose(&c->sendq, 0);
		c->rtx_first = true;
	}
}

static void duplicate(struct tcp_conn *c)
{
	if (c->dupacks < UINT8_MAX)
		c->dupacks++;
	/* A segment has left the network: what SACK would say (RFC 5681 section 3.2, steps 1, 4).
	 */
	if (!c->sack_on)
		c->dup_bytes = u32_min(c->dup_bytes + c->emss, tcp_flight(c));
}

void tcp_loss_on_ack(struct tcp_conn *c, const struct tcp_delivery *d, bool dup)
{
	bool lost = false;

	if (d->acked)
		advance(c, d->acked);
	else if (dup || d->sacked)
		duplicate(c);
	if (c->sack_on && (d->sacked || (c->recovery && d->acked)))
		lost = mark_lost(c);
	if (c->recovery || c->rto_recovery || !tcp_flight(c))
		return;
	if (lost || c->dupacks >= DUP_THRESH)
		enter_recovery(c);
}

void tcp_loss_timeout(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;

	/* RFC 2018 section 8: the oldest byte is never SACKed unless the peer took its word back.
	 */
	if (q->nxt && (tcp_sendq_at(q, 0)->flags & TCP_REC_SACKED))
		tcp_sendq_forget_sacks(q);
	/* RFC 5681 section 3.1: ssthresh falls once for the same data. */
	if (!c->rto_recovery)
		tcp_cc_timeout(&c->cc, tcp_flight(c), c->s->now);
	else
		c->cc.cwnd = c->cc.smss;
	for (uint32_t i = 0; i < q->nxt; i++)
		tcp_sendq_lose(q, i);
	c->recovery = false;
	c->rto_recovery = true;
	c->recover = c->snd_nxt;
	c->dupacks = 0;
	c->dup_bytes = 0;
}

void tcp_loss_ecn(struct tcp_conn *c)
{
	tcp_cc_congestion(&c->cc, TCP_CC_ECN, tcp_flight(c), c->s->now);
	c->cc.cwnd = c->cc.ssthresh;
}

void tcp_loss_too_big(struct tcp_conn *c)
{
	for (uint32_t i = 0; i < c->sendq.nxt; i++)
		if (tcp_sendq_at(&c->sendq, i)->len > c->emss)
			tcp_sendq_lose(&c->sendq, i);
}
