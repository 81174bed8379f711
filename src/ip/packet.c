/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/packet.h"

#include "ip/stack.h"

#include <rte_mbuf.h>

struct rte_mbuf *packet_new(struct ip_stack *s)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->cfg.pool);

	if (m && rte_pktmbuf_headroom(m) < IP_HEADROOM) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	return m;
}

/* Take @len bytes off the front of a chain, freeing the segments that become empty. */
static struct rte_mbuf *packet_chain_consume(struct rte_mbuf *m, uint32_t len)
{
	while (m && len >= m->data_len) {
		struct rte_mbuf *next = m->next;

		len -= m->data_len;
		m->next = NULL;
		m->nb_segs = 1;
		rte_pktmbuf_free_seg(m);
		m = next;
	}
	if (m) {
		m->data_off += (uint16_t)len;
		m->data_len -= (uint16_t)len;
	}
	return m;
}

struct rte_mbuf *packet_pull(struct ip_stack *s, struct rte_mbuf *m, uint16_t len)
{
	uint32_t total = m->pkt_len;
	struct rte_mbuf *head;
	uint8_t *to;

	head = packet_new(s);
	to = head ? (uint8_t *)rte_pktmbuf_append(head, len) : NULL;
	if (!to) {
		rte_pktmbuf_free(head);
		rte_pktmbuf_free(m);
		return NULL;
	}
	for (struct rte_mbuf *seg = m; len; seg = seg->next) {
		uint16_t part = seg->data_len < len ? seg->data_len : len;

		memcpy(to, rte_pktmbuf_mtod(seg, const void *), part);
		to += part;
		len -= part;
	}
	head->ol_flags = m->ol_flags & (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	head->next = packet_chain_consume(m, head->data_len);
	for (struct rte_mbuf *seg = head->next; seg; seg = seg->next)
		head->nb_segs++;
	head->pkt_len = total;
	return head;
}

struct rte_mbuf *packet_own(struct ip_stack *s, struct rte_mbuf *m, uint16_t len)
{
	if (m->data_len >= len && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1 &&
		rte_pktmbuf_headroom(m) >= IP_HEADROOM) {
		m->ol_flags = 0;
		return m;
	}
	m = packet_pull(s, m, len);
	if (m)
		m->ol_flags = 0;
	return m;
}

void packet_trim(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *seg = m;
	uint32_t left = len;

	while (left > seg->data_len) {
		left -= seg->data_len;
		seg = seg->next;
	}
	seg->data_len = (uint16_t)left;
	rte_pktmbuf_free(seg->next);
	seg->next = NULL;
	m->nb_segs = 1;
	for (const struct rte_mbuf *x = m; x != seg; x = x->next)
		m->nb_segs++;
	m->pkt_len = len;
}

void packet_note_cut(struct ip_stack *s, const struct rte_mbuf *m)
{
	s->stats.rx_cut += m->pkt_len >= s->cfg.mtu;
}
