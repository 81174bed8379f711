/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/group.h"
#include "ip/ip_path.h"
#include "ip/ipv4.h"
#include "ip/ipv6.h"
#include "ip/packet.h"
#include "ip/secure.h"

#include <errno.h>
#include <rte_mbuf.h>

/* The transport left its checksum to us: by the port, by software, or not at all in a loop. */
static inline void ip_fill_l4_cksum(const struct ip_transport *t, const struct ip_path *p,
	uint8_t proto, struct rte_mbuf *m, struct ip_text_sum text)
{
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);
	uint64_t sum = cksum_pseudo(p->addr_sum, proto, (uint16_t)m->pkt_len);

	if (p->loop)
		return;
	if (t->tx_cksum) {
		cksum_store(h + t->cksum_off, cksum_fold(sum));
		m->ol_flags |= t->tx_cksum;
		m->l4_len = t->words_off ? (h[t->words_off] >> 4) * 4U : t->min_len;
		return;
	}
	cksum_store(h + t->cksum_off, 0);
	if (text.len)
		sum += cksum_bytes(h, m->data_len - text.len) + text.sum;
	else if (likely(rte_pktmbuf_is_contiguous(m)))
		sum += cksum_bytes(h, m->data_len);
	else
		sum += cksum_mbuf(m, 0);
	cksum_store(h + t->cksum_off, (uint16_t)~cksum_fold(sum));
}

static inline void ip_push_v4(
	struct ip_stack *s, const struct ip_path *p, uint8_t proto, struct rte_mbuf *m, uint8_t *h)
{
	uint8_t ttl = p->ttl ? p->ttl : IP_DEFAULT_TTL;
	bool hw = s->cfg.tx_ipv4_cksum && !p->loop;

	ipv4_store(h, p, proto, (uint16_t)m->pkt_len, ttl, hw);
	m->l3_len = IPV4_LEN;
	if (hw)
		m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	if (m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK)
		m->ol_flags |= RTE_MBUF_F_TX_IPV4;
}

static inline void ip_push_v6(
	const struct ip_path *p, uint8_t proto, struct rte_mbuf *m, uint8_t *h)
{
	ipv6_store(h, &(struct ipv6_header){.src = &p->src,
			      .dst = &p->dst,
			      .payload_len = (uint16_t)(m->pkt_len - IPV6_LEN),
			      .traffic_class = p->tos,
			      .next_header = proto,
			      .hop_limit = p->ttl ? p->ttl : IP_DEFAULT_TTL});
	m->l3_len = IPV6_LEN;
	if (m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK)
		m->ol_flags |= RTE_MBUF_F_TX_IPV6;
}

