/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/ipv6.h"

#include "ip/icmp.h"
#include "ip/icmp_wire.h"
#include "ip/nd.h"
#include "ip/packet.h"
#include "ip/reassembly.h"
#include "ip/secure.h"

#include <rte_mbuf.h>

#define L4_HEAD          60  /* what transports find contiguous */
#define EXT_MAX          8   /* extension headers of one packet */
#define EXT_LEN_MAX      512 /* bytes of them together */
#define IPV6_OPTIONS_MAX 16  /* options of one header (RFC 8504 section 5.3 allows such limits) */

/* A packet on its way through its headers. */
struct walk {
	struct ip_stack *s;
	const struct ip_frame *f;
	struct ip_rx *rx;
	struct rte_mbuf *m;  /* data at the IPv6 header */
	uint8_t next;        /* kind of header at off */
	uint16_t off;        /* behind the headers seen */
	uint16_t next_field; /* where `next` was read, for parameter problems */
	unsigned headers;
	bool joined; /* out of fragments */
	uint64_t now;
};

/* What to do with a packet after one header. */
enum step { STEP_ON, STEP_UPPER, STEP_DROP, STEP_DONE /* the packet is gone */ };

/*
 * The protocol behind the extension headers. No error may be sent about an ICMPv6 error (RFC 4443
 * section 2.4(e.1)), nor about what may be one. @return false: it cannot be found.
 */
static bool ipv6_find_upper(const struct walk *w, struct icmp_about *about)
{
	const uint8_t *h = rte_pktmbuf_mtod(w->m, const uint8_t *), *p;

	for (unsigned i = 0; i < EXT_MAX; i++) {
		uint8_t kind = about->proto;

		if (kind != IPV6_NH_HOP_BY_HOP && kind != IPV6_NH_DEST_OPTIONS &&
			kind != IPV6_NH_ROUTING && kind != IPV6_NH_FRAGMENT)
			return true;
		if (about->l4_off + 8 > w->m->data_len)
			return false;
		p = h + about->l4_off;
		if (kind == IPV6_NH_FRAGMENT &&
			load_be16(p + IPV6_FRAGMENT_OFFSET) & IPV6_FRAGMENT_OFFSET_MASK)
			return false; /* the middle of a packet */
		about->proto = p[IPV6_EXT_NEXT];
		about->l4_off += kind == IPV6_NH_FRAGMENT ? IPV6_FRAGMENT_LEN
							  : (p[IPV6_EXT_LENGTH] + 1U) * 8;
	}
	return false;
}

/* Of headers: the packet has not come as far as the IPsec boundary. */
static void ipv6_header_problem(struct walk *w, uint8_t code, uint32_t pointer)
{
	struct icmp_about about = {.rx = w->rx, .m = w->m, .proto = w->next, .l4_off = w->off};

	if (ipv6_find_upper(w, &about) && ip_secure_may_answer(w->s, w->f, &about, w->now))
		icmpv6_error(w->s, &about, ICMPV6_PARAMETER, code, pointer, w->now);
}

/* RFC 8200 section 4.2. */
static enum step ipv6_option_unknown(struct walk *w, uint8_t type, uint16_t at)
{
	switch (type >> IPV6_OPT_ACTION_SHIFT) {
	case IPV6_OPT_SKIP:
		return STEP_ON;
	case IPV6_OPT_REPORT_UNICAST:
		if (ip_addr_is_multicast(&w->rx->dst))
			return STEP_DROP;
		/* fall through */
	case IPV6_OPT_REPORT:
		ipv6_header_problem(w, ICMPV6_PARAMETER_OPTION, at);
		return STEP_DROP;
	default:
		return STEP_DROP;
	}
}

/* Hop-by-hop and destination options: @len bytes at offset @at, headers' first two not in it. */
static enum step ipv6_options(struct walk *w, uint16_t at, uint16_t len)
{
	const uint8_t *h = rte_pktmbuf_mtod(w->m, const uint8_t *);

