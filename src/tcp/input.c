/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/input.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "tcp/control.h"
#include "tcp/ecn.h"
#include "tcp/listen.h"
#include "tcp/mbuf.h"
#include "tcp/mbuf_cache.h"

/** What was made of a segment's text while it was summed. */
struct tcp_rcv_crc {
	size_t len; /**< from its first byte; 0: nothing */
	uint32_t crc;
};

/** Parse the header, wherever the mbufs of a chain cut it. @return 0 or -EINVAL. */
static int tcp_rcv_parse(const struct rte_mbuf *m, struct tcp_segment *seg)
{
	uint8_t copy[TCP_HEADER_MAX];
	uint32_t want = u32_min(m->pkt_len, (uint32_t)TCP_HEADER_MAX);

	if (likely(m->data_len >= want))
		return tcp_wire_parse(
			rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, m->pkt_len, seg);
	return tcp_wire_parse(rte_pktmbuf_read(m, 0, want, copy), want, m->pkt_len, seg);
}

/** Of how much of a segment's text will its user need a CRC? */
static size_t tcp_rcv_crc_covers(
	const struct tcp_conn *c, const struct rte_mbuf *m, const struct tcp_segment *seg)
{
	size_t n;

	if (!c || !seg->len || m->nb_segs != 1 || !c->llp.user_ops || !c->llp.user_ops->crc_covers)
		return 0;
	n = c->llp.user_ops->crc_covers(c->llp.user,
		rte_pktmbuf_mtod_offset(m, const uint8_t *, seg->header_len), seg->len);
	return n <= seg->len ? n : 0;
}

/**
 * Is the checksum of a segment right? Where its user would go over the text once more for a CRC,
 * that is made in the same pass and kept: it is of these very bytes, right or wrong.
 */
static bool tcp_rcv_sum_right(const struct tcp_conn *c, const struct ip_rx *rx, struct rte_mbuf *m,
	const struct tcp_segment *seg, struct tcp_rcv_crc *crc)
{
	struct digest d = {.crc = DIGEST_CRC_START};
	const uint8_t *text;

	crc->len = tcp_rcv_crc_covers(c, m, seg);
	if (!crc->len)
		return ip_l4_cksum(&rx->src, &rx->dst, IP_PROTO_TCP, m, 0) == 0;
	text = rte_pktmbuf_mtod_offset(m, const uint8_t *, seg->header_len);
	digest_add(&d, DIGEST_BOTH, text, crc->len);
	digest_add(&d, DIGEST_SUM, text + crc->len, seg->len - crc->len);
	crc->crc = d.crc;
	return ip_l4_cksum_summed(&rx->src, &rx->dst, IP_PROTO_TCP, m,
		       (struct ip_text_sum){(uint16_t)seg->len, digest_fold(d.sum)}) == 0;
}

static bool tcp_rcv_checksum_ok(struct tcp_stack *s, const struct tcp_conn *c,
	const struct ip_rx *rx, struct rte_mbuf *m, const struct tcp_segment *seg,
	struct tcp_rcv_crc *crc)
{
	if (likely(rx->l4_cksum_good))
		return true;
	if (!rx->l4_cksum_bad && tcp_rcv_sum_right(c, rx, m, seg, crc))
		return true;
	/* From a kernel on this very host, memory to memory: there was no wire to damage it. */
	return ip_l4_cksum_unfilled(s->cfg.ip, rx, IP_PROTO_TCP, m);
}

/**
 * Header prediction: an established connection, nothing lost or reordered either way, the next
 * expected text or a plain ACK. Everything else takes the general path, with the same results.
 */
static bool tcp_rcv_fastpath_ok(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	if (c->state != TCP_ESTABLISHED || (seg->flags & ~TCP_PSH) != TCP_ACK ||
		seg->seq != c->rcv_nxt || seg->n_sack)
		return false;
	if (c->ts_on && (!(seg->has & TCP_HAS_TS) || seq_lt(seg->tsval, c->ts_recent)))
		return false;
	if (seq_lt(seg->ack, c->snd_una) || seq_gt(seg->ack, c->snd_nxt) || tcp_ca_recovering(c) ||
		c->dupacks)
		return false;
	if (seg->len == 0)
		return seg->ack != c->snd_una;
	return seg->len <= tcp_rcv_wnd(c) && !c->ooo_state && !c->fin_ooo;
}

