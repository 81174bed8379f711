/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/undo.h"

#include "tcp/output.h"

void tcp_undo_begin(struct tcp_conn *c, bool timeout)
{
	c->rec.undo_on = true;
	c->rec.undo_timeout = timeout;
	c->repair.undo_from = c->snd_una;
	c->repair.undo_until = c->snd_nxt;
	c->repair.undo_bytes = 0;
	c->rec.rexmitted = c->rec.late = c->rec.genuine = false;
}

void tcp_undo_rexmit(struct tcp_conn *c, uint32_t len)
{
	if (!c->rec.undo_on)
		return;
	c->repair.undo_bytes += len;
	c->rec.rexmitted = true;
}

bool tcp_undo_dsack(const struct tcp_segment *seg, struct tcp_range *dup)
{
	if (!seg->n_sack)
		return false;
	*dup = seg->sack[0];
	if (!seq_lt(dup->left, dup->right))
		return false;
	return seq_lt(dup->left, seg->ack) ||
	       (seg->n_sack > 1 && seq_geq(dup->left, seg->sack[1].left) &&
		       seq_leq(dup->right, seg->sack[1].right));
}

/** @return whether a D-SACK proved that all that was sent again had arrived before. */
static bool tcp_undo_all_duplicates(struct tcp_conn *c, const struct tcp_segment *seg)
{
	struct tcp_range dup;

	/* What we never sent, or have forgotten, tells nothing; nor do more duplicates than were
	 * sent again: the network made them. */
	if (!c->sack_on || !tcp_undo_dsack(seg, &dup) || seq_gt(dup.right, c->snd_max) ||
		seq_lt(dup.left, c->snd_una - c->max_snd_wnd) || c->dsacks >= c->retransmits)
		return false;
	c->dsacks++;
	if (c->rec.tlp_out && c->rec.tlp_rexmit && dup.right == c->repair.tlp_end)
		return false;
	tcp_rack_dsack(&c->rec.rack, c->snd_nxt);
	if (!c->rec.undo_on || !c->rec.rexmitted || seq_lt(dup.left, c->repair.undo_from) ||
		seq_gt(dup.right, c->repair.undo_until))
		return false;
	c->repair.undo_bytes -= u32_min(c->repair.undo_bytes, dup.right - dup.left);
	return c->repair.undo_bytes == 0;
}

/**
 * RFC 3522: what filled the hole was sent before we sent it again, or it was not. The peer echoes
 * what made SND.UNA advance, which is the oldest record acknowledged.
 */
static void tcp_undo_compare_timestamps(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	uint32_t rexmit_ts = (uint32_t)(n->d.rexmit_at / TCP_MS) + c->ts_offset;

	if (!n->d.rexmit_at || n->d.rexmit_at < c->repair.reduced_at || !c->ts_on ||
		!(n->seg->has & TCP_HAS_TS))
		return;
	if (seq_lt(n->seg->tsecr, rexmit_ts))
		c->rec.late = true;
	else
		c->rec.genuine = true;
}

static void tcp_undo_bound_cwnd(struct tcp_conn *c, uint32_t segments)
{
	if (!c->cc.ops->owns_cwnd)
		c->cc.cwnd = u32_min(c->cc.cwnd, segments * c->cc.smss);
}

/** RFC 5682 section 3.1, steps 2 and 3. @return whether the timeout was spurious. */
static bool tcp_undo_frto(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	const struct tcp_delivery *d = &n->d;

	if (c->rec.frto == TCP_FRTO_WAIT && d->acked) {
		if (seq_geq(c->snd_una, c->recover)) { /* step 2a */
			tcp_undo_bound_cwnd(c, 2);
			c->rec.frto = TCP_FRTO_OFF;
		} else if (!c->rec.genuine && tcp_may_send_new(c)) { /* step 2b */
			c->recover = c->snd_nxt;
			c->rec.frto = TCP_FRTO_TRY;
			c->rec.frto_left = 2;
		} else { /* nothing to try it with, or timestamps have told already */
			c->rec.frto = TCP_FRTO_OFF;
		}
	} else if (c->rec.frto == TCP_FRTO_WAIT) {
		/* Without SACK, a duplicate says that the rest is not late (section 2.1). */
		if (n->duplicate && !c->sack_on)
			c->rec.frto = TCP_FRTO_OFF;
	} else if (c->rec.frto == TCP_FRTO_TRY && (d->delivered || n->duplicate)) {
		c->rec.frto = TCP_FRTO_OFF;
		if (d->delivered && seq_leq(d->fack, c->recover)) /* step 3b */
			return true;
		tcp_undo_bound_cwnd(c, 3); /* step 3a */
	}
	return false;
}

bool tcp_undo_on_ack(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	bool during = tcp_ca_recovering(c);
	bool duplicates = tcp_undo_all_duplicates(c, n->seg);
	bool over = !during && seq_gt(c->snd_una, c->repair.undo_until);
	bool spurious;

	if (!c->rec.undo_on)
		return false;
	if (over) { /* but an ACK that was overtaken is of the time that its number tells */
		if (c->snd_una - c->repair.undo_until > c->max_snd_wnd)
			c->rec.undo_on = false; /* no acceptable one is older */
		if (!c->rec.undo_on || seq_gt(n->seg->ack, c->repair.undo_until))
			return false;
	}
	if (during)
		c->repair.undo_until = c->snd_nxt;
	if (!over)
		tcp_undo_compare_timestamps(c, n);
	/* Fast recovery is for many losses: while others are not proved wrong, it goes on. */
	spurious = duplicates || (c->rec.late && !c->rec.genuine);
	if (c->ca_state == TCP_CA_RECOVERY && c->sendq.lost && seq_lt(c->snd_una, c->recover))
		spurious = false;
	if (c->ca_state == TCP_CA_LOSS && !spurious)
		spurious = tcp_undo_frto(c, n);
	if (spurious)
		tcp_loss_undo(c);
	return spurious;
}
