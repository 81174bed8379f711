/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/ip.h"

#include "ip/arp.h"
#include "ip/eth_wire.h"
#include "ip/group.h"
#include "ip/ipv4.h"
#include "ip/ipv6.h"
#include "ip/nd.h"
#include "ip/packet.h"
#include "ip/reassembly.h"
#include "ip/secure.h"
#include "ip/stack.h"

#include <errno.h>
#include <stdlib.h>

int ip_stack_create(const struct ip_stack_config *cfg, uint64_t now, struct ip_stack **out)
{
	struct ip_stack *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	s->generation = 1;
	s->mtu_v6 = cfg->mtu;
	s->icmp_limit.refilled = now;
	cfg->random.fill(cfg->random.ctx, &s->key, sizeof s->key);
	rc = reassembly_init(s);
	if (rc == 0)
		rc = ip_secure_init(s);
	if (rc < 0) {
		reassembly_fini(s);
		free(s);
		return rc;
	}
	route_init(s);
	neighbour_init(s);
	pmtu_init(s);
	nd_init(s);
	udp_init(s);
	group_init(s);
	*out = s;
	return 0;
}

void ip_stack_destroy(struct ip_stack *s)
{
	if (!s)
		return;
	group_fini(s);
	nd_fini(s);
	pmtu_fini(s);
	neighbour_fini(s);
	route_fini(s);
	local_fini(s);
	ip_secure_fini(s);
	reassembly_fini(s);
	while (s->loop_head != s->loop_tail)
		rte_pktmbuf_free(s->loop[s->loop_head++ & (IP_LOOP_SIZE - 1)]);
	free(s);
}

void ip_set_transport(struct ip_stack *s, uint8_t proto, const struct ip_transport *t)
{
	s->transport[proto] = *t;
	/* Never ask the port for what it cannot do. */
	if (t->tx_cksum != RTE_MBUF_F_TX_TCP_CKSUM || !s->cfg.tx_tcp_cksum)
		s->transport[proto].tx_cksum = 0;
}

const struct ip_stats *ip_stack_stats(const struct ip_stack *s)
{
	return &s->stats;
}

static bool ip_path_is_to_group(const struct ip_path *p)
{
	return p->to_group && ip_addr_is_multicast(&p->dst);
}

/* Routes, neighbours, addresses or path MTUs are not what they were: look again. */
static int ip_path_find(struct ip_stack *s, struct ip_path *p, uint64_t now)
{
	struct ip_addr hop;

	if (!ip_addr_is_local(s, &p->src))
		return -EADDRNOTAVAIL;
	p->loop = ip_addr_is_local(s, &p->dst);
	p->neighbour = NULL;
	if (!p->loop && !ip_path_is_to_group(p)) {
		if (ip_addr_is_multicast(&p->dst) || ip_addr_is_any(&p->dst) ||
			local_is_broadcast(s, &p->dst) || route_next_hop(s, &p->dst, &hop) < 0) {
			s->stats.no_route++;
			return -ENETUNREACH;
		}
		if (!s->cfg.no_link)
			p->neighbour = neighbour_get(s, &hop, now);
	}
	p->mtu = pmtu_get(s, &p->dst);
	p->link_mtu = pmtu_link(s, &p->dst);
	if (unlikely(s->cfg.ipsec) && !p->loop)
		ip_secure_path(s, p);
	p->generation = s->generation;
	return 0;
}

int ip_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop)
{
	return route_next_hop(s, dst, hop);
}

int ip_reach(struct ip_stack *s, const struct ip_addr *dst, uint64_t now)
{
	struct ip_addr hop;

	if (ip_addr_is_local(s, dst))
		return 0;
	if (ip_addr_is_multicast(dst) || ip_addr_is_any(dst) || local_is_broadcast(s, dst) ||
		route_next_hop(s, dst, &hop) < 0)
		return -ENETUNREACH;
	if (s->cfg.no_link || neighbour_ask(neighbour_get(s, &hop, now), now))
		return 0;
	return -EAGAIN;
}

int ip_path_init(struct ip_stack *s, struct ip_path *p, const struct ip_addr *src,
	const struct ip_addr *dst, uint64_t now)
{
	if (ip_addr_is_v4(src) != ip_addr_is_v4(dst))
		return -EADDRNOTAVAIL;
	p->src = *src;
	p->dst = *dst;
	p->addr_sum = cksum_addrs(src, dst);
	return ip_path_find(s, p, now);
}

void ip_path_confirm(struct ip_stack *s, struct ip_path *p, uint64_t sent_at, uint64_t now)
{
	if (p->generation == s->generation && p->neighbour)
		neighbour_confirm(s, p->neighbour, sent_at, now);
}

