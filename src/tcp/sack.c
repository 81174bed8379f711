/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/sack.h"

static bool tcp_sack_within(struct tcp_range r, uint32_t seq)
{
	return seq - r.left < r.right - r.left;
}

void tcp_sack_add(struct tcp_sack_out *s, const struct tcp_ooo *o, uint32_t seq)
{
	const struct tcp_island *at = tcp_ooo_find(o, seq);
	uint32_t keep[TCP_SACK_RECENT];
	unsigned n = 0, fresh = 1;

	if (!at)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		if (tcp_sack_within(at->r, s->recent[i]))
			continue; /* the same island, or one that has joined it */
		if (i < s->fresh)
			fresh++;
		keep[n++] = s->recent[i];
	}
	n = n < TCP_SACK_RECENT ? n : TCP_SACK_RECENT - 1;
	s->recent[0] = seq;
	for (unsigned i = 0; i < n; i++)
		s->recent[i + 1] = keep[i];
	s->n = (uint8_t)(n + 1);
	s->fresh = (uint8_t)(fresh < s->n ? fresh : s->n);
}

/** Add island @p at, unless it is among the blocks from number @p from on. */
static void tcp_sack_add_block(struct tcp_segment *seg, unsigned from, const struct tcp_island *at)
{
	for (unsigned i = from; i < seg->n_sack; i++)
		if (seg->sack[i].left == at->r.left)
			return;
	seg->sack[seg->n_sack++] = at->r;
}

void tcp_sack_emit(
	struct tcp_sack_out *s, const struct tcp_ooo *o, struct tcp_segment *seg, unsigned max)
{
	unsigned from, kept = 0, told;

	seg->n_sack = 0;
	if (s->has_dup && max) {
		seg->sack[seg->n_sack++] = s->dup;
		s->dup = (struct tcp_range){0, 0};
		s->has_dup = false;
	}
	from = seg->n_sack;
	for (unsigned i = 0; i < s->n; i++) {
		const struct tcp_island *at = tcp_ooo_find(o, s->recent[i]);

		if (!at)
			continue; /* delivered, or dropped */
		s->recent[kept++] = s->recent[i];
		if (seg->n_sack < max)
			tcp_sack_add_block(seg, from, at);
	}
	s->n = (uint8_t)kept;
	told = seg->n_sack - from;
	if (told >= s->fresh || told >= kept)
		s->fresh = 0;
	/* Room left: the lowest islands tell of the gaps to be repaired first. */
	for (uint32_t i = 0; i < o->n && seg->n_sack < max; i++)
		tcp_sack_add_block(seg, from, tcp_ooo_at(o, i));
}
