/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/mbufs.h"

#include <string.h>

/** @return true if the text of @p m now lies in @p into; @p m is then freed. */
static bool tcp_mbufs_coalesce(struct rte_mbuf *into, struct rte_mbuf *m, bool always)
{
	if (m->data_len > TCP_PIECE_SMALL && !always)
		return false;
	/* A looped-back mbuf is shared with its sender until acknowledged: hands off. */
	if (rte_mbuf_refcnt_read(into) != 1 || rte_pktmbuf_tailroom(into) < m->data_len ||
		!RTE_MBUF_DIRECT(into))
		return false;
	memcpy(rte_pktmbuf_mtod_offset(into, void *, into->data_len), rte_pktmbuf_mtod(m, void *),
		m->data_len);
	into->data_len = (uint16_t)(into->data_len + m->data_len);
	into->pkt_len = into->data_len;
	rte_pktmbuf_free_seg(m);
	return true;
}

static void tcp_mbufs_push_one(struct tcp_mbufs *l, struct rte_mbuf *m)
{
	m->next = NULL;
	m->nb_segs = 1;
	m->pkt_len = m->data_len;
	l->bytes += m->data_len;
	if (m->data_len == 0) {
		rte_pktmbuf_free_seg(m);
		return;
	}
	if (l->first) {
		if (tcp_mbufs_coalesce(l->last, m, l->count >= TCP_LIST_LONG))
			return;
		l->last->next = m;
	} else {
		l->first = m;
	}
	l->last = m;
	l->count++;
}

void tcp_mbufs_push(struct tcp_mbufs *l, struct rte_mbuf *m)
{
	while (m) {
		struct rte_mbuf *next = m->next;

		tcp_mbufs_push_one(l, m);
		m = next;
	}
}

void tcp_mbufs_join_apart(struct tcp_mbufs *l, struct tcp_mbufs *more)
{
	if (more->first) {
		if (l->first)
			l->last->next = more->first;
		else
			l->first = more->first;
		l->last = more->last;
	}
	l->bytes += more->bytes;
	l->count += more->count;
	*more = (struct tcp_mbufs){0};
}

void tcp_mbufs_join(struct tcp_mbufs *l, struct tcp_mbufs *more)
{
	struct rte_mbuf *m = more->first, *next;

	if (!m)
		return;
	next = m->next;
	m->next = NULL;
	if (l->first && tcp_mbufs_coalesce(l->last, m, false)) {
		more->first = next;
		more->count--;
	} else {
		m->next = next;
	}
	tcp_mbufs_join_apart(l, more);
}

void tcp_mbufs_split(struct tcp_mbufs *l, uint32_t n, struct tcp_mbufs *out)
{
	struct rte_mbuf *m = l->first;

	*out = (struct tcp_mbufs){.first = m};
	for (; m && m->data_len <= n - out->bytes; m = m->next) {
		out->bytes += m->data_len;
		out->count++;
		out->last = m;
	}
	l->first = m;
	l->bytes -= out->bytes;
	l->count -= out->count;
	if (!m)
		l->last = NULL;
	if (out->last)
		out->last->next = NULL;
	else
		out->first = NULL;
}

/** Take the first off and free it. */
static void tcp_mbufs_drop_first(struct tcp_mbufs *l)
{
	struct rte_mbuf *m = l->first;

	l->first = m->next;
	if (!l->first)
		l->last = NULL;
	l->count--;
	l->bytes -= m->data_len;
	m->next = NULL; /* also if somebody else holds it still */
	rte_pktmbuf_free_seg(m);
}

void tcp_mbufs_consume(struct tcp_mbufs *l, uint32_t n)
{
	while (n) {
		struct rte_mbuf *m = l->first;

		if (n < m->data_len) {
			m->data_off = (uint16_t)(m->data_off + n);
			m->data_len = (uint16_t)(m->data_len - n);
			m->pkt_len = m->data_len;
			l->bytes -= n;
			return;
		}
		n -= m->data_len;
		tcp_mbufs_drop_first(l);
	}
}

void tcp_mbufs_free(struct tcp_mbufs *l)
{
	while (l->first)
		tcp_mbufs_drop_first(l);
}

unsigned tcp_mbufs_show(const struct tcp_mbufs *l, struct llp_iov *v, unsigned max, size_t *total)
{
	unsigned n = 0;

	*total = 0;
	for (const struct rte_mbuf *m = l->first; m && n < max; m = m->next) {
		v[n++] = tcp_mbuf_iov(m);
		*total += m->data_len;
	}
	return n;
}

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
	if (n)
		tcp_mbuf_forget_crc(m); /* other bytes may come where these were */
	last->data_len = (uint16_t)keep;
	m->nb_segs = segs;
	if (last->next)
		rte_pktmbuf_free(last->next);
	last->next = NULL;
}