	for (unsigned i = 0; len; i++) {
		uint16_t size;

		if (h[at] == IPV6_OPT_PAD1) {
			at++;
			len--;
			continue;
		}
		if (len < 2 || i == IPV6_OPTIONS_MAX)
			return STEP_DROP;
		size = 2 + h[at + 1];
		if (size > len)
			return STEP_DROP;
		if (h[at] == IPV6_OPT_ROUTER_ALERT)
			w->rx->router_alert = true;
		else if (h[at] != IPV6_OPT_PADN && ipv6_option_unknown(w, h[at], at) == STEP_DROP)
			return STEP_DROP;
		at += size;
		len -= size;
	}
	return STEP_ON;
}

static enum step ipv6_routing(struct walk *w, uint16_t at)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(w->m, const uint8_t *, at);

	if (p[IPV6_ROUTING_LEFT] == 0)
		return STEP_ON;
	/* RFC 8200 section 4.4, for a type that we do not know: all (type 0 by RFC 5095). */
	ipv6_header_problem(w, ICMPV6_PARAMETER_FIELD, at + IPV6_ROUTING_TYPE);
	return STEP_DROP;
}

static enum step ipv6_fragment(struct walk *w, uint16_t at)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(w->m, const uint8_t *, at);
	uint16_t field = load_be16(p + IPV6_FRAGMENT_OFFSET);

	w->rx->fragmented = true;
	/* RFC 6946: an atomic fragment is a whole packet by itself. */
	if (!(field & (IPV6_FRAGMENT_OFFSET_MASK | IPV6_FRAGMENT_MORE)))
		return STEP_ON;
	/* What is protected and what is not must not become one packet. And RFC 8200 section 4.5
	 * cuts a packet once: pieces of pieces would hold many times what a fragment may. */
	w->m = w->f->secured || w->joined ? reassembly_refuse(w->s, w->m)
					  : reassembly_v6(w->s, w->m, at, w->now);
	w->joined = true;
	return STEP_DONE;
}

/* One extension header at w->off. */
static enum step ipv6_step(struct walk *w)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(w->m, const uint8_t *, w->off);
	uint32_t left = w->m->data_len - (uint32_t)w->off;
	uint16_t at = w->off;
	uint16_t size;
	uint8_t kind = w->next;
	enum step r;

	if (kind != IPV6_NH_HOP_BY_HOP && kind != IPV6_NH_DEST_OPTIONS && kind != IPV6_NH_ROUTING &&
		kind != IPV6_NH_FRAGMENT)
		return kind == IPV6_NH_NONE ? STEP_DROP : STEP_UPPER;
	/* RFC 8200 section 4.1: hop-by-hop only directly after the IPv6 header. */
	if (kind == IPV6_NH_HOP_BY_HOP && w->headers) {
		ipv6_header_problem(w, ICMPV6_PARAMETER_NEXT_HEADER, w->next_field);
		return STEP_DROP;
	}
	if (++w->headers > EXT_MAX || left < 8)
		return STEP_DROP;
	size = kind == IPV6_NH_FRAGMENT ? IPV6_FRAGMENT_LEN : (p[IPV6_EXT_LENGTH] + 1) * 8;
	if (size > left || size > EXT_LEN_MAX - (w->off - IPV6_LEN))
		return STEP_DROP;
	if (kind == IPV6_NH_FRAGMENT)
		r = ipv6_fragment(w, at);
	else if (kind == IPV6_NH_ROUTING)
		r = ipv6_routing(w, at);
	else
		r = ipv6_options(w, at + 2, size - 2);
	if (r != STEP_ON)
		return r;
	w->next = p[IPV6_EXT_NEXT];
	w->next_field = at + IPV6_EXT_NEXT;
	w->off = at + size;
	return STEP_ON;
}

static struct rte_mbuf *ipv6_head(struct ip_stack *s, struct rte_mbuf *m, uint16_t len)
{
	m = packet_head(s, m, len);
	if (unlikely(!m))
		s->stats.rx_no_memory++;
	return m;
}

