/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/secure.h"

#include "ip/icmp_wire.h"
#include "ip/igmp.h"
#include "ip/ipv4.h"
#include "ip/ipv6.h"
#include "ip/udp_wire.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdlib.h>

#define ESP_PROTO_NUMBER 50
#define ESP_QUOTED_LEN   8 /* SPI and sequence number */
#define PORTS_LEN        4

/**
 * A protected packet, and what it was before: nothing of that can be seen in it. Only what waits
 * for a neighbour is known, so one takes the place of another at worst.
 */
struct ip_secure_wait {
	uint8_t esp[ESP_QUOTED_LEN]; /**< SPI and sequence number: with its destination, no other's
				      */
	struct ip_addr to;
	struct ip_addr src, dst;
	uint8_t proto;
	uint8_t l4[IP_QUOTED_LEN];
};

/* ---- path MTU ------------------------------------------------------------------------------ */

uint16_t ip_secure_whole(struct ip_stack *s, const struct ip_path *p, uint16_t mtu)
{
	const struct ip_ipsec *x = s->cfg.ipsec;
	uint16_t outer = pmtu_get(s, &p->dst), overhead;
	struct ip_addr to;

	overhead = (uint16_t)(outer - x->room(x->ctx, &p->src, &p->dst, outer, &to));
	if (!ip_addr_equal(&to, &p->dst) || mtu > UINT16_MAX - overhead)
		return mtu;
	return (uint16_t)(mtu + overhead);
}

void ip_secure_path(struct ip_stack *s, struct ip_path *p)
{
	const struct ip_ipsec *x = s->cfg.ipsec;
	uint16_t inner = p->mtu;
	struct ip_addr to;

	p->link_mtu = x->room(x->ctx, &p->src, &p->dst, pmtu_link(s, &p->dst), &to);
	p->mtu = x->room(x->ctx, &p->src, &p->dst, pmtu_get(s, &to), &to);
	/* Of a tunnel: told by somebody behind it. */
	if (!ip_addr_equal(&to, &p->dst) && inner < p->mtu)
		p->mtu = inner;
}

/** RFC 4301 section 8.2.1. It is not authentic: it must quote what we can have sent. */
static void ip_secure_too_big(struct ip_stack *s, const struct ip_error *e, const struct ip_flow *f,
	const uint8_t *esp, size_t len, uint64_t now)
{
	const struct ip_ipsec *x = s->cfg.ipsec;

	if (x->sent(x->ctx, f, esp, len, now))
		(void)pmtu_lower(s, &e->dst, e->mtu, now);
}

static void ip_secure_error(void *ctx, const struct ip_error *e, uint64_t now)
{
	const struct ip_flow f = {.src = e->src, .dst = e->dst, .proto = ESP_PROTO_NUMBER};

	if (e->kind == IP_ERROR_MTU)
		ip_secure_too_big(ctx, e, &f, e->l4, e->l4_len, now);
}

void ip_secure_udp_error(struct ip_stack *s, const struct ip_error *e, uint64_t now)
{
	const struct ip_flow f = {.src = e->src,
		.dst = e->dst,
		.src_port = load_be16(e->l4 + UDP_SRC_PORT),
		.dst_port = load_be16(e->l4 + UDP_DST_PORT),
		.proto = UDP_PROTO};

	/* Routers may quote eight octets of IPv4's payload only: nothing of ESP is there. */
	if (s->cfg.ipsec && e->kind == IP_ERROR_MTU && e->l4_len >= UDP_LEN + ESP_QUOTED_LEN)
		ip_secure_too_big(s, e, &f, e->l4 + UDP_LEN, e->l4_len - UDP_LEN, now);
}

int ip_secure_init(struct ip_stack *s)
{
	if (!s->cfg.ipsec)
		return 0;
	s->secure_waits = calloc(NEIGHBOUR_QUEUED_MAX, sizeof *s->secure_waits);
	if (!s->secure_waits)
		return -ENOMEM;
	s->transport[ESP_PROTO_NUMBER] = (struct ip_transport){
		.error = ip_secure_error, .ctx = s, .min_len = ESP_QUOTED_LEN};
	return 0;
}

