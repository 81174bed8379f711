/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include <stdlib.h>

/** Pieces of one FPDU; one of 64 KB in segments of eight octets. */
#define PIECES_MAX 8192

/** Stands for text that is not in the capture; as long as FPDUs are, with markers. */
static const uint8_t stream_queue_nothing[1 << 17];

static bool stream_queue_grow(struct stream *s)
{
	unsigned cap = s->cap == 0 ? 2 : 2 * s->cap;
	struct piece *meta;
	struct llp_iov *v;

	if (s->cap == PIECES_MAX)
		return false;
	v = realloc(s->v, cap * sizeof *v);
	if (!v)
		return false;
	s->v = v;
	meta = realloc(s->meta, cap * sizeof *meta);
	if (!meta)
		return false;
	s->meta = meta;
	s->cap = cap;
	return true;
}

bool stream_push(struct stream *s, const struct piece *p)
{
	if (!p->bytes && p->len > sizeof stream_queue_nothing)
		return false;
	if (s->n == s->cap && !stream_queue_grow(s))
		return false;
	s->v[s->n] =
		(struct llp_iov){.base = p->bytes ? p->bytes : stream_queue_nothing, .len = p->len};
	s->meta[s->n++] = *p;
	s->total += p->len;
	return true;
}

uint32_t stream_seq_behind(const struct stream *s, size_t len)
{
	size_t end = s->off + len;
	unsigned i = 0;

	while (end > s->v[i].len)
		end -= s->v[i++].len;
	return s->meta[i].seq + (uint32_t)end + (end == s->v[i].len ? s->meta[i].more : 0);
}

void stream_drop(struct stream *s, size_t len)
{
	unsigned n = 0;

	s->total -= len;
	s->sought = s->sought > len ? s->sought - len : 0;
	s->deframe.at += len;
	s->off += len;
	while (n < s->n && s->off >= s->v[n].len)
		s->off -= s->v[n++].len;
	if (n == 0)
		return;
	s->n -= n;
	memmove(s->v, s->v + n, s->n * sizeof *s->v);
	memmove(s->meta, s->meta + n, s->n * sizeof *s->meta);
}

bool stream_captured_in_pieces(const struct stream *s, size_t at, size_t len)
{
	size_t end = at + len + s->off;

	at += s->off;
	for (unsigned i = 0; i < s->n && end > 0; i++) {
		size_t n = s->v[i].len;

		if (at < n && !s->meta[i].bytes)
			return false;
		if (end <= n)
			return true;
		at = at > n ? at - n : 0;
		end -= n;
	}
	return false;
}