void ip_link_up(struct ip_stack *s, uint64_t now)
{
	if (s->cfg.no_link)
		return;
	neighbour_ask_again(s, now);
	membership_repeat(&s->igmp, now);
	membership_repeat(&s->mld, now);
	local_begin_again(s, now);
	s->linked = true;
}

bool ip_doubt(struct ip_stack *s, const struct ip_addr *dst, uint64_t now)
{
	struct ip_neighbour *n;
	struct ip_addr hop;

	if (s->cfg.no_link || ip_addr_is_local(s, dst) || route_next_hop(s, dst, &hop) < 0)
		return false;
	n = neighbour_find(s, &hop);
	return n && neighbour_doubt(n, now);
}

uint16_t ip_path_too_big(struct ip_stack *s, struct ip_path *p, uint16_t mtu, uint64_t now)
{
	if (unlikely(s->cfg.ipsec) && !p->loop) {
		(void)pmtu_lower(s, &p->dst, ip_secure_whole(s, p, mtu), now);
		p->mtu = pmtu_get(s, &p->dst);
		ip_secure_path(s, p);
	} else {
		p->mtu = pmtu_lower(s, &p->dst, mtu, now);
	}
	return p->mtu;
}

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

void ip_expedite(struct ip_stack *s)
{
	if (s->cfg.expedite)
		s->cfg.expedite(s->cfg.expedite_ctx);
}

bool ip_path_waits(const struct ip_path *p)
{
	return p->neighbour && p->neighbour->queued;
}

void ip_reply(struct ip_stack *s, const struct ip_reply *r, struct rte_mbuf *m, uint64_t now)
{
	struct ip_path p = {.tos = r->tos, .ttl = r->ttl};

	if (ip_path_init(s, &p, &r->src, &r->dst, now) < 0)
		rte_pktmbuf_free(m);
	else
		(void)ip_send(s, &p, r->proto, m, now);
}

bool ip_l4_cksum_unfilled(
	struct ip_stack *s, const struct ip_rx *rx, uint8_t proto, const struct rte_mbuf *m)
{
	uint64_t sum = cksum_pseudo(cksum_addrs(&rx->src, &rx->dst), proto, (uint16_t)m->pkt_len);
	const struct ip_transport *t = &s->transport[proto];
	uint16_t field;

	if (!t->cksum_off || m->data_len < t->min_len)
		return false;
	memcpy(&field, rte_pktmbuf_mtod_offset(m, const void *, t->cksum_off), sizeof field);
	if (field != cksum_fold(sum))
		return false;
	s->stats.rx_cksum_unfilled++;
	return true;
}

static void ip_dispatch(struct ip_stack *s, const struct ip_frame *f, uint16_t type,
	struct rte_mbuf *m, uint64_t now)
{
	if (likely(type == ETH_TYPE_IPV4)) {
		ipv4_input(s, f, m, now);
	} else if (type == ETH_TYPE_IPV6) {
		ipv6_input(s, f, m, now);
	} else if (type == ETH_TYPE_ARP) {
		arp_input(s, f, m, now);
	} else {
		s->stats.rx_not_ours++;
		rte_pktmbuf_free(m);
	}
}

/* No link layer: the version in the IP header is all that tells the families apart. */
static void ip_packet_input(struct ip_stack *s, struct rte_mbuf *m, bool from_self, uint64_t now)
{
	const struct ip_frame f = {.from_self = from_self};
	uint8_t version;

	m = packet_head(s, m, 1);
	version = m && m->data_len ? *rte_pktmbuf_mtod(m, const uint8_t *) >> 4 : 0;
	if (version == 4) {
		ipv4_input(s, &f, m, now);
	} else if (version == 6) {
		ipv6_input(s, &f, m, now);
	} else {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
	}
}

/* Has @m the very headers that were found good, and has nothing changed since? */
static inline bool ip_is_seen(const struct ip_stack *s, const struct rte_mbuf *m)
{
	const struct ip_seen *seen = &s->seen;

	return seen->generation == s->generation && m->nb_segs == 1 &&
	       m->data_len >= ETH_LEN + seen->len &&
	       (m->ol_flags & IP_RX_CKSUM_FLAGS) == seen->cksum &&
	       memcmp(rte_pktmbuf_mtod(m, const void *), seen->headers, sizeof seen->headers) == 0;
}

/* What the whole way found about these headers holds for @m, too. */
static inline void ip_seen_input(struct ip_stack *s, struct rte_mbuf *m, uint64_t now)
{
	const struct ip_seen *seen = &s->seen;

	m->data_off += ETH_LEN + IPV4_LEN;
	m->data_len = seen->len - IPV4_LEN; /* Ethernet pads to 60 bytes */
	m->pkt_len = m->data_len;
	seen->transport->input(seen->transport->ctx, &seen->rx, m, now);
}