void ip_secure_fini(struct ip_stack *s)
{
	free(s->secure_waits);
}

void ip_ipsec_changed(struct ip_stack *s)
{
	ip_paths_changed(s);
}

/* ---- neighbours that are not there --------------------------------------------------------- */

/** @return SPI and sequence number of our own packet, if it is ESP or in UDP; else NULL. */
static const uint8_t *ip_secure_esp(const uint8_t *h, size_t len, struct ip_addr *to)
{
	bool v4 = h[0] >> 4 == 4;
	size_t at = v4 ? IPV4_LEN : IPV6_LEN;
	uint8_t proto;

	if (len < at + UDP_LEN + ESP_QUOTED_LEN)
		return NULL;
	proto = h[v4 ? IPV4_PROTOCOL : IPV6_NEXT_HEADER];
	if (proto != ESP_PROTO_NUMBER && proto != UDP_PROTO)
		return NULL;
	*to = v4 ? ip_addr_from_v4(h + IPV4_DST) : ip_addr_from_v6(h + IPV6_DST);
	return h + at + (proto == UDP_PROTO ? UDP_LEN : 0);
}

/** The numbers of an SA's packets come one after the other. */
static struct ip_secure_wait *ip_secure_wait_of(
	struct ip_stack *s, const uint8_t *esp, const struct ip_addr *to)
{
	uint32_t h = load_be32(esp) * 31 + load_be32(esp + 4) + load_be32(to->b + 12) * 7;

	return &s->secure_waits[h % NEIGHBOUR_QUEUED_MAX];
}

void ip_secure_await(struct ip_stack *s, const struct ip_path *p, uint8_t proto, const uint8_t *l4,
	const struct rte_mbuf *m)
{
	struct ip_addr to;
	const uint8_t *esp = ip_secure_esp(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &to);
	struct ip_secure_wait *w;

	if (!esp)
		return;
	w = ip_secure_wait_of(s, esp, &to);
	*w = (struct ip_secure_wait){.to = to, .src = p->src, .dst = p->dst, .proto = proto};
	memcpy(w->esp, esp, sizeof w->esp);
	memcpy(w->l4, l4, sizeof w->l4);
}

bool ip_secure_report_own(struct ip_stack *s, const uint8_t *h, size_t len, uint64_t now)
{
	struct ip_error e = {.kind = IP_ERROR_HOST, .l4_len = IP_QUOTED_LEN};
	struct ip_secure_wait w;
	const uint8_t *esp;
	struct ip_addr to;

	if (!s->cfg.ipsec)
		return false;
	esp = ip_secure_esp(h, len, &to);
	if (!esp)
		return false;
	/* Who is told may send, and another one wait. */
	w = *ip_secure_wait_of(s, esp, &to);
	if (memcmp(w.esp, esp, sizeof w.esp) != 0 || !ip_addr_equal(&w.to, &to))
		return false;
	e.src = w.src;
	e.dst = w.dst;
	e.l4 = w.l4;
	icmp_report(s, w.proto, &e, now);
	return true;
}

/* ---- packets ------------------------------------------------------------------------------- */

/** The ports, where there are any. */
static void ip_flow_ports(struct ip_flow *f, const struct rte_mbuf *m, uint16_t l4_off)
{
	const uint8_t *h = rte_pktmbuf_mtod_offset(m, const uint8_t *, l4_off);

	if ((f->proto != IP_PROTO_TCP && f->proto != UDP_PROTO) || m->data_len < l4_off ||
		m->data_len - l4_off < PORTS_LEN)
		return;
	f->src_port = load_be16(h + UDP_SRC_PORT);
	f->dst_port = load_be16(h + UDP_DST_PORT);
}

struct rte_mbuf *ip_secure_output(struct ip_stack *s, const struct ip_path *p, uint8_t proto,
	struct rte_mbuf *m, struct ip_addr *to, uint64_t now)
{
	const struct ip_ipsec *x = s->cfg.ipsec;
	struct ip_flow f = {.src = p->src, .dst = p->dst, .proto = proto};

