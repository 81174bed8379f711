/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ooo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16

struct rte_mbuf *tcp_mbuf_trim_front(struct rte_mbuf *m, uint32_t n)
{
	uint32_t left = m->pkt_len - n;
	uint16_t segs = m->nb_segs;

	while (n >= m->data_len && m->next) {
		struct rte_mbuf *next = m->next;

		n -= m->data_len;
		m->next = NULL;
		m->nb_segs = 1;
		rte_pktmbuf_free_seg(m);
		m = next;
		segs--;
	}
	m->data_off = (uint16_t)(m->data_off + n);
	m->data_len = (uint16_t)(m->data_len - n);
	m->pkt_len = left;
	m->nb_segs = segs;
	return m;
}

void tcp_mbuf_trim_back(struct rte_mbuf *m, uint32_t n)
{
	uint32_t keep = m->pkt_len - n;
	struct rte_mbuf *last = m;
	uint16_t segs = 1;

	m->pkt_len = keep;
	while (keep > last->data_len && last->next) {
		keep -= last->data_len;
		last = last->next;
		segs++;
	}
	last->data_len = (uint16_t)keep;
	m->nb_segs = segs;
	if (last->next)
		rte_pktmbuf_free(last->next);
	last->next = NULL;
}

static int refuse(struct rte_mbuf *m, int err)
{
	rte_pktmbuf_free(m);
	return err;
}

static int grow(struct tcp_ooo *o)
{
	uint32_t cap = o->cap ? o->cap * 2 : FIRST_CAP;
	struct tcp_ooo_entry *v;

	if (o->n < o->cap)
		return 0;
	v = realloc(o->v, cap * sizeof *v);
	if (!v)
		return -ENOMEM;
	o->v = v;
	o->cap = cap;
	return 0;
}

/** Drop the entries from @p i on that lie wholly before @p right: the new one covers them. */
static void drop_covered(struct tcp_ooo *o, uint32_t i, uint32_t right)
{
	uint32_t k = i;

	while (k < o->n && seq_leq(o->v[k].seq + o->v[k].len, right)) {
		o->held -= o->v[k].m->nb_segs;
		rte_pktmbuf_free(o->v[k++].m);
	}
	if (k == i)
		return;
	memmove(&o->v[i], &o->v[k], (o->n - k) * sizeof o->v[0]);
	o->n -= k - i;
}

int tcp_ooo_insert(struct tcp_ooo *o, struct rte_mbuf *m, uint32_t seq, uint32_t len)
{
	uint32_t i = o->n;

	/* Mostly the newest is the highest: look from the end. */
	while (i && seq_gt(o->v[i - 1].seq, seq))
		i--;
	if (i && seq_geq(o->v[i - 1].seq + o->v[i - 1].len, seq + len))
		return refuse(m, -EEXIST);
	if (i && o->v[i - 1].seq == seq)
		i--; /* shorter, from the same start: covered */
	drop_covered(o, i, seq + len);
	if (o->n >= TCP_OOO_MAX)
		return refuse(m, -ENOSPC);
	if (grow(o))
		return refuse(m, -ENOMEM);
	memmove(&o->v[i + 1], &o->v[i], (o->n - i) * sizeof o->v[0]);
	o->v[i] = (struct tcp_ooo_entry){m, seq, len};
	o->n++;
	o->held += m->nb_segs;
	return 0;
}

struct rte_mbuf *tcp_ooo_take(struct tcp_ooo *o, uint32_t next, uint32_t *len)
{
	uint32_t k = 0;
	struct tcp_ooo_entry e = {0};

	while (k < o->n && seq_leq(o->v[k].seq, next)) {
		e = o->v[k++];
		o->held -= e.m->nb_segs;
		if (seq_gt(e.seq + e.len, next))
			break;
		rte_pktmbuf_free(e.m);
		e.m = NULL;
	}
	if (k == 0)
		return NULL;
	memmove(&o->v[0], &o->v[k], (o->n - k) * sizeof o->v[0]);
	o->n -= k;
	if (!e.m)
		return NULL;
	*len = e.seq + e.len - next;
	return e.seq == next ? e.m : tcp_mbuf_trim_front(e.m, next - e.seq);
}

void tcp_ooo_clear(struct tcp_ooo *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		rte_pktmbuf_free(o->v[i].m);
	free(o->v);
	*o = (struct tcp_ooo){0};
}
