/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ooo.h"

#include "tcp/mbuf.h"

#include <stdlib.h>

#define FIRST_CAP 8

/* ---- the ring ----------------------------------------------------------------------------- */

/** Index of the first island that ends after @p seq; n if there is none. */
static uint32_t tcp_ooo_find_island(const struct tcp_ooo *o, uint32_t seq)
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

/** Room for @p more islands. */
static bool tcp_ooo_grow(struct tcp_ooo *o, uint32_t more)
{
	uint32_t cap = o->cap ? o->cap : FIRST_CAP;
	struct tcp_island *ring;

	if (more > TCP_OOO_ISLANDS - o->n)
		return false;
	while (cap - o->n < more)
		cap *= 2;
	if (cap == o->cap)
		return true;
	ring = malloc(cap * sizeof *ring);
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

/** An empty place at index @p i. Needs tcp_ooo_grow() before. */
static struct tcp_island *tcp_ooo_open_place(struct tcp_ooo *o, uint32_t i)
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

static void tcp_ooo_close_place(struct tcp_ooo *o, uint32_t i)
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

static bool tcp_ooo_note_ends_at(const struct tcp_island *at, uint32_t seq)
{
	return at->notes.first && at->notes.last->r.right == seq;
}

static bool tcp_ooo_note_begins_at(const struct tcp_island *at, uint32_t seq)
{
	return at->notes.first && at->notes.first->r.left == seq;
}

/** Add @p more, which begins where @p at ends. */
static void tcp_ooo_join(struct tcp_island *at, struct tcp_island *more)
{
	if (tcp_ooo_note_ends_at(at, more->r.left) || tcp_ooo_note_begins_at(more, more->r.left))
		tcp_mbufs_join_apart(&at->text, &more->text);
	else
		tcp_mbufs_join(&at->text, &more->text);
	tcp_notes_join(&at->notes, &more->notes);
	at->r.right = more->r.right;
}

/** Add @p n, or else @p m, which is the text of @p r; that begins where @p at ends. */
static void tcp_ooo_append(
	struct tcp_island *at, struct rte_mbuf *m, struct tcp_note *n, struct tcp_range r)
{
	struct tcp_mbufs one = {0};

	if (n) {
		tcp_notes_push(&at->notes, n);
	} else if (tcp_ooo_note_ends_at(at, r.left)) {
		tcp_mbufs_push(&one, m);
		tcp_mbufs_join_apart(&at->text, &one);
	} else {
		tcp_mbufs_push(&at->text, m);
	}
	at->r.right = r.right;
}

/** @p n or else @p m is what is known of @p r, all of which is missing; there is room. */
static void tcp_ooo_place(
	struct tcp_ooo *o, struct rte_mbuf *m, struct tcp_note *n, struct tcp_range r)
{
	uint32_t i =
		tcp_ooo_find_island(o, r.left - 1); /* the first that ends at or after its begin */
	struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL, *next;
	struct tcp_island fresh = {.r = {r.left, r.left}};

	if (at && at->r.right == r.left) {
		o->held -= at->text.count;
		tcp_ooo_append(at, m, n, r);
		next = i + 1 < o->n ? tcp_ooo_at(o, i + 1) : NULL;
		if (next && next->r.left == r.right) { /* the gap between two is gone */
			o->held -= next->text.count;
			tcp_ooo_join(at, next);
			tcp_ooo_close_place(o, i + 1);
			at = tcp_ooo_at(o, i);
		}
	} else {
		tcp_ooo_append(&fresh, m, n, r);
		if (at && at->r.left == r.right) {
			o->held -= at->text.count;
			tcp_ooo_join(&fresh, at);
		} else {
			at = tcp_ooo_open_place(o, i);
		}
		*at = fresh;
	}
	o->held += at->text.count;
	o->bytes += r.right - r.left;
}

/** Is there room for @p r, an island of its own perhaps? */
static bool tcp_ooo_room_for(struct tcp_ooo *o, struct tcp_range r)
{
	uint32_t i = tcp_ooo_find_island(o, r.left - 1);
	const struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL;

	return (at && (at->r.right == r.left || at->r.left == r.right)) || tcp_ooo_grow(o, 1);
}

/** As tcp_ooo_place(), of text. @return false if there is no memory. */
static bool tcp_ooo_place_text(struct tcp_ooo *o, struct rte_mbuf *m, struct tcp_range r)
{
	if (!tcp_ooo_room_for(o, r)) {
		rte_pktmbuf_free(m);
		return false;
	}
	tcp_ooo_place(o, m, NULL, r);
	return true;
}

/** The next run of missing bytes within @p r. @return false if there is none. */
static bool tcp_ooo_next_gap(const struct tcp_ooo *o, struct tcp_range r, struct tcp_range *gap)
{
	uint32_t i = tcp_ooo_find_island(o, r.left);
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

static struct tcp_range tcp_ooo_first_duplicate(const struct tcp_ooo *o, struct tcp_range r)
{
	uint32_t i = tcp_ooo_find_island(o, r.left);
	const struct tcp_island *at = i < o->n ? tcp_ooo_at(o, i) : NULL;

	if (!at || seq_geq(at->r.left, r.right))
		return (struct tcp_range){r.left, r.left};
	return (struct tcp_range){seq_max(at->r.left, r.left), seq_min(at->r.right, r.right)};
}

/** @p m fills several gaps: a copy for each. @return bytes kept. */
static uint32_t tcp_ooo_fill_gaps(
	struct tcp_ooo *o, struct rte_mbuf *m, struct tcp_range r, struct rte_mempool *pool)
{
	uint32_t begin = r.left, kept = 0;
	struct tcp_range gap;

	while (tcp_ooo_next_gap(o, r, &gap)) {
		uint32_t len = gap.right - gap.left;
		struct rte_mbuf *piece = rte_pktmbuf_copy(m, pool, gap.left - begin, len);

		tcp_mbuf_forget_crc(piece); /* it was copied along, but for other bytes */
		if (!piece || !tcp_ooo_place_text(o, piece, gap))
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
	struct tcp_ooo_result result = {.dup = tcp_ooo_first_duplicate(o, r)};

	if (!tcp_ooo_next_gap(o, r, &gap)) {
		rte_pktmbuf_free(m);
		return result;
	}
	if (tcp_ooo_next_gap(o, (struct tcp_range){gap.right, r.right}, &more)) {
		result.kept = tcp_ooo_fill_gaps(o, m, r, pool);
		return result;
	}
	if (gap.right != r.right)
		tcp_mbuf_trim_back(m, r.right - gap.right);
	if (gap.left != r.left)
		m = tcp_mbuf_trim_front(m, gap.left - r.left);
	if (tcp_ooo_place_text(o, m, gap))
		result.kept = gap.right - gap.left;
	return result;
}

/* ---- going -------------------------------------------------------------------------------- */

/** Without islands, no memory: an idle connection costs nothing here. Loss is rare enough. */
static void tcp_ooo_give_back(struct tcp_ooo *o)
{
	tcp_note_pool_free(&o->notes);
	free(o->ring);
	*o = (struct tcp_ooo){0};
}

/** Text up to the first note, perhaps none. */
static uint32_t tcp_ooo_text_run(const struct tcp_island *at)
{
	return (at->notes.first ? at->notes.first->r.left : at->r.right) - at->r.left;
}

/** Drop what is before @p seq; of a note all, as it says nothing of a part. */
static void tcp_ooo_cut(struct tcp_ooo *o, struct tcp_island *at, uint32_t seq)
{
	while (seq_lt(at->r.left, seq) && at->r.left != at->r.right) {
		uint32_t n = u32_min(tcp_ooo_text_run(at), seq - at->r.left);

		if (n) {
			tcp_mbufs_consume(&at->text, n);
			at->r.left += n;
		} else {
			at->r.left = at->notes.first->r.right;
			tcp_notes_drop_first(&at->notes, &o->notes);
		}
	}
}

/** The first run of @p at. */
static void tcp_ooo_take_run(struct tcp_ooo *o, struct tcp_island *at, struct tcp_ooo_run *out)
{
	out->len = tcp_ooo_text_run(at);
	if (out->len) {
		tcp_mbufs_split(&at->text, out->len, &out->text);
	} else {
		out->len = at->notes.first->r.right - at->r.left;
		out->note = at->notes.first->text;
		tcp_notes_drop_first(&at->notes, &o->notes);
	}
	at->r.left += out->len;
}

struct tcp_note *tcp_ooo_note(struct tcp_ooo *o, struct tcp_range r, bool more)
{
	uint32_t blocks = o->notes.count;
	struct tcp_range gap;
	struct tcp_note *n = NULL;

	if (!tcp_ooo_next_gap(o, r, &gap) || gap.left != r.left || gap.right != r.right)
		return NULL;
	if (tcp_ooo_room_for(o, r))
		n = tcp_note_get(&o->notes, more);
	o->held += o->notes.count - blocks;
	if (n)
		n->r = r;
	else if (!o->n)
		tcp_ooo_give_back(o);
	return n;
}

void tcp_ooo_keep_note(struct tcp_ooo *o, struct tcp_note *n)
{
	tcp_ooo_place(o, NULL, n, n->r);
}

void tcp_ooo_drop_note(struct tcp_ooo *o, struct tcp_note *n)
{
	tcp_note_put(&o->notes, n);
	if (!o->n)
		tcp_ooo_give_back(o);
}

bool tcp_ooo_take(struct tcp_ooo *o, uint32_t next, struct tcp_ooo_run *out)
{
	out->len = 0;
	out->text = (struct tcp_mbufs){0};
	while (o->n && !out->len) {
		struct tcp_island *at = tcp_ooo_at(o, 0);
		uint32_t left = at->r.left;

		if (seq_gt(left, next))
			break;
		o->held -= at->text.count;
		tcp_ooo_cut(o, at, next);
		if (at->r.left == next && at->r.left != at->r.right)
			tcp_ooo_take_run(o, at, out);
		o->held += at->text.count;
		o->bytes -= at->r.left - left;
		if (at->r.left == at->r.right)
			tcp_ooo_close_place(o, 0);
	}
	if (!o->n)
		tcp_ooo_give_back(o);
	return out->len != 0;
}

const struct tcp_island *tcp_ooo_find(const struct tcp_ooo *o, uint32_t seq)
{
	uint32_t i = tcp_ooo_find_island(o, seq);

	return i < o->n && seq_leq(tcp_ooo_at(o, i)->r.left, seq) ? tcp_ooo_at(o, i) : NULL;
}

bool tcp_ooo_has_notes(const struct tcp_ooo *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (tcp_ooo_at(o, i)->notes.first)
			return true;
	}
	return false;
}

bool tcp_ooo_has_notes_before(const struct tcp_ooo *o, uint32_t seq)
{
	for (uint32_t i = 0; i < o->n && seq_lt(tcp_ooo_at(o, i)->r.left, seq); i++) {
		if (tcp_ooo_at(o, i)->notes.first)
			return true;
	}
	return false;
}

/** Notes of @p at with text or nothing before them. */
static uint32_t tcp_ooo_note_runs(const struct tcp_island *at)
{
	uint32_t runs = 0;

	for (const struct tcp_note *n = at->notes.first; n; n = n->next)
		runs += !n->next || n->next->r.left != n->r.right;
	return runs;
}

/** Move the first run of @p notes to an island of its own. */
static struct tcp_island tcp_ooo_split_run(struct tcp_notes *notes)
{
	uint32_t left = notes->first->r.left;
	struct tcp_island run = {.r = {left, left}};

	while (notes->first && notes->first->r.left == run.r.right) {
		struct tcp_note *n = notes->first;

		notes->first = n->next;
		run.r.right = n->r.right;
		tcp_notes_push(&run.notes, n);
	}
	return run;
}

/** Drop the text of the @p i-th island. Of its notes each run is an island, if there is room. */
static void tcp_ooo_drop_text(struct tcp_ooo *o, uint32_t i)
{
	uint32_t runs = tcp_ooo_note_runs(tcp_ooo_at(o, i));
	struct tcp_island *at;
	struct tcp_notes notes;

	if (runs > 1 && !tcp_ooo_grow(o, runs - 1))
		return;
	at = tcp_ooo_at(o, i);
	o->held -= at->text.count;
	o->bytes -= at->text.bytes;
	tcp_mbufs_free(&at->text);
	if (!runs) {
		tcp_ooo_close_place(o, i);
		return;
	}
	notes = at->notes;
	for (uint32_t k = o->n; k-- > i + 1;)
		*tcp_ooo_at(o, k + runs - 1) = *tcp_ooo_at(o, k);
	o->n += runs - 1;
	for (; notes.first; i++)
		*tcp_ooo_at(o, i) = tcp_ooo_split_run(&notes);
}

void tcp_ooo_prune(struct tcp_ooo *o, uint32_t packets)
{
	uint32_t goal = o->held > packets ? o->held - packets : 0;

	for (uint32_t i = o->n; i-- > 0 && o->held > goal;) {
		if (tcp_ooo_at(o, i)->text.count)
			tcp_ooo_drop_text(o, i);
	}
	if (!o->n)
		tcp_ooo_give_back(o);
}

void tcp_ooo_clear(struct tcp_ooo *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		tcp_mbufs_free(&tcp_ooo_at(o, i)->text);
	tcp_ooo_give_back(o);
}