	*to = p->dst;
	ip_flow_ports(&f, m, ip_addr_is_v4(&p->dst) ? IPV4_LEN : IPV6_LEN);
	return x->output(x->ctx, &f, &m, to, now) == IP_IPSEC_DROPPED ? NULL : m;
}

/**
 * What a link needs before there can be IPsec on it: ND, and the reports of groups. Each checks
 * that it comes from the link itself. What came by an SA is for the policies, as all else is: also
 * the number of IGMP in IPv6 and of ICMPv6 in IPv4, which nobody takes, and is answered.
 */
static bool ip_secure_exempts(const struct ip_stack *s, const struct ip_rx *rx,
	const struct rte_mbuf *m, uint8_t proto, uint16_t l4_off)
{
	uint8_t type;

	if (s->cfg.no_link)
		return false;
	if (ip_addr_is_v4(&rx->src))
		return proto == IGMP_PROTO;
	if (proto != IPV6_NH_ICMP || m->data_len <= l4_off)
		return false;
	type = *rte_pktmbuf_mtod_offset(m, const uint8_t *, l4_off);
	return (type >= ICMPV6_MLD_QUERY && type <= ICMPV6_REDIRECT) || type == ICMPV6_MLDV2_REPORT;
}

/** It need not be received again to be TCP's: all that is left to ask is whether it may come. */
static struct rte_mbuf *ip_secure_opened(const struct ip_ipsec *x, struct ip_flow *flow,
	struct ip_rx *rx, uint8_t *proto, uint16_t l4_off, struct rte_mbuf *m, const void *secured,
	uint64_t now)
{
	rx->l4_cksum_good =
		(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	rx->l4_cksum_bad = false;
	rx->secured = true;
	*proto = flow->proto = IP_PROTO_TCP;
	ip_flow_ports(flow, m, l4_off);
	return x->input(x->ctx, flow, &m, l4_off, &secured, now) == IP_IPSEC_PASS ? m : NULL;
}

bool ip_secure_may_answer(
	struct ip_stack *s, const struct ip_frame *f, const struct icmp_about *about, uint64_t now)
{
	const struct ip_ipsec *x = s->cfg.ipsec;
	struct ip_flow flow = {.src = about->rx->src, .dst = about->rx->dst, .proto = about->proto};

	if (!x || f->from_self)
		return true;
	if (f->secured)
		return false;
	ip_flow_ports(&flow, about->m, (uint16_t)about->l4_off);
	return x->clear(x->ctx, &flow);
}

struct rte_mbuf *ip_secure_input(struct ip_stack *s, const struct ip_frame *f, struct ip_rx *rx,
	uint8_t *proto, uint16_t l4_off, struct rte_mbuf *m, uint64_t now)
{
	const struct ip_ipsec *x = s->cfg.ipsec;
	struct ip_flow flow = {.src = rx->src, .dst = rx->dst, .proto = *proto};
	const void *secured = f->secured;
	enum ip_ipsec_verdict verdict;
	struct ip_frame inner;

	if (!f->secured && ip_secure_exempts(s, rx, m, *proto, l4_off))
		return m;
	ip_flow_ports(&flow, m, l4_off);
	verdict = x->input(x->ctx, &flow, &m, l4_off, &secured, now);
	switch (verdict) {
	case IP_IPSEC_PASS:
		return m;
	case IP_IPSEC_OPENED:
		return ip_secure_opened(x, &flow, rx, proto, l4_off, m, secured, now);
	case IP_IPSEC_TUNNELLED:
	case IP_IPSEC_CHANGED:
		break;
	default:
		return NULL;
	}
	inner = *f;
	inner.secured = secured;
	inner.tunnelled = verdict == IP_IPSEC_TUNNELLED;
	inner.fragmented = rx->fragmented;
	inner.group = false;
	if (*rte_pktmbuf_mtod(m, const uint8_t *) >> 4 == 4)
		ipv4_input(s, &inner, m, now);
	else
		ipv6_input(s, &inner, m, now);
	return NULL;
}
