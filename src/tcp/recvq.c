/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/recvq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 8
/** Pieces up to this are always worth a copy; larger ones only when the queue is long. */
#define SMALL 256
#define LONG  32

int tcp_recvq_grow(struct tcp_recvq *q, uint32_t more)
{
	uint32_t cap = q->cap ? q->cap : FIRST_CAP;
	struct rte_mbuf **ring;

	while (cap - q->count < more)
		cap *= 2;
	ring = malloc(cap * sizeof *ring);
	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->count; i++)
		ring[i] = q->ring[(q->head + i) & (q->cap - 1)];
	free(q->ring);
	q->ring = ring;
	q->cap = cap;
	q->head = 0;
	return 0;
}

/** @return true if the text of @p m now lies in the last mbuf; @p m is then freed. */
static bool coalesce(struct tcp_recvq *q, struct rte_mbuf *m)
{
	struct rte_mbuf *last;

	if (!q->count || (m->data_len > SMALL && q->count < LONG))
		return false;
	last = q->ring[(q->head + q->count - 1) & (q->cap - 1)];
	/* A looped-back mbuf is shared with its sender until acknowledged: hands off. */
	if (rte_mbuf_refcnt_read(last) != 1 || rte_pktmbuf_tailroom(last) < m->data_len ||
		!RTE_MBUF_DIRECT(last))
		return false;
	memcpy(rte_pktmbuf_mtod_offset(last, void *, last->data_len), rte_pktmbuf_mtod(m, void *),
		m->data_len);
	last->data_len = (uint16_t)(last->data_len + m->data_len);
	last->pkt_len = last->data_len;
	rte_pktmbuf_free_seg(m);
	return true;
}

void tcp_recvq_push(struct tcp_recvq *q, struct rte_mbuf *m)
{
	while (m) {
		struct rte_mbuf *next = m->next;

		m->next = NULL;
		m->nb_segs = 1;
		m->pkt_len = m->data_len;
		q->bytes += m->data_len;
		if (m->data_len == 0)
			rte_pktmbuf_free_seg(m);
		else if (!coalesce(q, m))
			q->ring[(q->head + q->count++) & (q->cap - 1)] = m;
		m = next;
	}
}

unsigned tcp_recvq_show(const struct tcp_recvq *q, struct llp_iov *v, unsigned max, size_t *total)
{
	unsigned n = q->count < max ? q->count : max;

	*total = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct rte_mbuf *m = q->ring[(q->head + i) & (q->cap - 1)];

		v[i] = (struct llp_iov){rte_pktmbuf_mtod(m, const uint8_t *), m->data_len};
		*total += m->data_len;
	}
	return n;
}

void tcp_recvq_consume(struct tcp_recvq *q, size_t n)
{
	q->bytes -= (uint32_t)n;
	while (n) {
		struct rte_mbuf *m = q->ring[q->head];

		if (n < m->data_len) {
			m->data_off = (uint16_t)(m->data_off + n);
			m->data_len = (uint16_t)(m->data_len - n);
			m->pkt_len = m->data_len;
			return;
		}
		n -= m->data_len;
		rte_pktmbuf_free_seg(m);
		q->head = (q->head + 1) & (q->cap - 1);
		q->count--;
	}
}

void tcp_recvq_clear(struct tcp_recvq *q)
{
	for (uint32_t i = 0; i < q->count; i++)
		rte_pktmbuf_free_seg(q->ring[(q->head + i) & (q->cap - 1)]);
	free(q->ring);
	*q = (struct tcp_recvq){0};
}
