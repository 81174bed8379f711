/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/ipv4.h"

#include "ip/eth_wire.h"
#include "ip/icmp.h"
#include "ip/icmp_wire.h"
#include "ip/igmp.h"
#include "ip/packet.h"
#include "ip/reassembly.h"
#include "ip/secure.h"

#include <rte_mbuf.h>

#define L4_HEAD 60 /* what transports find contiguous */

/* RFC 1122 section 3.2.1.8: what we need not understand is skipped; source routes are refused. */
static bool ipv4_options_ok(const uint8_t *p, uint32_t len)
{
	while (len) {
		uint8_t type = p[0];
		uint32_t size;

		if (type == IPV4_OPT_END)
			return true;
		if (type == IPV4_OPT_NOP) {
			p++;
			len--;
			continue;
		}
		if (len < 2 || type == IPV4_OPT_LSRR || type == IPV4_OPT_SSRR)
			return false;
		size = p[1];
		if (size < 2 || size > len)
			return false;
		p += size;
		len -= size;
	}
	return true;
}

/** The options were checked. */
static bool ipv4_has_router_alert(const uint8_t *p, uint32_t len)
{
	while (len > 1 && p[0] != IPV4_OPT_END) {
		uint32_t size = p[0] == IPV4_OPT_NOP ? 1 : p[1];

		if (p[0] == IPV4_OPT_ROUTER_ALERT)
			return true;
		p += size;
		len -= size;
	}
	return false;
}

static bool ipv4_is_ours(const struct ip_stack *s, const uint8_t *v4)
{
	uint32_t a;

	memcpy(&a, v4, 4);
	for (unsigned i = 0; i < s->local.n_v4; i++) {
		if (s->local.v4[i] == a)
			return true;
	}
	return false;
}

/* RFC 1122 section 3.2.1.3: addresses that no datagram from a wire can come from. */
static bool ipv4_martian(const struct ip_stack *s, const uint8_t *src)
{
	struct ip_addr addr;

	if (src[0] == 0 || src[0] == 127 || src[0] >= 224 || ipv4_is_ours(s, src))
		return true;
	/* A subnet's broadcast address ends in a one or a zero for each bit of the host: only then
	 * is the longer look worth it. */
	if (src[3] & 3 && (src[3] & 3) != 3)
		return false;
	addr = ip_addr_from_v4(src);
	return local_is_broadcast(s, &addr);
}

static bool ipv4_is_group(const uint8_t *v4)
{
	return v4[0] >> 4 == 14;
}

/** RFC 4541 section 2.1.1: queries of IGMP come from there, if their sender has no address. */
static bool ipv4_is_proxy(const uint8_t *h)
{
	static const uint8_t nobody[4];

	return h[IPV4_PROTOCOL] == IGMP_PROTO && memcmp(h + IPV4_SRC, nobody, 4) == 0;
}

/** To an address of ours, by a frame to us; or to a group that we are in. */
static bool ipv4_is_for_us(const struct ip_stack *s, const struct ip_frame *f, const uint8_t *v4)
{
	struct ip_addr group;

	if (likely(ipv4_is_ours(s, v4)))
		return !f->group;
	if (!ipv4_is_group(v4))
		return false;
	group = ip_addr_from_v4(v4);
	return ip_group_has(s, &group);
}

static bool ipv4_check_addresses(struct ip_stack *s, const struct ip_frame *f, const uint8_t *h)
{
	/* RFC 1122 section 3.3.6: nothing here wants broadcasts of IP or of the link;
	 * section 4.2.3.10: TCP must not see them. */
	if (!ipv4_is_for_us(s, f, h + IPV4_DST)) {
		s->stats.rx_not_ours++;
		return false;
	}
	if (!f->from_self && ipv4_martian(s, h + IPV4_SRC) && !ipv4_is_proxy(h)) {
		s->stats.rx_martian++;
		return false;
	}
	return true;
}

