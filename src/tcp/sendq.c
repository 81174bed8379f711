/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/sendq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 8

int tcp_sendq_room(struct tcp_sendq *q)
{
	uint32_t cap = q->cap ? q->cap * 2 : FIRST_CAP;
	struct tcp_record *ring;

	if (q->count < q->cap)
		return 0;
	ring = malloc(cap * sizeof *ring);
	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->count; i++)
		ring[i] = *tcp_sendq_at(q, i);
	free(q->ring);
	q->ring = ring;
	q->cap = cap;
	q->head = 0;
	return 0;
}

void tcp_sendq_push(struct tcp_sendq *q, struct rte_mbuf *m, uint16_t off, uint32_t len,
	uint32_t seq, uint8_t flags)
{
	*tcp_sendq_at(q, q->count) =
		(struct tcp_record){.m = m, .off = off, .len = len, .seq = seq, .flags = flags};
	q->count++;
	q->bytes += len;
}

struct tcp_record *tcp_sendq_unsent_tail(const struct tcp_sendq *q)
{
	return q->count > q->nxt ? tcp_sendq_at(q, q->count - 1) : NULL;
}

/** Take @p n units of @p r's sequence space out of the sums. */
static void unaccount(struct tcp_sendq *q, const struct tcp_record *r, uint32_t n)
{
	if (r->flags & TCP_REC_SACKED)
		q->sacked -= n;
	if (r->flags & TCP_REC_LOST)
		q->lost -= n;
	if (r->flags & TCP_REC_REXMIT)
		q->rexmit -= n;
}

void tcp_sendq_ack(struct tcp_sendq *q, uint32_t ack, uint64_t *sent_at)
{
	*sent_at = 0;
	while (q->count) {
		struct tcp_record *r = tcp_sendq_at(q, 0);
		uint32_t n;

		if (seq_gt(tcp_record_end(r), ack)) {
			if (seq_geq(r->seq, ack))
				return;
			n = ack - r->seq;
			unaccount(q, r, n);
			r->seq += n;
			r->off = (uint16_t)(r->off + n);
			r->len -= n;
			q->bytes -= n;
			return;
		}
		unaccount(q, r, tcp_record_space(r));
		if (!(r->flags & (TCP_REC_KARN | TCP_REC_SACKED)))
			*sent_at = r->sent_at;
		if (r->m)
			rte_pktmbuf_free_seg(r->m);
		q->bytes -= r->len;
		q->head = (q->head + 1) & (q->cap - 1);
		q->count--;
		if (q->nxt)
			q->nxt--;
	}
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

uint32_t tcp_sendq_sack(struct tcp_sendq *q, struct tcp_range range)
{
	uint32_t marked = 0;

	for (uint32_t i = tcp_sendq_find(q, range.left); i < q->nxt; i++) {
		struct tcp_record *r = tcp_sendq_at(q, i);

		if (seq_gt(tcp_record_end(r), range.right))
			break;
		if (seq_lt(r->seq, range.left) || (r->flags & TCP_REC_SACKED))
			continue;
		unaccount(q, r, tcp_record_space(r));
		r->flags =
			(uint8_t)((r->flags & ~(TCP_REC_LOST | TCP_REC_REXMIT)) | TCP_REC_SACKED);
		q->sacked += tcp_record_space(r);
		marked += tcp_record_space(r);
	}
	return marked;
}

void tcp_sendq_lose(struct tcp_sendq *q, uint32_t i)
{
	struct tcp_record *r = tcp_sendq_at(q, i);

	if (r->flags & TCP_REC_SACKED)
		return;
	unaccount(q, r, tcp_record_space(r));
	r->flags = (uint8_t)((r->flags & ~TCP_REC_REXMIT) | TCP_REC_LOST);
	q->lost += tcp_record_space(r);
}

void tcp_sendq_sent(struct tcp_sendq *q, uint32_t i, uint64_t now)
{
	struct tcp_record *r = tcp_sendq_at(q, i);

	r->sent_at = now;
	if (i >= q->nxt) {
		q->nxt = i + 1;
		return;
	}
	if (!(r->flags & TCP_REC_REXMIT)) {
		r->flags |= TCP_REC_REXMIT;
		q->rexmit += tcp_record_space(r);
	}
	r->flags |= TCP_REC_KARN;
}

void tcp_sendq_forget_sacks(struct tcp_sendq *q)
{
	for (uint32_t i = 0; i < q->nxt; i++)
		tcp_sendq_at(q, i)->flags &= (uint8_t)~TCP_REC_SACKED;
	q->sacked = 0;
}

uint32_t tcp_sendq_first_lost(const struct tcp_sendq *q)
{
	if (q->lost == q->rexmit)
		return q->nxt;
	for (uint32_t i = 0; i < q->nxt; i++)
		if ((tcp_sendq_at(q, i)->flags & (TCP_REC_LOST | TCP_REC_REXMIT)) == TCP_REC_LOST)
			return i;
	return q->nxt;
}

static struct rte_mbuf *copy_text(struct rte_mempool *pool, const uint8_t *from, uint32_t len)
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

int tcp_sendq_split(struct tcp_sendq *q, uint32_t i, uint32_t len, struct rte_mempool *pool)
{
	struct tcp_record *r, *rest;
	struct rte_mbuf *m;

	if (tcp_sendq_room(q))
		return -ENOMEM;
	r = tcp_sendq_at(q, i);
	m = copy_text(pool, tcp_record_text(r) + len, r->len - len);
	if (!m)
		return -ENOMEM;
	for (uint32_t k = q->count; k > i + 1; k--)
		*tcp_sendq_at(q, k) = *tcp_sendq_at(q, k - 1);
	q->count++;
	if (i < q->nxt)
		q->nxt++;
	r = tcp_sendq_at(q, i);
	rest = tcp_sendq_at(q, i + 1);
	*rest = *r;
	rest->m = m;
	rest->off = m->data_off;
	rest->seq = r->seq + len;
	rest->len = r->len - len;
	r->len = len;
	return 0;
}

int tcp_sendq_renew(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool)
{
	struct tcp_record *r = tcp_sendq_at(q, i);
	struct rte_mbuf *m = copy_text(pool, tcp_record_text(r), r->len);

	if (!m)
		return -ENOMEM;
	rte_pktmbuf_free_seg(r->m);
	r->m = m;
	r->off = m->data_off;
	return 0;
}

void tcp_sendq_clear(struct tcp_sendq *q)
{
	for (uint32_t i = 0; i < q->count; i++)
		if (tcp_sendq_at(q, i)->m)
			rte_pktmbuf_free_seg(tcp_sendq_at(q, i)->m);
	free(q->ring);
	*q = (struct tcp_sendq){0};
}