static void ipv6_hand_up(struct walk *w)
{
	struct ip_stack *s = w->s;
	const struct ip_transport *t = &s->transport[w->next];
	const struct icmp_about about = {
		.rx = w->rx, .m = w->m, .proto = w->next, .l4_off = w->off};
	bool group = ip_addr_is_multicast(&w->rx->dst);

	if (likely(t->input && !group)) {
		packet_skip(w->m, w->off);
		t->input(t->ctx, w->rx, w->m, w->now);
		return;
	}
	if (w->next == IPV6_NH_ICMP) {
		packet_skip(w->m, w->off);
		icmpv6_input(s, w->rx, w->m, w->now);
		return;
	}
	if (w->next == UDP_PROTO && udp_input(s, w->rx, w->off, w->m, w->now))
		return;
	s->stats.rx_unknown_proto++;
	/* RFC 4443 section 3.1 for UDP without a listener, section 3.4 for all that is unknown. */
	if (w->next == UDP_PROTO)
		icmpv6_error(s, &about, ICMPV6_UNREACHABLE, ICMPV6_UNREACHABLE_PORT, 0, w->now);
	else if (!t->input)
		icmpv6_error(s, &about, ICMPV6_PARAMETER, ICMPV6_PARAMETER_NEXT_HEADER,
			w->next_field, w->now);
	rte_pktmbuf_free(w->m);
}

static void ipv6_deliver(struct walk *w)
{
	if (unlikely(w->s->cfg.ipsec) && !w->f->from_self)
		w->m = ip_secure_input(w->s, w->f, w->rx, &w->next, w->off, w->m, w->now);
	if (likely(w->m))
		ipv6_hand_up(w);
}

/* What differs between the fragments of a packet: the first one's counts, or all of them do. */
static void ipv6_read_hop(struct ip_rx *rx, const uint8_t *h)
{
	rx->tos = (uint8_t)(load_be16(h + IPV6_VERSION_CLASS_FLOW) >> 4);
	rx->ttl = h[IPV6_HOP_LIMIT];
}

/* A packet with extension headers. */
static void ipv6_walk_headers(struct walk *w)
{
	enum step r;

	w->m = ipv6_head(w->s, w->m, IPV6_LEN + EXT_LEN_MAX + L4_HEAD);
	if (!w->m)
		return;
	do {
		r = ipv6_step(w);
		if (r == STEP_DONE) {
			/* Put together: its headers anew. */
			w->m = w->m ? ipv6_head(w->s, w->m, IPV6_LEN + EXT_LEN_MAX + L4_HEAD)
				    : NULL;
			if (!w->m)
				return;
			w->next = rte_pktmbuf_mtod(w->m, const uint8_t *)[IPV6_NEXT_HEADER];
			w->next_field = IPV6_NEXT_HEADER;
			w->off = IPV6_LEN;
			ipv6_read_hop(w->rx, rte_pktmbuf_mtod(w->m, const uint8_t *));
			w->rx->l4_cksum_good = w->rx->l4_cksum_bad = false;
			r = STEP_ON;
		}
	} while (r == STEP_ON);
	if (r == STEP_UPPER) {
		ipv6_deliver(w);
		return;
	}
	if (w->next != IPV6_NH_NONE)
		w->s->stats.rx_bad_header++;
	rte_pktmbuf_free(w->m);
}

/* RFC 4861 section 7.2.4: who has an address tells of it from that address, also if it is ours. */
static bool ipv6_tells_of_source(const struct ip_rx *rx, const struct rte_mbuf *m)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint8_t *p = h + IPV6_LEN;

	return rx->ttl == ND_TTL && h[IPV6_NEXT_HEADER] == IPV6_NH_ICMP &&
	       m->data_len >= IPV6_LEN + ND_LEN && p[ICMP_TYPE] == ICMPV6_NA &&
	       memcmp(p + ND_TARGET, rx->src.b, sizeof rx->src.b) == 0;
}

/* RFC 4291 sections 2.5.2, 2.5.3, 2.7: where no packet from a wire comes from or goes to. Our
 * form of IPv4 must not get in through IPv6 either. */
