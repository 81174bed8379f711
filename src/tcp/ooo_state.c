/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ooo_state.h"

#include "tcp/conn.h"
#include "tcp/mbuf.h"

#include <stdlib.h>

/** Mbufs of a segment that is offered before its turn, at most. */
#define PIECES_MAX 16

struct tcp_ooo_state *tcp_ooo_state_get(struct tcp_conn *c)
{
	if (!c->ooo_state)
		c->ooo_state = calloc(1, sizeof *c->ooo_state);
	return c->ooo_state;
}

static bool tcp_ooo_state_offer_chain(
	struct tcp_conn *c, uint32_t seq, const struct rte_mbuf *m, struct llp_note *note)
{
	struct llp_iov v[PIECES_MAX];
	uint32_t ahead = seq - (c->rcv_nxt - c->recvq.bytes);
	unsigned n = 0;

	for (const struct rte_mbuf *at = m; at; at = at->next)
		if (at->data_len)
			v[n++] = tcp_mbuf_iov(at);
	return c->llp.user_ops->ooo(c->llp.user, v, n, m->pkt_len, ahead, note);
}

bool tcp_ooo_state_offer(
	struct tcp_conn *c, const struct tcp_segment *seg, const struct rte_mbuf *m, bool more)
{
	struct tcp_ooo *o = &c->ooo_state->ooo;
	uint32_t held = o->held;
	struct tcp_note *note;
	bool took;

	/* Small pieces share packets, so that a note would save nothing. */
	if (!c->llp.user_ops || !c->llp.user_ops->ooo || seg->len <= TCP_PIECE_SMALL ||
		m->nb_segs > PIECES_MAX)
		return false;
	note = tcp_ooo_note(o, (struct tcp_range){seg->seq, seg->seq + seg->len}, more);
	took = note && tcp_ooo_state_offer_chain(c, seg->seq, m, &note->text);
	if (took)
		tcp_ooo_keep_note(o, note);
	else if (note)
		tcp_ooo_drop_note(o, note);
	c->s->rx_held += o->held - held;
	c->s->stats.taken_ooo += took;
	return took;
}

void tcp_ooo_state_done(struct tcp_conn *c)
{
	if (!c->ooo_state || c->ooo_state->ooo.n ||
		(c->sack_on && tcp_sack_is_news(&c->ooo_state->sack)))
		return;
	free(c->ooo_state);
	c->ooo_state = NULL;
}

void tcp_ooo_state_clear(struct tcp_conn *c)
{
	if (!c->ooo_state)
		return;
	c->s->rx_held -= c->ooo_state->ooo.held;
	tcp_ooo_clear(&c->ooo_state->ooo);
	free(c->ooo_state);
	c->ooo_state = NULL;
}

void tcp_ooo_state_duplicate(struct tcp_conn *c, struct tcp_range r)
{
	struct tcp_ooo_state *e;

	c->s->stats.duplicate++;
	e = c->sack_on ? tcp_ooo_state_get(c) : NULL;
	/* Of one segment, the first run of such bytes is told (RFC 2883 section 4.2). */
	if (e && !e->sack.has_dup)
		tcp_sack_duplicate(&e->sack, r);
}
