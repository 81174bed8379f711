/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/sack.h"

void tcp_sack_add(struct tcp_sack_out *s, struct tcp_range r)
{
	struct tcp_range keep[TCP_SACK_BLOCKS];
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		const struct tcp_range *b = &s->block[i];

		if (seq_leq(b->left, r.right) && seq_leq(r.left, b->right)) {
			r.left = seq_min(r.left, b->left);
			r.right = seq_max(r.right, b->right);
		} else {
			keep[n++] = *b;
		}
	}
	s->block[0] = r;
	if (n > TCP_SACK_BLOCKS - 1)
		n = TCP_SACK_BLOCKS - 1;
	for (unsigned i = 0; i < n; i++)
		s->block[i + 1] = keep[i];
	s->n = (uint8_t)(n + 1);
}

void tcp_sack_advance(struct tcp_sack_out *s, uint32_t next)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		if (seq_gt(s->block[i].right, next))
			s->block[n++] = s->block[i];
	s->n = (uint8_t)n;
}

void tcp_sack_emit(struct tcp_sack_out *s, struct tcp_segment *seg, unsigned max)
{
	unsigned n = 0;

	if (s->has_dup && max) {
		seg->sack[n++] = s->dup;
		s->has_dup = false;
	}
	for (unsigned i = 0; i < s->n && n < max; i++)
		seg->sack[n++] = s->block[i];
	seg->n_sack = (uint8_t)n;
}