/* Owns @m, which has its link's header, if there is one, still blank at its front. */
static int ip_loop_back(struct ip_stack *s, const struct ip_path *p, struct rte_mbuf *m)
{
	if (s->loop_tail - s->loop_head == IP_LOOP_SIZE) {
		s->stats.loop_full++;
		rte_pktmbuf_free(m);
		return 0; /* lost, as on any link with a full queue */
	}
	if (!s->cfg.no_link)
		eth_store(rte_pktmbuf_mtod(m, uint8_t *), s->cfg.mac, s->cfg.mac,
			ip_addr_is_v4(&p->dst) ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	s->loop[s->loop_tail++ & (IP_LOOP_SIZE - 1)] = m;
	return 0;
}

bool ip_sums(const struct ip_stack *s, const struct ip_path *p, uint8_t proto)
{
	const struct ip_transport *t = &s->transport[proto];

	return t->cksum_off && !t->tx_cksum && !p->loop;
}

bool ip_gathers(const struct ip_stack *s, const struct ip_path *p, uint8_t proto)
{
	return s->transport[proto].tx_cksum && !p->loop && !s->cfg.ipsec;
}

int ip_send(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m, uint64_t now)
{
	return ip_send_summed(s, p, proto, m, (struct ip_text_sum){0}, now);
}

/* To @n; NULL: there is no link layer. Owns @m, whose data is at its IP header. */
static inline int ip_send_to(
	struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	uint16_t link_len = s->cfg.no_link ? 0 : ETH_LEN;
	uint8_t *h = (uint8_t *)rte_pktmbuf_prepend(m, link_len);

	m->l2_len = link_len;
	if (unlikely(!n)) {
		ip_transmit(s, m);
		return 0;
	}
	if (unlikely(!n->direct))
		return neighbour_output(s, n, m, now);
	n->used = now;
	memcpy(h, n->eth, ETH_LEN);
	ip_transmit(s, m);
	return 0;
}

/* To where the path leads. */
static inline int ip_send_by(
	struct ip_stack *s, const struct ip_path *p, struct rte_mbuf *m, uint64_t now)
{
	if (likely(p->neighbour) || (!p->loop && !ip_path_is_to_group(p)))
		return ip_send_to(s, p->neighbour, m, now);
	m->l2_len = s->cfg.no_link ? 0 : ETH_LEN;
	rte_pktmbuf_prepend(m, m->l2_len);
	if (p->loop)
		return ip_loop_back(s, p, m);
	group_output(s, p, m);
	return 0;
}

/* The station before the end @to of a tunnel. */
static int ip_tunnel_neighbour(
	struct ip_stack *s, const struct ip_addr *to, struct ip_neighbour **n, uint64_t now)
{
	struct ip_addr hop;

	if (route_next_hop(s, to, &hop) < 0) {
		s->stats.no_route++;
		return -ENETUNREACH;
	}
	*n = s->cfg.no_link ? NULL : neighbour_get(s, &hop, now);
	return 0;
}

/* As ip_send(), of a packet that crosses the IPsec boundary. */
static int ip_send_secured(struct ip_stack *s, const struct ip_path *p, uint8_t proto,
	struct rte_mbuf *m, uint64_t now)
{
	struct ip_neighbour *n = p->neighbour;
	uint8_t l4[IP_QUOTED_LEN];
	struct ip_addr to;
	bool tunnelled;
	int rc = 0;

	memcpy(l4, rte_pktmbuf_mtod_offset(m, const uint8_t *, m->l3_len), sizeof l4);
	m = ip_secure_output(s, p, proto, m, &to, now);
	if (!m)
		return 0; /* as if it were lost */
	tunnelled = !ip_addr_equal(&to, &p->dst);
	if (tunnelled)
		rc = ip_tunnel_neighbour(s, &to, &n, now);
	if (rc < 0) {
		rte_pktmbuf_free(m);
		return rc;
	}
	if (unlikely(n && !n->direct))
		ip_secure_await(s, p, proto, l4, m);
	return tunnelled ? ip_send_to(s, n, m, now) : ip_send_by(s, p, m, now);
}

/* Checksum and IP's header, if the packet may leave by the path as it is; else @m is freed. */
static inline int ip_push(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m,
	struct ip_text_sum text, uint64_t now)
{
	const struct ip_transport *t = &s->transport[proto];
	bool v4 = ip_addr_is_v4(&p->dst);
	uint16_t ip_len = v4 ? IPV4_LEN : IPV6_LEN;
	uint8_t *h;
	int rc = 0;

	if (unlikely(p->generation != s->generation))
		rc = ip_path_find(s, p, now);
	if (unlikely(rc == 0 && m->pkt_len + ip_len > p->mtu))
		rc = -EMSGSIZE;
	if (unlikely(rc < 0)) {
		rte_pktmbuf_free(m);
		return rc;
	}
	if (t->cksum_off)
		ip_fill_l4_cksum(t, p, proto, m, text);
	h = (uint8_t *)rte_pktmbuf_prepend(m, ip_len);
	if (v4)
		ip_push_v4(s, p, proto, m, h);
	else
		ip_push_v6(p, proto, m, h);
	return 0;
}

/* What ip_push() made goes out. */
static inline int ip_send_pushed(struct ip_stack *s, const struct ip_path *p, uint8_t proto,
	struct rte_mbuf *m, uint64_t now)
{
	if (unlikely(s->cfg.ipsec) && !p->loop)
		return ip_send_secured(s, p, proto, m, now);
	return ip_send_by(s, p, m, now);
}

int ip_send_summed(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m,
	struct ip_text_sum text, uint64_t now)
{
	int rc = ip_push(s, p, proto, m, text, now);

	return unlikely(rc < 0) ? rc : ip_send_pushed(s, p, proto, m, now);
}

_Static_assert(RTE_PKTMBUF_HEADROOM >= IP_PATTERN_ROOM, "a pattern fits the headroom");

/* Are the headers of @m, which ip_push() made, all that is still to be done but the link's, or
 * IPsec's? */
static bool ip_may_be_pattern(const struct ip_stack *s, const struct ip_path *p,
	const struct rte_mbuf *m, struct ip_text_sum text)
{
	bool leaves = s->cfg.ipsec ? !p->loop : p->neighbour && p->neighbour->direct;

	return leaves && text.len && rte_pktmbuf_is_contiguous(m) && !m->ol_flags &&
	       m->data_len - text.len + ETH_LEN <= IP_PATTERN_ROOM;
}

static void ip_pattern_take(struct ip_pattern *o, const struct ip_stack *s, const struct ip_path *p,
	uint8_t proto, const struct rte_mbuf *m, struct ip_text_sum text, unsigned word)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t len = m->data_len - text.len, l4 = len - m->l3_len, cksum;
	uint16_t cksum_off = s->transport[proto].cksum_off;
	uint32_t v;

	memcpy(&v, h + m->l3_len + word, sizeof v);
	memcpy(&cksum, h + m->l3_len + cksum_off, sizeof cksum);
	o->text = text.len;
	o->head = len;
	o->word = (uint16_t)(l4 - word);
	o->cksum = l4 - cksum_off;
	o->proto = proto;
	/* RFC 1624: the checksum tells the sum of all; what is not for the others is subtracted. */
	o->sum = (uint64_t)(uint16_t)~cksum + (uint16_t)~text.sum + (uint32_t)~v;
	o->tx_offload = rte_mbuf_tx_offload(ETH_LEN, m->l3_len, 0, 0, 0, 0, 0);
	o->path = s->cfg.ipsec ? p : NULL;
	o->neighbour = p->neighbour;
	memcpy(o->headers + IP_PATTERN_ROOM - len, h, len);
	if (o->path)
		return;
	o->head += ETH_LEN;
	memcpy(o->headers + IP_PATTERN_ROOM - o->head, p->neighbour->eth, ETH_LEN);
}

