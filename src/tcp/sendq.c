/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/sendq.h"

#include "base/digest.h"
#include "base/guarded.h"
#include "llp/llp.h"
#include "tcp/mbuf.h"
#include "tcp/mbuf_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- chains -------------------------------------------------------------------------------- */

static void tcp_sendq_chain_append(struct tcp_sendq *q, struct tcp_chain *ch, uint32_t id)
{
	if (ch->n++) {
		tcp_sendq_by_id(q, ch->last)->next = id;
		tcp_sendq_by_id(q, id)->prev = ch->last;
	} else {
		ch->first = id;
	}
	ch->last = id;
}

static void tcp_sendq_chain_prepend(struct tcp_sendq *q, struct tcp_chain *ch, uint32_t id)
{
	if (ch->n++) {
		tcp_sendq_by_id(q, ch->first)->prev = id;
		tcp_sendq_by_id(q, id)->next = ch->first;
	} else {
		ch->last = id;
	}
	ch->first = id;
}

static void tcp_sendq_chain_insert_after(
	struct tcp_sendq *q, struct tcp_chain *ch, uint32_t after, uint32_t id)
{
	uint32_t next;

	if (after == ch->last) {
		tcp_sendq_chain_append(q, ch, id);
		return;
	}
	next = tcp_sendq_by_id(q, after)->next;
	tcp_sendq_by_id(q, id)->prev = after;
	tcp_sendq_by_id(q, id)->next = next;
	tcp_sendq_by_id(q, after)->next = id;
	tcp_sendq_by_id(q, next)->prev = id;
	ch->n++;
}

static void tcp_sendq_chain_remove(struct tcp_sendq *q, struct tcp_chain *ch, uint32_t id)
{
	const struct tcp_record *r = tcp_sendq_by_id(q, id);

	if (--ch->n == 0)
		return;
	if (ch->first == id)
		ch->first = r->next;
	else
		tcp_sendq_by_id(q, r->prev)->next = r->next;
	if (ch->last == id)
		ch->last = r->prev;
	else
		tcp_sendq_by_id(q, r->next)->prev = r->prev;
}

/** The chain that @p r, which was sent, is in; NULL: it is SACKed. */
static struct tcp_chain *tcp_sendq_chain_of(struct tcp_sendq *q, const struct tcp_record *r)
{
	if (r->flags & TCP_REC_SACKED)
		return NULL;
	return (r->flags & (TCP_REC_LOST | TCP_REC_REXMIT)) == TCP_REC_LOST ? &q->rtx_queue
									    : &q->flight;
}

/**
 * Into rtx_queue, lowest sequence first as far as that costs nothing: what is marked together is
 * marked in order, and what was lost twice lies below the rest.
 */
static void tcp_sendq_rtx_queue_add(struct tcp_sendq *q, uint32_t id)
{
	struct tcp_chain *ch = &q->rtx_queue;
	uint32_t at = q->lost_last;
	bool last_in = ch->n && at - q->head < q->nxt &&
		       tcp_sendq_chain_of(q, tcp_sendq_by_id(q, at)) == ch;

	if (!ch->n || seq_gt(id, ch->last))
		tcp_sendq_chain_append(q, ch, id);
	else if (seq_lt(id, ch->first))
		tcp_sendq_chain_prepend(q, ch, id);
	else if (last_in && seq_lt(at, id) && at != ch->last &&
		 seq_lt(id, tcp_sendq_by_id(q, at)->next))
		tcp_sendq_chain_insert_after(q, ch, at, id);
	else
		tcp_sendq_chain_append(q, ch, id);
	q->lost_last = id;
}

/* ---- the ring ------------------------------------------------------------------------------ */

struct tcp_record *tcp_sendq_take_ring(struct tcp_sendq *q, struct tcp_record *ring, uint32_t cap)
{
	struct tcp_record *before = q->ring == &q->one ? NULL : q->ring;

	for (uint32_t id = q->head; id != q->head + q->count; id++)
		ring[id & (cap - 1)] = *tcp_sendq_by_id(q, id);
	q->ring = ring;
	q->cap = cap;
	return before;
}