/** @return the header's length, or 0: it is counted as dropped (RFC 1122 section 3.2.1). */
static uint16_t ipv4_check_header(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t flags = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint16_t hlen, total;

	if (unlikely(m->data_len < IPV4_LEN))
		goto bad;
	hlen = (h[IPV4_VERSION_IHL] & 15) * 4;
	total = load_be16(h + IPV4_TOTAL_LENGTH);
	if (unlikely(h[IPV4_VERSION_IHL] >> 4 != 4 || hlen < IPV4_LEN || m->data_len < hlen ||
		     total < hlen))
		goto bad;
	if (unlikely(total > m->pkt_len)) {
		/* A packet socket also has what the kernel gets: that is whole there. */
		if (!ipv4_check_addresses(s, f, h))
			return 0;
		packet_note_cut(s, m);
		goto bad;
	}
	if (!f->from_self && flags != RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
		(flags == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
			cksum_fold(cksum_bytes(h, hlen)) != 0xffff)) {
		s->stats.rx_bad_cksum++;
		return 0;
	}
	if (unlikely(hlen > IPV4_LEN && !ipv4_options_ok(h + IPV4_LEN, hlen - IPV4_LEN)))
		goto bad;
	/* Ethernet pads to 60 bytes. */
	if (m->pkt_len > total)
		packet_trim(m, total);
	return hlen;
bad:
	s->stats.rx_bad_header++;
	return 0;
}

/** ip_addr_from_v4(), written by one store. */
static inline struct ip_addr ipv4_in_one(const uint8_t *v4)
{
	static const uint8_t prefix[4] = {0, 0, 0xff, 0xff};
	uint32_t mapped, word;
	struct ip_addr a;

	memcpy(&mapped, prefix, sizeof mapped);
	memcpy(&word, v4, sizeof word);
	store_words(a.b, 0, 0, mapped, word);
	return a;
}

static void ipv4_fill_rx(
	struct ip_rx *rx, const struct ip_frame *f, const uint8_t *h, uint16_t hlen, uint64_t flags)
{
	flags &= RTE_MBUF_F_RX_L4_CKSUM_MASK;
	rx->src = ipv4_in_one(h + IPV4_SRC);
	rx->dst = ipv4_in_one(h + IPV4_DST);
	rx->tos = h[IPV4_TOS];
	rx->ttl = h[IPV4_TTL];
	rx->from_self = f->from_self;
	rx->secured = f->secured != NULL;
	rx->tunnelled = f->tunnelled;
	rx->fragmented = f->fragmented;
	rx->router_alert =
		unlikely(hlen > IPV4_LEN) && ipv4_has_router_alert(h + IPV4_LEN, hlen - IPV4_LEN);
	rx->l4_cksum_good = f->from_self || flags == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	rx->l4_cksum_bad = flags == RTE_MBUF_F_RX_L4_CKSUM_BAD;
	rx->src_mac = f->src_mac;
}

static void ipv4_unknown_proto(struct ip_stack *s, const struct ip_rx *rx, uint8_t proto,
	uint16_t hlen, struct rte_mbuf *m, uint64_t now)
{
	const struct icmp_about about = {.rx = rx, .m = m, .proto = proto, .l4_off = hlen};

	if (proto == UDP_PROTO && udp_input(s, rx, hlen, m, now))
		return;
	if (proto == IGMP_PROTO && !rx->from_self && !rx->tunnelled && !s->cfg.no_link) {
		packet_skip(m, hlen);
		igmp_input(s, rx, m, now);
		return;
	}
	s->stats.rx_unknown_proto++;
	icmp_unreachable(s, &about,
		proto == UDP_PROTO ? ICMP_UNREACHABLE_PORT : ICMP_UNREACHABLE_PROTOCOL, now);
	rte_pktmbuf_free(m);
}

static struct rte_mbuf *ipv4_head(struct ip_stack *s, struct rte_mbuf *m)
{
	m = packet_head(s, m, IPV4_MAX_LEN + L4_HEAD);
	if (unlikely(!m))
		s->stats.rx_no_memory++;
	return m;
}

