/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/skip_probe.h"

#include "tcp/control.h"
#include "tcp/output.h"

#include <errno.h>

/** The distance doubles with each honest answer, as far as this. */
#define MOST 18
/** But at least so many flights: one round trip in so many has a gap, on the longest path too. */
#define FLIGHTS 128

/** The next one is at least @p least records from now, and at most @p range - 1 more. */
static void tcp_skip_probe_schedule(struct tcp_conn *c, uint32_t least, uint32_t range)
{
	struct tcp_sendq *q = &c->sendq;

	q->skip_probe = q->head + q->nxt + least + random_u32(&c->s->cfg.random) % range;
}

bool tcp_skip_probe_begin(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	struct tcp_record *r = tcp_sendq_at(q, q->nxt);

	if (!c->skip_probe_log2) {
		c->skip_probe_log2 = TCP_SKIP_PROBE_FIRST;
		tcp_skip_probe_schedule(c, 1, 1u << TCP_SKIP_PROBE_FIRST);
		return false;
	}
	/* What follows shows the gap; a loss under repair would be confused with it. The peer's
	 * windows must not matter: it could use them to evade the check. */
	if (c->skipped || c->ca_state != TCP_CA_OPEN || r->len > c->emss ||
		q->nxt + 1 >= q->count || !seq_lt(tcp_record_end(r), c->push_seq))
		return false;
	r->flags |= TCP_REC_SKIPPED;
	q->skip_probe = q->head + q->nxt;
	c->skipped = true;
	c->s->stats.skip_probes++;
	return true;
}

void tcp_skip_probe_over(struct tcp_conn *c, struct tcp_record *r)
{
	uint32_t distance;

	r->flags &= (uint8_t)~TCP_REC_SKIPPED;
	if (!c->skipped)
		return; /* the other half of one that the path had cut */
	c->skipped = false;
	c->own_gap = c->sack_on;
	if (c->skip_probe_log2 < MOST)
		c->skip_probe_log2++;
	distance = u32_max(1u << c->skip_probe_log2, FLIGHTS * c->sendq.nxt);
	tcp_skip_probe_schedule(c, distance, distance);
}

enum answer { NOTHING, GAP, ACKNOWLEDGED };

/** What SACK block @p b says of record @p r. */
static enum answer tcp_skip_probe_block_says(
	const struct tcp_conn *c, const struct tcp_record *r, struct tcp_range b)
{
	/* As loss.c takes them: anything else is a D-SACK or nonsense. */
	if (!seq_lt(b.left, b.right) || !seq_gt(b.left, c->snd_una) || seq_gt(b.right, c->snd_nxt))
		return NOTHING;
	if (seq_gt(b.right, r->seq) && seq_lt(b.left, tcp_record_end(r)))
		return ACKNOWLEDGED;
	return seq_gt(b.left, r->seq) ? GAP : NOTHING;
}

static enum answer tcp_skip_probe_says(
	const struct tcp_conn *c, const struct tcp_segment *seg, const struct tcp_record *r)
{
	enum answer a = NOTHING;

	if (seq_gt(seg->ack, r->seq))
		return ACKNOWLEDGED;
	if (!c->sack_on) /* a duplicate of the ACK that asks for it */
		return seg->ack == r->seq && seg->ack == c->snd_una && !seg->len ? GAP : NOTHING;
	for (unsigned i = 0; i < seg->n_sack && a != ACKNOWLEDGED; i++) {
		enum answer b = tcp_skip_probe_block_says(c, r, seg->sack[i]);

		a = b > a ? b : a;
	}
	return a;
}

bool tcp_skip_probe_ack(struct tcp_conn *c, const struct tcp_segment *seg)
{
	const struct tcp_record *r = tcp_sendq_by_id(&c->sendq, c->sendq.skip_probe);

	switch (tcp_skip_probe_says(c, seg, r)) {
	case ACKNOWLEDGED:
		c->s->stats.optimistic_acks++;
		tcp_send_rst(c);
		tcp_conn_close(c, -ECONNABORTED);
		return false;
	case GAP:
		/* Without SACK, three more duplicates are sure to come: no sign of loss. */
		if (!c->sack_on)
			c->recover = r->seq;
		tcp_send_withheld(
			c, c->sendq.skip_probe -
				   c->sendq.head); /* no packet: the next ACK asks again */
		return true;
	default:
		return true;
	}
}