static bool ipv6_check_addresses(struct ip_stack *s, const struct ip_frame *f,
	const struct ip_rx *rx, const struct rte_mbuf *m)
{
	bool group = ip_addr_is_multicast(&rx->dst);

	if (ip_addr_is_v4(&rx->src) || ip_addr_is_v4(&rx->dst) || ip_addr_is_multicast(&rx->src) ||
		(!f->from_self &&
			(ip_addr_is_loopback(&rx->src) ||
				(ip_addr_is_local(s, &rx->src) && !ipv6_tells_of_source(rx, m))))) {
		s->stats.rx_martian++;
		return false;
	}
	if (group ? !ip_group_has(s, &rx->dst) : f->group || !ip_addr_is_local(s, &rx->dst)) {
		s->stats.rx_not_ours++;
		return false;
	}
	return true;
}

/** @return false: not a header (RFC 8200 section 3). */
static bool ipv6_check_header(const struct rte_mbuf *m)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= IPV6_LEN && h[IPV6_VERSION_CLASS_FLOW] >> 4 == 6;
}

/** For packets to us: a packet socket also has what the kernel gets, and that is whole there. */
static bool ipv6_check_length(struct ip_stack *s, struct rte_mbuf *m)
{
	uint32_t payload = load_be16(rte_pktmbuf_mtod(m, const uint8_t *) + IPV6_PAYLOAD_LENGTH);

	if (unlikely(payload > m->pkt_len - IPV6_LEN)) {
		packet_note_cut(s, m);
		return false;
	}
	if (m->pkt_len - IPV6_LEN > payload)
		packet_trim(m, IPV6_LEN + payload);
	return true;
}

static void ipv6_bad_header(struct ip_stack *s, struct rte_mbuf *m)
{
	s->stats.rx_bad_header++;
	rte_pktmbuf_free(m);
}

void ipv6_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now)
{
	uint64_t flags = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
	const uint8_t *h;
	struct ip_rx rx;
	struct walk w = {.s = s, .f = f, .rx = &rx, .now = now};

	m = ipv6_head(s, m, IPV6_LEN + L4_HEAD);
	if (unlikely(!m))
		return;
	if (unlikely(!ipv6_check_header(m))) {
		ipv6_bad_header(s, m);
		return;
	}
	h = rte_pktmbuf_mtod(m, const uint8_t *);
	rx.src = ip_addr_from_v6(h + IPV6_SRC);
	rx.dst = ip_addr_from_v6(h + IPV6_DST);
	ipv6_read_hop(&rx, h);
	rx.from_self = f->from_self;
	rx.secured = f->secured != NULL;
	rx.tunnelled = f->tunnelled;
	rx.fragmented = f->fragmented;
	rx.router_alert = false;
	rx.l4_cksum_good = f->from_self || flags == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	rx.l4_cksum_bad = flags == RTE_MBUF_F_RX_L4_CKSUM_BAD;
	rx.src_mac = f->src_mac;
	if (unlikely(!ipv6_check_addresses(s, f, &rx, m))) {
		rte_pktmbuf_free(m);
		return;
	}
	if (unlikely(!ipv6_check_length(s, m))) {
		ipv6_bad_header(s, m);
		return;
	}
	w.m = m;
	w.next = h[IPV6_NEXT_HEADER];
	w.next_field = IPV6_NEXT_HEADER;
	w.off = IPV6_LEN;
	if (likely(w.next == IP_PROTO_TCP || w.next == IPV6_NH_ICMP))
		ipv6_deliver(&w);
	else
		ipv6_walk_headers(&w);
}

void ipv6_not_reassembled(struct ip_stack *s, struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	struct ip_rx rx = {0};
	const struct walk w = {.m = m};
	struct icmp_about about = {
		.rx = &rx, .m = m, .proto = IPV6_NH_FRAGMENT, .l4_off = IPV6_LEN};

	memcpy(rx.src.b, h + IPV6_SRC, sizeof rx.src.b);
	memcpy(rx.dst.b, h + IPV6_DST, sizeof rx.dst.b);
	/* RFC 8200 section 4.5: not without the first. */
	if (ipv6_find_upper(&w, &about) &&
		ip_secure_may_answer(s, &(struct ip_frame){0}, &about, now))
		icmpv6_error(s, &about, ICMPV6_TIME_EXCEEDED, ICMP_TIME_REASSEMBLY, 0, now);
}