void tcp_sendq_push(struct tcp_sendq *q, struct rte_mbuf *m, uint16_t off, uint32_t len,
	uint32_t seq, uint8_t flags)
{
	*tcp_sendq_at(q, q->count) = (struct tcp_record){
		.m = m, .off = off, .len = (uint16_t)len, .seq = seq, .flags = flags};
	q->count++;
	q->bytes += len;
}

struct tcp_record *tcp_sendq_unsent_tail(const struct tcp_sendq *q)
{
	return q->count > q->nxt ? tcp_sendq_at(q, q->count - 1) : NULL;
}

uint32_t tcp_sendq_find(const struct tcp_sendq *q, uint32_t seq)
{
	uint32_t lo = 0, hi = q->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (seq_gt(tcp_record_end(tcp_sendq_at(q, mid)), seq))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* ---- delivery ------------------------------------------------------------------------------ */

/** Take @p n units of @p r's sequence space out of the sums. */
static void tcp_sendq_unaccount(struct tcp_sendq *q, const struct tcp_record *r, uint32_t n)
{
	if (r->flags & TCP_REC_SACKED)
		q->sacked -= n;
	if (r->flags & TCP_REC_LOST)
		q->lost -= n;
	if (r->flags & TCP_REC_REXMIT)
		q->rexmit -= n;
}

/** @p r is delivered, and was not before. */
static void tcp_sendq_account_delivered(
	struct tcp_delivery *d, const struct tcp_record *r, const struct tcp_record **newest)
{
	bool once = !(r->flags & TCP_REC_KARN);
	uint32_t end = tcp_record_end(r);

	if (once) {
		d->original = true;
		d->rtt_sent_at = u64_max(d->rtt_sent_at, r->sent_at);
		if (seq_lt(end, d->fack))
			d->reordered = true;
	}
	if ((once || r->sent_at <= d->credible_until) &&
		(!*newest || tcp_sent_after(
				     r->sent_at, end, (*newest)->sent_at, tcp_record_end(*newest))))
		*newest = r;
	d->fack = seq_max(d->fack, end);
}

/** One copy for many records. */
static void tcp_sendq_keep_newest(struct tcp_delivery *d, const struct tcp_record *r)
{
	if (!r || (d->any && tcp_sent_after(d->newest.sent_at, tcp_record_end(&d->newest),
				     r->sent_at, tcp_record_end(r))))
		return;
	d->newest = *r;
	d->newest.m = NULL;
	d->any = true;
}

void tcp_record_append(struct tcp_record *r, uint32_t len, uint32_t sum)
{
	if (sum == LLP_SUM_UNKNOWN)
		r->flags &= (uint8_t)~TCP_REC_SUM;
	else
		r->sum = digest_fold(r->sum + digest_shift(sum, r->len & 1));
	r->len = (uint16_t)(r->len + len);
}

/** The packet of record @p r is done with. @p mbuf_cache as tcp_mbuf_cache_put(). */
static void tcp_record_free(const struct tcp_record *r, struct tcp_mbuf_cache *mbuf_cache)
{
	if (unlikely(r->flags & TCP_REC_EXTERNAL))
		rte_pktmbuf_free(r->m);
	else
		tcp_mbuf_cache_put(mbuf_cache, r->m);
}

/** The record at the head loses its first @p n bytes, which the peer has. */
static void tcp_sendq_cut_front(
	struct tcp_sendq *q, struct tcp_record *r, uint32_t n, struct tcp_delivery *d)
{
	tcp_sendq_unaccount(q, r, n);
	if (!(r->flags & TCP_REC_SACKED))
		d->delivered += n;
	r->seq += n;
	r->off = (uint16_t)(r->off + n);
	r->len = (uint16_t)(r->len - n);
	r->flags &= (uint8_t)~TCP_REC_SUM;
	if (r->flags & TCP_REC_EXTERNAL)
		r->sum = (uint16_t)(r->sum + n);
	q->bytes -= n;
	d->acked += n;
	if (r->len == 0) { /* what remains is the FIN */
		tcp_record_free(r, d->mbuf_cache);
		r->m = NULL;
		r->flags &= (uint8_t)~TCP_REC_EXTERNAL;
	}
}

/** The record at the head leaves the queue; its slot keeps it until the next push. */
static void tcp_sendq_drop_head(
	struct tcp_sendq *q, struct tcp_record *r, struct tcp_mbuf_cache *mbuf_cache)
{
	tcp_sendq_unaccount(q, r, tcp_record_space(r));
	if (q->nxt) {
		struct tcp_chain *ch = tcp_sendq_chain_of(q, r);

		if (ch)
			tcp_sendq_chain_remove(q, ch, q->head);
		else
			q->n_sacked--;
		q->nxt--;
	}
	if (r->m)
		tcp_record_free(r, mbuf_cache);
	q->bytes -= r->len;
	q->head++;
	q->count--;
}

void tcp_sendq_ack(struct tcp_sendq *q, uint32_t ack, struct tcp_delivery *d)
{
	const struct tcp_record *newest = NULL;
	bool ambiguous = false;

	if (q->nxt && (tcp_sendq_at(q, 0)->flags & TCP_REC_KARN) &&
		seq_leq(tcp_record_end(tcp_sendq_at(q, 0)), ack))
		d->rexmit_at = tcp_sendq_at(q, 0)->sent_at;
	while (q->count) {
		struct tcp_record *r = tcp_sendq_at(q, 0);

		if (seq_gt(tcp_record_end(r), ack)) {
			if (seq_lt(r->seq, ack))
				tcp_sendq_cut_front(q, r, ack - r->seq, d);
			break;
		}
		d->acked += tcp_record_space(r);
		if (r->flags & TCP_REC_KARN)
			ambiguous = true;
		if (!(r->flags & TCP_REC_SACKED))
			d->delivered += tcp_record_space(r);
		/* A FIN behind the window was never sent. */
		if (q->nxt && !(r->flags & TCP_REC_SACKED))
			tcp_sendq_account_delivered(d, r, &newest);
		tcp_sendq_drop_head(q, r, d->mbuf_cache);
	}
	tcp_sendq_keep_newest(d, newest);
	/* What arrived long ago may only now be acknowledged, with the hole before it. */
	if (ambiguous)
		d->rtt_sent_at = 0;
}

/** The first id from @p id on, which is SACKed, that is not; shortens the way there. */
static uint32_t tcp_sendq_skip_sacked(struct tcp_sendq *q, uint32_t id)
{
	uint32_t end = q->head + q->nxt, to = id;

	while (to != end && (tcp_sendq_by_id(q, to)->flags & TCP_REC_SACKED))
		to = tcp_sendq_by_id(q, to)->next;
	while (id != to) {
		struct tcp_record *r = tcp_sendq_by_id(q, id);

		id = r->next;
		r->next = to;
	}
	return to;
}

static void tcp_sendq_mark_sacked(struct tcp_sendq *q, struct tcp_record *r, uint32_t id)
{
	uint32_t n = tcp_record_space(r);

	tcp_sendq_chain_remove(q, tcp_sendq_chain_of(q, r), id);
	tcp_sendq_unaccount(q, r, n);
	r->flags = (uint8_t)((r->flags & ~(TCP_REC_LOST | TCP_REC_REXMIT)) | TCP_REC_SACKED);
	r->next = id + 1;
	q->sacked += n;
	q->n_sacked++;
}

void tcp_sendq_sack(struct tcp_sendq *q, struct tcp_range range, struct tcp_delivery *d)
{
	uint32_t id = q->head + tcp_sendq_find(q, range.left), end = q->head + q->nxt;
	const struct tcp_record *newest = NULL;

	if (!q->nxt || seq_gt(id, end))
		return;
	while (id != end) {
		struct tcp_record *r = tcp_sendq_by_id(q, id);

		if (r->flags & TCP_REC_SACKED) {
			id = tcp_sendq_skip_sacked(q, id);
			continue;
		}
		if (seq_gt(tcp_record_end(r), range.right))
			break;
		if (seq_geq(r->seq, range.left)) {
			d->sacked += tcp_record_space(r);
			d->delivered += tcp_record_space(r);
			tcp_sendq_account_delivered(d, r, &newest);
			tcp_sendq_mark_sacked(q, r, id);
		}
		id++;
	}
	tcp_sendq_keep_newest(d, newest);
}

/* ---- loss and transmission ----------------------------------------------------------------- */

uint32_t tcp_sendq_lose(struct tcp_sendq *q, uint32_t i)
{
	struct tcp_record *r = tcp_sendq_at(q, i);
	uint32_t n = tcp_record_space(r);

	if (tcp_sendq_chain_of(q, r) != &q->flight)
		return 0;
	tcp_sendq_chain_remove(q, &q->flight, q->head + i);
	tcp_sendq_unaccount(q, r, n);
	r->flags = (uint8_t)((r->flags & ~TCP_REC_REXMIT) | TCP_REC_LOST);
	q->lost += n;
	q->total_lost += n;
	tcp_sendq_rtx_queue_add(q, q->head + i);
	return n;
}

void tcp_sendq_unlose(struct tcp_sendq *q)
{
	/* Whatever was marked was sent before all that was not, or was sent since. */
	while (q->rtx_queue.n) {
		uint32_t id = q->rtx_queue.last;
		struct tcp_record *r = tcp_sendq_by_id(q, id);

		tcp_sendq_chain_remove(q, &q->rtx_queue, id);
		tcp_sendq_unaccount(q, r, tcp_record_space(r));
		q->total_lost -= tcp_record_space(r);
		r->flags &= (uint8_t)~TCP_REC_LOST;
		tcp_sendq_chain_prepend(q, &q->flight, id);
	}
}

void tcp_sendq_sent(struct tcp_sendq *q, uint32_t i, uint64_t now)
{
	struct tcp_record *r = tcp_sendq_at(q, i);

	r->sent_at = now;
	if (i >= q->nxt) {
		q->nxt = i + 1;
	} else {
		tcp_sendq_chain_remove(q, tcp_sendq_chain_of(q, r), q->head + i);
		if (!(r->flags & TCP_REC_REXMIT))
			q->rexmit += tcp_record_space(r);
		r->flags |= TCP_REC_KARN | TCP_REC_REXMIT;
		if (r->rexmits < UINT8_MAX)
			r->rexmits++;
	}
	tcp_sendq_chain_append(q, &q->flight, q->head + i);
}

void tcp_sendq_forget_sacks(struct tcp_sendq *q)
{
	q->rtx_queue.n = 0;
	for (uint32_t i = 0; i < q->nxt; i++) {
		struct tcp_record *r = tcp_sendq_at(q, i);

		if (r->flags & TCP_REC_SACKED) {
			r->flags = (uint8_t)((r->flags & ~TCP_REC_SACKED) | TCP_REC_LOST);
			q->lost += tcp_record_space(r);
			q->total_lost += tcp_record_space(r);
		}
		if (tcp_sendq_chain_of(q, r) == &q->rtx_queue)
			tcp_sendq_chain_append(q, &q->rtx_queue, q->head + i);
	}
	q->sacked = q->n_sacked = 0;
}

/* ---- cutting and copying ------------------------------------------------------------------- */

static struct rte_mbuf *tcp_sendq_copy_text(
	struct rte_mempool *pool, const uint8_t *from, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (!m)
		return NULL;
	if (len > rte_pktmbuf_tailroom(m)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(rte_pktmbuf_mtod(m, void *), from, len);
	return m;
}

/** Move the record in slot @p from to the free slot @p to, and tell its neighbours. */
static void tcp_sendq_move_record(struct tcp_sendq *q, uint32_t from, uint32_t to)
{
	struct tcp_record *r = tcp_sendq_by_id(q, to);
	struct tcp_chain *ch;

	*r = *tcp_sendq_by_id(q, from);
	if (from - q->head >= q->nxt)
		return;
	ch = tcp_sendq_chain_of(q, r);
	if (!ch) { /* whatever it may skip to moves with it, but for the end of the run */
		r->next = to + 1;
		return;
	}
	if (ch->first == from)
		ch->first = to;
	else
		tcp_sendq_by_id(q, r->prev)->next = to;
	if (ch->last == from)
		ch->last = to;
	else
		tcp_sendq_by_id(q, r->next)->prev = to;
	if (q->lost_last == from)
		q->lost_last = to;
}

/** Free a slot after record @p i. @return the id of the record, which may have moved. */
static uint32_t tcp_sendq_open_gap(struct tcp_sendq *q, uint32_t i)
{
	uint32_t head = q->head, id = head + i;

	if (i < q->count / 2) {
		for (uint32_t k = 0; k <= i; k++)
			tcp_sendq_move_record(q, head + k, head + k - 1);
		q->head--;
		return id - 1;
	}
	for (uint32_t k = q->count; k > i + 1; k--)
		tcp_sendq_move_record(q, head + k - 1, head + k);
	return id;
}

int tcp_sendq_split(struct tcp_sendq *q, uint32_t i, uint32_t len, struct rte_mempool *pool)
{
	struct tcp_record *r, *rest;
	struct rte_mbuf *m;
	uint32_t id;

	r = tcp_sendq_at(q, i);
	m = tcp_sendq_copy_text(pool, tcp_record_text(r) + len, r->len - len);
	if (!m)
		return -ENOMEM;
	id = tcp_sendq_open_gap(q, i);
	r = tcp_sendq_by_id(q, id);
	rest = tcp_sendq_by_id(q, id + 1);
	r->flags &= (uint8_t)~TCP_REC_SUM;
	*rest = *r;
	rest->m = m;
	rest->off = m->data_off;
	rest->seq = r->seq + len;
	rest->len = (uint16_t)(r->len - len);
	r->len = (uint16_t)len;
	r->flags &= (uint8_t)~TCP_REC_FIN;
	q->count++;
	if (i < q->nxt) {
		q->nxt++;
		tcp_sendq_chain_insert_after(q, tcp_sendq_chain_of(q, r), id, id + 1);
	}
	return 0;
}

int tcp_sendq_renew(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool)
{
	struct tcp_record *r = tcp_sendq_at(q, i);
	struct rte_mbuf *m = tcp_sendq_copy_text(pool, tcp_record_text(r), r->len);

	if (!m)
		return -ENOMEM;
	rte_pktmbuf_free_seg(r->m);
	r->m = m;
	r->off = m->data_off;
	return 0;
}

/** Put the text of external record @p r, which has @p head bytes in its first mbuf, behind those.
 */
static bool tcp_sendq_copy_external(const struct tcp_record *r, uint8_t *text, uint32_t head)
{
	const struct rte_mbuf *payload = r->m->next, *zeros = payload->next;

	memset(text + head + payload->data_len, 0, zeros->data_len);
	return guarded_copy_from(
		text + head, rte_pktmbuf_mtod(payload, const void *), payload->data_len);
}

/** The copy is in the record's own mbuf, and nobody else holds that. */
static void tcp_sendq_unchain(struct tcp_record *r)
{
	struct rte_mbuf *rest = r->m->next;

	r->m->next = NULL;
	r->m->nb_segs = 1;
	rte_pktmbuf_free(rest);
}

int tcp_sendq_own(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool)
{
	struct tcp_record *r = tcp_sendq_at(q, i);
	uint32_t whole, head;
	struct rte_mbuf *m;
	uint8_t *text;

	if (!(r->flags & TCP_REC_EXTERNAL))
		return 0;
	whole = (uint32_t)r->len + r->sum;
	head = whole - r->m->next->data_len - r->m->next->next->data_len;
	text = tcp_record_text(r) - r->sum;
	if (rte_mbuf_refcnt_read(r->m) == 1) {
		if (!tcp_sendq_copy_external(r, text, head))
			return -EFAULT;
		tcp_sendq_unchain(r);
	} else {
		m = tcp_sendq_copy_text(pool, text, head);
		if (!m || whole > rte_pktmbuf_tailroom(m)) {
			rte_pktmbuf_free(m);
			return -ENOMEM;
		}
		if (!tcp_sendq_copy_external(r, rte_pktmbuf_mtod(m, uint8_t *), head)) {
			rte_pktmbuf_free(m);
			return -EFAULT;
		}
		rte_pktmbuf_free(r->m);
		r->m = m;
		r->off = (uint16_t)(m->data_off + r->sum);
	}
	r->flags &= (uint8_t)~TCP_REC_EXTERNAL;
	return 0;
}

void tcp_sendq_clear(struct tcp_sendq *q)
{
	for (uint32_t i = 0; i < q->count; i++)
		if (tcp_sendq_at(q, i)->m)
			tcp_record_free(tcp_sendq_at(q, i), NULL);
	if (q->ring != &q->one)
		free(q->ring);
	*q = (struct tcp_sendq){0};
}
