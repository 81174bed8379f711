/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/segment.h"

#include "base/bytes.h"
#include "tcp/buffer.h"

#include <errno.h>
#include <rte_mbuf.h>

_Static_assert(RTE_PKTMBUF_HEADROOM >= IP_HEADROOM + TCP_HEADER_MAX, "headers fit the headroom");

/** @return what to write into the window field; moves the edge that we have promised. */
static uint16_t tcp_segment_advertise(struct tcp_conn *c)
{
	uint32_t buffer = tcp_rcv_buffer(c), edge = tcp_buffer_edge(c);
	uint32_t wnd, unit = 1u << c->rcv_wscale;

	/* RFC 9293 section 3.8.6.2.2: no small steps; and never back (section 3.8.6, SHLD-14). */
	if (seq_gt(edge, c->rcv_adv) && edge - c->rcv_adv >= tcp_buffer_step(c))
		c->rcv_adv = edge;
	/* Rounded up: rounded down it would take back what was told (RFC 7323 section 2.4). But not
	 * for a peer that sends less than a unit at a time into a full buffer: the window would
	 * never close. */
	wnd = tcp_rcv_wnd(c) + unit - 1;
	if (c->rcv_nxt - c->last_ack_sent < unit && c->recvq.bytes + wnd > buffer + buffer / 8)
		wnd = tcp_rcv_wnd(c);
	wnd >>= c->rcv_wscale;
	if (wnd > 65535) {
		wnd = 65535;
		c->rcv_adv = c->rcv_nxt + (wnd << c->rcv_wscale);
	}
	c->rcv_adv = seq_max(c->rcv_adv, c->rcv_nxt + (wnd << c->rcv_wscale));
	return (uint16_t)wnd;
}

void tcp_segment_acknowledged(struct tcp_conn *c)
{
	c->last_ack_sent = c->rcv_nxt;
	c->ack_now = c->ooo_state && c->sack_on && tcp_sack_is_news(&c->ooo_state->sack);
	c->delack_at = TIMER_NEVER;
}

void tcp_segment_begin(struct tcp_conn *c, struct tcp_segment *h, uint32_t seq, uint8_t flags)
{
	h->sport = c->id.lport;
	h->dport = c->id.rport;
	h->seq = seq;
	h->ack = c->rcv_nxt;
	h->flags = flags;
	h->wnd = tcp_segment_advertise(c);
	if (c->ecn.echo && !(flags & TCP_RST)) /* RFC 3168 section 6.1.3 */
		h->flags |= TCP_ECE;
	h->has = 0;
	h->n_sack = 0;
	if (c->ts_on) {
		h->has = TCP_HAS_TS;
		h->tsval = c->s->now_ms + c->ts_offset;
		h->tsecr = c->ts_recent;
	}
}

void tcp_segment_add_sack(struct tcp_conn *c, struct tcp_segment *h, uint32_t room)
{
	uint32_t most = tcp_sack_blocks(c);

	if (likely(!c->ooo_state) || !c->sack_on || room < 12)
		return;
	tcp_sack_emit(&c->ooo_state->sack, &c->ooo_state->ooo, h, u32_min((room - 4) / 8, most));
}

static void tcp_segment_count(struct tcp_conn *c)
{
	c->segments_out++;
	c->s->stats.segments_out++;
}

int tcp_segment_send(struct tcp_conn *c, struct rte_mbuf *m, struct ip_text_sum text)
{
	tcp_segment_count(c);
	return ip_send_summed(c->s->cfg.ip, &c->path, IP_PROTO_TCP, m, text, c->s->now);
}

int tcp_segment_send_first(
	struct tcp_conn *c, struct rte_mbuf *m, struct ip_text_sum text, struct ip_pattern *pattern)
{
	tcp_segment_count(c);
	return ip_send_first(
		c->s->cfg.ip, &c->path, IP_PROTO_TCP, m, text, TCP_OFF_SEQ, pattern, c->s->now);
}

void tcp_segment_send_alike(struct tcp_conn *c, const struct ip_pattern *pattern,
	struct rte_mbuf *m, uint32_t seq, uint16_t sum)
{
	uint32_t word;

	store_be32(&word, seq);
	tcp_segment_count(c);
	ip_send_alike(c->s->cfg.ip, pattern, m, word, sum, c->s->now);
}

int tcp_segment_send_bare(struct tcp_conn *c, const struct tcp_segment *h)
{
	struct rte_mbuf *m = tcp_stack_packet(c->s);
	unsigned len = tcp_wire_len(h);

	if (!m)
		return -ENOMEM;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	tcp_wire_emit(h, rte_pktmbuf_mtod(m, uint8_t *));
	return tcp_segment_send(c, m, (struct ip_text_sum){0});
}