int ip_send_first(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m,
	struct ip_text_sum text, unsigned word, struct ip_pattern *pattern, uint64_t now)
{
	int rc = ip_push(s, p, proto, m, text, now);

	pattern->text = 0;
	if (unlikely(rc < 0))
		return rc;
	if (ip_may_be_pattern(s, p, m, text))
		ip_pattern_take(pattern, s, p, proto, m, text, word);
	rc = ip_send_pushed(s, p, proto, m, now);
	if (unlikely(rc < 0))
		pattern->text = 0;
	return rc;
}

void ip_send_alike(struct ip_stack *s, const struct ip_pattern *pattern, struct rte_mbuf *m,
	uint32_t word, uint16_t sum, uint64_t now)
{
	uint8_t *text = rte_pktmbuf_mtod(m, uint8_t *);

	/* What is copied before the headers is nobody's, and a length that is known is no call. */
	memcpy(text - IP_PATTERN_ROOM, pattern->headers, IP_PATTERN_ROOM);
	memcpy(text - pattern->word, &word, sizeof word);
	cksum_store(text - pattern->cksum, (uint16_t)~cksum_fold(pattern->sum + word + sum));
	m->data_off = (uint16_t)(m->data_off - pattern->head);
	m->data_len = (uint16_t)(pattern->head + pattern->text);
	m->pkt_len = m->data_len;
	m->ol_flags = 0;
	m->tx_offload = pattern->tx_offload;
	if (unlikely(pattern->path)) {
		/* It fails where the first did, and there is no pattern then. */
		(void)ip_send_secured(s, pattern->path, pattern->proto, m, now);
		return;
	}
	pattern->neighbour->used = now;
	ip_transmit(s, m);
}

void ip_reply(struct ip_stack *s, const struct ip_reply *r, struct rte_mbuf *m, uint64_t now)
{
	struct ip_path p = {.tos = r->tos, .ttl = r->ttl};

	if (ip_path_init(s, &p, &r->src, &r->dst, now) < 0)
		rte_pktmbuf_free(m);
	else
		(void)ip_send(s, &p, r->proto, m, now);
}