/** Headers that come for the second time in a row: the next packet with them skips all this. */
static void ipv4_remember(struct ip_stack *s, const struct ip_frame *f,
	const struct ip_transport *t, const uint8_t *h, const struct ip_rx *rx, uint64_t flags)
{
	struct ip_seen *seen = &s->seen;

	if (memcmp(seen->last, h, sizeof seen->last) != 0) {
		memcpy(seen->last, h, sizeof seen->last);
		return;
	}
	seen->generation = s->generation;
	seen->len = load_be16(h + IPV4_TOTAL_LENGTH);
	seen->cksum = flags & IP_RX_CKSUM_FLAGS;
	seen->transport = t;
	seen->rx = *rx;
	seen->rx.src_mac = seen->src_mac;
	memcpy(seen->src_mac, f->src_mac, ETH_ADDR_LEN);
	eth_store(seen->headers, s->cfg.mac, f->src_mac, ETH_TYPE_IPV4);
	memcpy(seen->headers + ETH_LEN, h, IPV4_LEN);
}

void ipv4_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now)
{
	const struct ip_transport *t;
	const uint8_t *h;
	struct ip_rx rx;
	uint16_t hlen;
	uint8_t proto;
	bool group, whole;

	m = ipv4_head(s, m);
	if (unlikely(!m))
		return;
	hlen = ipv4_check_header(s, f, m);
	h = rte_pktmbuf_mtod(m, const uint8_t *);
	if (unlikely(!hlen || !ipv4_check_addresses(s, f, h))) {
		rte_pktmbuf_free(m);
		return;
	}
	whole = !(load_be16(h + IPV4_FRAGMENT) & (IPV4_MF | IPV4_OFFSET_MASK));
	if (unlikely(!whole)) {
		/* What is protected and what is not must not become one packet. */
		m = f->secured ? reassembly_refuse(s, m) : reassembly_v4(s, m, hlen, now);
		m = m ? ipv4_head(s, m) : NULL;
		if (!m)
			return;
		h = rte_pktmbuf_mtod(m, const uint8_t *);
		hlen = (h[IPV4_VERSION_IHL] & 15) * 4;
	}
	ipv4_fill_rx(&rx, f, h, hlen, m->ol_flags);
	proto = h[IPV4_PROTOCOL];
	group = ipv4_is_group(h + IPV4_DST);
	if (unlikely(s->cfg.ipsec) && !f->from_self) {
		m = ip_secure_input(s, f, &rx, &proto, hlen, m, now);
		if (!m)
			return;
	}
	t = &s->transport[proto];
	if (likely(t->input && !group)) {
		if (whole && hlen == IPV4_LEN && !f->from_self && !s->cfg.ipsec && !s->cfg.no_link)
			ipv4_remember(s, f, t, h, &rx, m->ol_flags);
		packet_skip(m, hlen);
		t->input(t->ctx, &rx, m, now);
	} else if (proto == ICMP_PROTO && !group) {
		packet_skip(m, hlen);
		icmp_input(s, &rx, m, now);
	} else {
		ipv4_unknown_proto(s, &rx, proto, hlen, m, now);
	}
}

void ipv4_not_reassembled(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct ip_rx rx = {
		.src = ip_addr_from_v4(h + IPV4_SRC), .dst = ip_addr_from_v4(h + IPV4_DST)};
	const struct icmp_about about = {.rx = &rx,
		.m = m,
		.proto = h[IPV4_PROTOCOL],
		.l4_off = (h[IPV4_VERSION_IHL] & 15) * 4U};

	/* RFC 792: not without the first. */
	if (!(load_be16(h + IPV4_FRAGMENT) & IPV4_OFFSET_MASK) &&
		ip_secure_may_answer(s, &(struct ip_frame){0}, &about, now))
		icmp_not_reassembled(s, &about, now);
}
