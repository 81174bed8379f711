/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/mbufs.h"

#include "tcp/mbuf.h"

#include <string.h>

/** A looped-back mbuf is shared with its sender until acknowledged: hands off. */
static bool tcp_mbufs_may_write(const struct rte_mbuf *m)
{
	return rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
}

/** Copy the text of @p m behind that of @p into, where there is room. */
static void tcp_mbufs_append(struct rte_mbuf *into, const struct rte_mbuf *m)
{
	memcpy(rte_pktmbuf_mtod_offset(into, void *, into->data_len), rte_pktmbuf_mtod(m, void *),
		m->data_len);
	into->data_len = (uint16_t)(into->data_len + m->data_len);
	into->pkt_len = into->data_len;
}

/** @return true if the text of @p m now lies in @p into; @p m is then freed. */
static bool tcp_mbufs_coalesce(struct rte_mbuf *into, struct rte_mbuf *m, bool always)
{
	if (m->data_len > TCP_PIECE_SMALL && !always)
		return false;
	if (!tcp_mbufs_may_write(into) || rte_pktmbuf_tailroom(into) < m->data_len)
		return false;
	tcp_mbufs_append(into, m);
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

/** Move the text of @p m to the beginning of its buffer, and all of the room behind it. */
static void tcp_mbufs_move_front(struct rte_mbuf *m)
{
	memmove(m->buf_addr, rte_pktmbuf_mtod(m, void *), m->data_len);
	m->data_off = 0;
	m->hash.fdir.lo = 0; /* what is known of it goes by its place */
}

/** A copy of @p m that may be written to, in front of as much room as a packet of @p pool has. */
static struct rte_mbuf *tcp_mbufs_own(const struct rte_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *own = rte_pktmbuf_alloc(pool);

	if (!own)
		return NULL;
	own->data_off = 0;
	tcp_mbuf_forget_crc(own);
	tcp_mbufs_append(own, m);
	return own;
}

/**
 * Make room for @p more bytes behind the text of the mbuf at @p at, which is not the last, in its
 * buffer or in another.
 * @return false: there is none.
 */
static bool tcp_mbufs_make_room(struct rte_mbuf **at, uint32_t more, struct rte_mempool *pool)
{
	struct rte_mbuf *m = *at, *own;
	bool mine = tcp_mbufs_may_write(m);
	uint32_t room = mine ? m->buf_len : rte_pktmbuf_data_room_size(pool);

	if (m->data_len + more > room)
		return false;
	if (mine) {
		if (rte_pktmbuf_tailroom(m) < more)
			tcp_mbufs_move_front(m);
		return true;
	}
	own = tcp_mbufs_own(m, pool);
	if (!own)
		return false;
	own->next = m->next;
	*at = own;
	m->next = NULL;
	rte_pktmbuf_free_seg(m);
	return true;
}

void tcp_mbufs_pack(struct tcp_mbufs *l, uint32_t n, struct rte_mempool *pool)
{
	struct rte_mbuf **at = &l->first, *m;
	uint32_t seen = l->first ? l->first->data_len : 0;

	while (*at && (m = (*at)->next) && seen < n) {
		seen += m->data_len;
		if (!tcp_mbufs_make_room(at, m->data_len, pool)) {
			at = &(*at)->next;
			continue;
		}
		tcp_mbufs_append(*at, m);
		(*at)->next = m->next;
		if (l->last == m)
			l->last = *at;
		l->count--;
		m->next = NULL;
		rte_pktmbuf_free_seg(m);
	}
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