/*
 * The tag of no VLAN, of a priority alone, is taken off (IEEE 802.1Q section 6.9.1). Another one is
 * left: that frame is of another link. Owns @m, which begins with the tag. Returns NULL: freed.
 */
static struct rte_mbuf *ip_untag(struct ip_stack *s, struct rte_mbuf *m, uint16_t *type)
{
	const uint8_t *tag;

	m = packet_head(s, m, ETH_TAG_LEN);
	if (!m || m->data_len < ETH_TAG_LEN) {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	tag = rte_pktmbuf_mtod(m, const uint8_t *);
	if ((load_be16(tag + ETH_TAG_TCI) & ETH_TAG_ID_MASK) == 0) {
		*type = load_be16(tag + ETH_TAG_TYPE);
		packet_skip(m, ETH_TAG_LEN);
	}
	return m;
}

static void ip_frame_input(struct ip_stack *s, struct rte_mbuf *m, bool from_self, uint64_t now)
{
	struct ip_frame f = {.from_self = from_self};
	const uint8_t *h;
	uint16_t type;

	if (unlikely(s->cfg.no_link)) {
		ip_packet_input(s, m, from_self, now);
		return;
	}
	if (likely(!from_self && ip_is_seen(s, m))) {
		ip_seen_input(s, m, now);
		return;
	}
	if (unlikely(m->data_len < ETH_LEN))
		m = packet_head(s, m, ETH_LEN);
	if (unlikely(!m || m->data_len < ETH_LEN)) {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
		return;
	}
	h = rte_pktmbuf_mtod(m, const uint8_t *);
	f.group = eth_addr_is_group(h + ETH_DST);
	/* A port may be promiscuous (AF_PACKET, a hub). */
	if (unlikely(!f.group && !eth_addr_equal(h + ETH_DST, s->cfg.mac))) {
		s->stats.rx_not_ours++;
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(f.src_mac, h + ETH_SRC, ETH_ADDR_LEN);
	type = load_be16(h + ETH_TYPE);
	packet_skip(m, ETH_LEN);
	if (unlikely(type == ETH_TYPE_VLAN) && !(m = ip_untag(s, m, &type)))
		return;
	ip_dispatch(s, &f, type, m, now);
}

const uint8_t *ip_peek(const struct ip_stack *s, const struct rte_mbuf *m, uint8_t proto,
	struct ip_addr *src, struct ip_addr *dst)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned link = s->cfg.no_link ? 0 : ETH_LEN, have = m->data_len;
	unsigned l4_len = s->transport[proto].min_len;
	uint8_t version;

	if (have < link + IPV4_LEN + l4_len)
		return NULL;
	h += link;
	version = h[0] >> 4;
	if (h[0] == 0x45) { /* version 4, no options */
		if (h[IPV4_PROTOCOL] != proto || (load_be16(h + IPV4_FRAGMENT) & ~IPV4_DF))
			return NULL;
		*src = ip_addr_from_v4(h + IPV4_SRC);
		*dst = ip_addr_from_v4(h + IPV4_DST);
		return h + IPV4_LEN;
	}
	if (version != 6 || have < link + IPV6_LEN + l4_len || h[IPV6_NEXT_HEADER] != proto)
		return NULL;
	*src = ip_addr_from_v6(h + IPV6_SRC);
	*dst = ip_addr_from_v6(h + IPV6_DST);
	return h + IPV6_LEN;
}

/** The transport is told of so many at a time: a port's burst. */
#define LOOK_AHEAD 32u

static void ip_look_ahead(struct ip_stack *s, struct rte_mbuf *const *pkts, unsigned n)
{
	const struct ip_transport *t = &s->transport[IP_PROTO_TCP];

	if (t->burst)
		t->burst(t->ctx, pkts, n);
}

bool ip_is_looping(const struct ip_stack *s)
{
	return s->loop_head != s->loop_tail;
}

unsigned ip_input(struct ip_stack *s, struct rte_mbuf **pkts, unsigned n, uint64_t now)
{
	/* Only what is there now: answers to ourselves come in the next round. */
	uint32_t looped = s->loop_tail - s->loop_head;

	for (unsigned i = 0; i < n; i++) {
		if (i % LOOK_AHEAD == 0 && n > 1)
			ip_look_ahead(s, pkts + i, n - i < LOOK_AHEAD ? n - i : LOOK_AHEAD);
		if (i + 1 < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + 1], void *));
		s->stats.rx_packets++;
		s->stats.rx_bytes += pkts[i]->pkt_len;
		ip_frame_input(s, pkts[i], false, now);
	}
	for (uint32_t i = 0; i < looped; i++) {
		struct rte_mbuf *m = s->loop[s->loop_head++ & (IP_LOOP_SIZE - 1)];

		s->stats.looped++;
		m->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
		ip_frame_input(s, m, true, now);
	}
	return n + looped;
}
