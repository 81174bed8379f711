/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/arp.h"
#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/ipv4.h"
#include "ip/ipv6.h"
#include "ip/packet.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

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

/* @p m is dropped as no frame of ours; NULL: as the pool was empty. */
static void ip_refuse(struct ip_stack *s, struct rte_mbuf *m)
{
	if (m)
		s->stats.rx_bad_header++;
	else
		s->stats.rx_no_memory++;
	rte_pktmbuf_free(m);
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
		ip_refuse(s, m);
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
		ip_refuse(s, m);
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
		ip_refuse(s, m);
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
