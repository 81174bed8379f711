/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/tlp.h"

#include "tcp/output.h"
#include "tcp/undo.h"

/** A peer that had to wake up first is not a loss, however short the path. */
#define PTO_MIN (2 * TCP_MS)

bool tcp_tlp_wanted(const struct tcp_conn *c)
{
	/* SACK tells the losses before the probe; section 7.4.2's arithmetic needs D-SACK. */
	return c->sack_on && !tcp_ca_recovering(c) && !c->sendq.n_sacked && !c->sendq.rtx_queue.n &&
	       !c->rec.tlp_out && !c->rec.tlp_unfit && !c->rto.backoff;
}

uint64_t tcp_tlp_pto(const struct tcp_conn *c)
{
	uint64_t pto = c->rto.srtt ? u64_max(2 * c->rto.srtt, PTO_MIN) : tcp_rto_get(&c->rto);

	/* Less than two full segments the peer may be in no hurry to acknowledge. */
	return tcp_flight(c) < 2 * c->emss ? pto + c->s->cfg.max_ack_delay_ms * TCP_MS : pto;
}

/**
 * What a loss that the probe repairs would tell of: RFC 5681's FlightSize when the last segment was
 * sent. When its loss is noticed, little is in flight: what was sent before it has arrived.
 */
static uint32_t tcp_tlp_flight(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;

	return q->nxt ? u32_max(tcp_flight(c), tcp_sendq_at(q, q->nxt - 1)->tx_in_flight) : 0;
}

bool tcp_tlp_timeout(struct tcp_conn *c)
{
	uint32_t flight = tcp_tlp_flight(c); /* sending it again forgets that */
	int sent = tcp_send_loss_probe(c);

	c->rec.tlp_unfit = true;
	if (sent < 0)
		return false;
	c->repair.tlp_flight = flight;
	c->rec.tlp_rexmit = sent > 0;
	c->rec.tlp_out = true;
	c->repair.tlp_end = c->snd_nxt;
	c->rec.tlp_probes += c->rec.tlp_probes < UINT16_MAX;
	return true;
}

/** The probe repaired a loss that was not noticed otherwise: answer it as fast recovery would. */
static void tcp_tlp_repaired(struct tcp_conn *c)
{
	if (c->ca_state != TCP_CA_OPEN)
		return;
	tcp_cc_congestion(
		&c->cc, TCP_CC_LOSS, u32_min(c->repair.tlp_flight, c->cc.cwnd), c->s->now);
	c->rec.undo_on = false; /* of the one before, which cannot be taken back without this one */
	if (!c->cc.ops->owns_cwnd)
		c->cc.cwnd = u32_min(c->cc.cwnd, c->cc.ssthresh);
	tcp_cc_recovered(&c->cc, c->s->now);
}

void tcp_tlp_on_ack(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	struct tcp_range dup;

	if (!c->rec.tlp_out || seq_lt(n->seg->ack, c->repair.tlp_end))
		return;
	if (!c->rec.tlp_rexmit ||
		(tcp_undo_dsack(n->seg, &dup) && dup.right == c->repair.tlp_end)) {
		c->rec.tlp_out = false; /* new text arrived; or both did, and nothing was lost */
	} else if (seq_gt(n->seg->ack, c->repair.tlp_end)) {
		c->rec.tlp_out = false;
		tcp_tlp_repaired(c);
	} else if (n->duplicate && !n->seg->n_sack) {
		c->rec.tlp_out = false; /* both arrived, at a peer without D-SACK */
	}
}
