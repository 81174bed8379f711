/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ooo.h"

#include <stdlib.h>

#define FIRST_CAP 8

/* ---- the ring ----------------------------------------------------------------------------- */

/** Index of the first island that ends after @p seq; n if there is none. */
static uint32_t find(const struct tcp_ooo *o, uint32_t seq)
{
	uint32_t lo = 0, hi = o->n;

	/* Mostly the newest is the highest. */
	if (hi && seq_leq(tcp_ooo_at(o, hi - 1)->r.right, seq))
		return hi;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (seq_gt(tcp_ooo_at(o, mid)->r.right, seq))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool grow(struct tcp_ooo *o)
{
	uint32_t cap = o->cap ? o->cap * 2 : FIRST_CAP;
	struct tcp_island *ring;

	if (o->n < o->cap)
		return true;
	ring = o->n < TCP_OOO_ISLANDS ? malloc(cap * sizeof *ring) : NULL;
	if (!ring)
		return false;
	for (uint32_t i = 0; i < o->n; i++)
		ring[i] = *tcp_ooo_at(o, i);
	free(o->ring);
	o->ring = ring;
	o->cap = cap;
	o->head = 0;
	return true;
}

/** An empty place at index @p i. Needs grow() before. */
static struct tcp_island *open_place(struct tcp_ooo *o, uint32_t i)
{
	if (i < o->n / 2) {
		o->head = (o->head - 1) & (o->cap - 1);
		for (uint32_t k = 0; k < i; k++)
			*tcp_ooo_at(o, k) = *tcp_ooo_at(o, k + 1);
	} else {
		for (uint32_t k = o->n; k > i; k--)
			*tcp_ooo_at(o, k) = *tcp_ooo_at(o, k - 1);
	}
	o->n++;
	return tcp_ooo_at(o, i);
}

static void close_place(struct tcp_ooo *o, uint32_t i)
{
	o->n--;
	if (i < o->n / 2) {
		for (uint32_t k = i; k > 0; k--)
			*tcp_ooo_at(o, k) = *tcp_ooo_at(o, k - 1);
		o->head = (o->head + 1) & (o->cap - 1);
	} else {
		for (uint32_t k = i; k < o->n; k++)
			*tcp_ooo_at(o, k) = *tcp_ooo_at(o, k + 1);
	}
}

/* ---- coming ------------------------------------------------------------------------------- */

/** @p m is the text of @p r, all of which is missing. @return false if there is no memory. */
static bool place(struct tcp_ooo *o, struct rte_mbuf *m, struct tcp_range r)
{
	uint32_t i = find(o, r.left - 1); /* the first that ends at or after its begin */
	struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL, *next;
	struct tcp_mbufs text = {0};

	if (at && at->r.right == r.left) {
		o->held -= at->text.count;
		tcp_mbufs_push(&at->text, m);
		at->r.right = r.right;
		next = i + 1 < o->n ? tcp_ooo_at(o, i + 1) : NULL;
		if (next && next->r.left == r.right) { /* the gap between two is gone */
			o->held -= next->text.count;
			tcp_mbufs_join(&at->text, &next->text);
			at->r.right = next->r.right;
			close_place(o, i + 1);
			at = tcp_ooo_at(o, i);
		}
	} else if (at && at->r.left == r.right) {
		o->held -= at->text.count;
		tcp_mbufs_push(&text, m);
		tcp_mbufs_join(&text, &at->text);
		at->text = text;
		at->r.left = r.left;
	} else {
		if (!grow(o)) {
			rte_pktmbuf_free(m);
			return false;
		}
		tcp_mbufs_push(&text, m);
		at = open_place(o, i);
		*at = (struct tcp_island){r, text};
	}
	o->held += at->text.count;
	return true;
}

/** The next run of missing bytes within @p r. @return false if there is none. */
static bool next_gap(const struct tcp_ooo *o, struct tcp_range r, struct tcp_range *gap)
{
	uint32_t i = find(o, r.left);
	const struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL;

	if (at && seq_leq(at->r.left, r.left)) {
		r.left = at->r.right;
		at = ++i < o->n ? tcp_ooo_at(o, i) : NULL;
	}
	if (seq_geq(r.left, r.right))
		return false;
	*gap = (struct tcp_range){r.left, at ? seq_min(at->r.left, r.right) : r.right};
	return true;
}

static struct tcp_range first_duplicate(const struct tcp_ooo *o, struct tcp_range r)
{
	uint32_t i = find(o, r.left);
	const struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL;

	if (!at || seq_geq(at->r.left, r.right))
		return (struct tcp_range){r.left, r.left};
	return (struct tcp_range){seq_max(at->r.left, r.left), seq_min(at->r.right, r.right)};
}

/** @p m fills several gaps: a copy for each. @return bytes kept. */
static uint32_t fill_gaps(
	struct tcp_ooo *o, struct rte_mbuf *m, struct tcp_range r, struct rte_mempool *pool)
{
	uint32_t begin = r.left, kept = 0;
	struct tcp_range gap;

	while (next_gap(o, r, &gap)) {
		uint32_t len = gap.right - gap.left;
		struct rte_mbuf *piece = rte_pktmbuf_copy(m, pool, gap.left - begin, len);

		if (!piece || !place(o, piece, gap))
			break;
		kept += len;
		r.left = gap.right;
	}
	rte_pktmbuf_free(m);
	return kept;
}

struct tcp_ooo_result tcp_ooo_insert(
	struct tcp_ooo *o, struct rte_mbuf *m, uint32_t seq, uint32_t len, struct rte_mempool *pool)
{
	struct tcp_range r = {seq, seq + len}, gap, more;
	struct tcp_ooo_result result = {.dup = first_duplicate(o, r)};

	if (!next_gap(o, r, &gap)) {
		rte_pktmbuf_free(m);
		return result;
	}
	if (next_gap(o, (struct tcp_range){gap.right, r.right}, &more)) {
		result.kept = fill_gaps(o, m, r, pool);
		return result;
	}
	if (gap.right != r.right)
		tcp_mbuf_trim_back(m, r.right - gap.right);
	if (gap.left != r.left)
		m = tcp_mbuf_trim_front(m, gap.left - r.left);
	if (place(o, m, gap))
		result.kept = gap.right - gap.left;
	return result;
}

/* ---- going -------------------------------------------------------------------------------- */

/** Without islands, no memory: an idle connection costs nothing here. Loss is rare enough. */
static void give_back(struct tcp_ooo *o)
{
	free(o->ring);
	*o = (struct tcp_ooo){0};
}

bool tcp_ooo_take(struct tcp_ooo *o, uint32_t next, struct tcp_mbufs *out)
{
	*out = (struct tcp_mbufs){0};
	while (o->n && !out->first) {
		struct tcp_island *at = tcp_ooo_at(o, 0);

		if (seq_gt(at->r.left, next))
			break;
		o->held -= at->text.count;
		tcp_mbufs_consume(&at->text, seq_min(next, at->r.right) - at->r.left);
		*out = at->text;
		close_place(o, 0);
	}
	if (!o->n)
		give_back(o);
	return out->first != NULL;
}

const struct tcp_island *tcp_ooo_find(const struct tcp_ooo *o, uint32_t seq)
{
	uint32_t i = find(o, seq);

	return i < o->n && seq_leq(tcp_ooo_at(o, i)->r.left, seq) ? tcp_ooo_at(o, i) : NULL;
}

void tcp_ooo_prune(struct tcp_ooo *o, uint32_t packets)
{
	uint32_t goal = o->held > packets ? o->held - packets : 0;

	while (o->n && o->held > goal) {
		struct tcp_island *last = tcp_ooo_at(o, --o->n);

		o->held -= last->text.count;
		tcp_mbufs_free(&last->text);
	}
	if (!o->n)
		give_back(o);
}

void tcp_ooo_clear(struct tcp_ooo *o)
{
	tcp_ooo_prune(o, UINT32_MAX);
}