static void tcp_rcv_fastpath(struct tcp_conn *c, const struct ip_rx *rx,
	const struct tcp_segment *seg, struct rte_mbuf *m)
{
	tcp_segment_accepted(c, seg);
	tcp_ecn_ack(c, seg);
	if (!seg->len) {
		tcp_ack_arrives(c, seg);
		tcp_mbuf_cache_put_read(&c->s->mbuf_cache, m, c->s->cfg.pool);
		return;
	}
	tcp_ack_arrives_with_text(c, seg);
	tcp_ecn_text(c, rx, seg);
	tcp_text_in_order(c, seg, m);
}

/** There is no connection: for a half-open one, for a listener, or a mistake. Owns @p m. */
static void tcp_rcv_no_conn(struct tcp_stack *s, const struct tcp_tuple *id, const struct ip_rx *rx,
	struct tcp_segment *seg, struct rte_mbuf *m)
{
	const struct ip_endpoint to = {rx->dst, seg->dport};
	struct tcp_synq_entry *h = tcp_synq_find(&s->synq, id);
	struct tcp_listener *l;

	if (h) {
		tcp_synq_input(h, rx, seg, m);
		return;
	}
	l = tcp_listener_find(s, &to);
	if (l) {
		tcp_listen_input(l, rx, seg, m, NULL);
		return;
	}
	s->stats.no_connection++;
	tcp_reply_rst(s, rx, seg);
	rte_pktmbuf_free(m);
}

/** Leave the text alone in @p m. */
static struct rte_mbuf *tcp_rcv_take_header_off(struct rte_mbuf *m, unsigned len)
{
	if (likely(m->nb_segs == 1)) {
		m->data_off = (uint16_t)(m->data_off + len);
		m->data_len = (uint16_t)(m->data_len - len);
		m->pkt_len = m->data_len;
		return m;
	}
	return tcp_mbuf_trim_front(m, len);
}

void tcp_burst_comes(void *ctx, struct rte_mbuf *const *pkts, unsigned n)
{
	struct tcp_stack *s = ctx;

	if (s->table.count < TCP_TABLE_MANY)
		return;
	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const char *));
	tcp_table_expect_none(&s->table);
	for (unsigned i = 0; i < n; i++) {
		struct tcp_tuple id;
		const uint8_t *l4 =
			ip_peek(s->cfg.ip, pkts[i], IP_PROTO_TCP, &id.remote, &id.local);

		if (!l4)
			continue;
		id.rport = load_be16(l4 + TCP_OFF_SPORT);
		id.lport = load_be16(l4 + TCP_OFF_DPORT);
		tcp_table_expect(&s->table, &id);
	}
}

void tcp_input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	struct tcp_stack *s = ctx;
	struct tcp_segment seg;
	struct tcp_rcv_crc crc = {0};
	struct tcp_tuple id;
	struct tcp_conn *c;

	tcp_set_now(s, now);
	tcp_ack_settle(s);
	s->stats.segments_in++;
	if (tcp_rcv_parse(m, &seg)) {
		s->stats.bad_header++;
		rte_pktmbuf_free(m);
		return;
	}
	id = (struct tcp_tuple){rx->dst, rx->src, seg.dport, seg.sport};
	c = tcp_table_find(&s->table, &id);
	if (!tcp_rcv_checksum_ok(s, c, rx, m, &seg, &crc)) {
		s->stats.bad_cksum++;
		rte_pktmbuf_free(m);
		return;
	}
	m = tcp_rcv_take_header_off(m, seg.header_len);
	tcp_mbuf_forget_crc(m);
	if (crc.len)
		tcp_mbuf_set_crc(m, (uint32_t)crc.len, crc.crc);
	if (!c) {
		tcp_rcv_no_conn(s, &id, rx, &seg, m);
		return;
	}
	c->segments_in++;
	if (likely(tcp_rcv_fastpath_ok(c, &seg)))
		tcp_rcv_fastpath(c, rx, &seg, m);
	else
		tcp_segment_arrives(c, rx, &seg, m);
}
