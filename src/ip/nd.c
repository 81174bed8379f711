/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/cksum.h"
#include "ip/group.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6.h"
#include "ip/ipv6_wire.h"
#include "ip/nd_priv.h"
#include "ip/packet.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

#define ND_OPTIONS_MAX 32 /* of one message; more are not looked at */

static const struct ip_addr nd_unspecified;

struct ip_addr nd_group(const struct ip_addr *a)
{
	return (struct ip_addr){
		{0xff, 0x02, [11] = 1, [12] = 0xff, [13] = a->b[13], a->b[14], a->b[15]}};
}

void nd_send(struct ip_stack *s, const struct nd_message *nd)
{
	uint16_t len = nd->target ? ND_LEN : ND_RS_LEN;
	uint16_t total = len + (nd->option ? ND_OPT_LLADDR_LEN : 0);
	uint8_t group[ETH_ADDR_LEN];
	struct rte_mbuf *m = packet_new(s);
	uint8_t *h = m ? (uint8_t *)rte_pktmbuf_append(m, ETH_LEN + IPV6_LEN + total) : NULL;
	uint8_t *p;
	uint64_t sum;

	if (!h) {
		rte_pktmbuf_free(m);
		return;
	}
	eth_multicast_v6(group, nd->dst->b);
	eth_store(h, nd->mac ? nd->mac : group, s->cfg.mac, ETH_TYPE_IPV6);
	ipv6_store(h + ETH_LEN, &(struct ipv6_header){.src = nd->src,
					.dst = nd->dst,
					.payload_len = total,
					.next_header = IPV6_NH_ICMP,
					.hop_limit = ND_TTL});
	p = h + ETH_LEN + IPV6_LEN;
	memset(p, 0, total);
	p[ICMP_TYPE] = nd->type;
	store_be32(p + ND_FLAGS, nd->word);
	if (nd->target)
		memcpy(p + ND_TARGET, nd->target->b, 16);
	if (nd->option) {
		p[len + ND_OPT_TYPE] = nd->option;
		p[len + ND_OPT_LENGTH] = ND_OPT_LLADDR_LEN / 8;
		memcpy(p + len + ND_OPT_LLADDR, nd->nonce ? nd->nonce : s->cfg.mac, ETH_ADDR_LEN);
	}
	sum = cksum_pseudo(cksum_addrs(nd->src, nd->dst), IPV6_NH_ICMP, total);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(p, total)));
	s->stats.nd_tx++;
	ip_transmit(s, m);
}

void nd_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac)
{
	const struct ip_addr group = nd_group(target);
	const struct local_addr *l = local_source(s, target, target);

	if (!l)
		return;
	/* Without our link-layer address the answer makes the other side ask us. */
	nd_send(s, &(struct nd_message){.type = ICMPV6_NS,
			   .src = &l->addr,
			   .dst = mac ? target : &group,
			   .mac = mac,
			   .target = target,
			   .option = local_is_sure(l) ? ND_OPT_SOURCE : 0});
}

/* A nonce is as long as a MAC, and stands where that does. */
_Static_assert(ND_NONCE_LEN == ETH_ADDR_LEN && ND_OPT_NONCE_LEN == ND_OPT_LLADDR_LEN &&
		       ND_OPT_NONCE_VALUE == ND_OPT_LLADDR,
	"both options are alike");

void nd_probe(struct ip_stack *s, const struct ip_addr *addr, const uint8_t nonce[ND_NONCE_LEN])
{
	const struct ip_addr group = nd_group(addr);

	nd_send(s, &(struct nd_message){.type = ICMPV6_NS,
			   .src = &nd_unspecified,
			   .dst = &group,
			   .target = addr,
			   .option = ND_OPT_NONCE,
			   .nonce = nonce});
}

void nd_announce(struct ip_stack *s, const struct ip_addr *addr)
{
	nd_send(s, &(struct nd_message){.type = ICMPV6_NA,
			   .src = addr,
			   .dst = &group_all_nodes,
			   .target = addr,
			   .word = ND_FLAG_OVERRIDE,
			   .option = ND_OPT_TARGET});
}

static void nd_take_option(struct nd_options *o, const uint8_t *p, uint32_t len)
{
	switch (p[ND_OPT_TYPE]) {
	case ND_OPT_SOURCE:
	case ND_OPT_TARGET:
		if (len != ND_OPT_LLADDR_LEN || !eth_addr_is_station(p + ND_OPT_LLADDR))
			break;
		if (p[ND_OPT_TYPE] == ND_OPT_SOURCE)
			o->source = p + ND_OPT_LLADDR;
		else
			o->target = p + ND_OPT_LLADDR;
		break;
	case ND_OPT_MTU:
		if (len == ND_OPT_MTU_LEN)
			o->mtu = p;
		break;
	case ND_OPT_NONCE:
		if (len == ND_OPT_NONCE_LEN)
			o->nonce = p + ND_OPT_NONCE_VALUE;
		break;
	case ND_OPT_PREFIX:
		if (len == ND_OPT_PREFIX_LEN && o->prefixes < 8)
			o->prefix[o->prefixes++] = p;
		break;
	default:
		/* RFC 4861 section 4.6: others are ignored. */
		break;
	}
}

bool nd_parse_options(struct nd_options *o, const uint8_t *p, uint32_t len)
{
	*o = (struct nd_options){.source = NULL};
	for (unsigned i = 0; i < ND_OPTIONS_MAX && len; i++) {
		uint32_t size;

		if (len < 8)
			return false;
		size = p[ND_OPT_LENGTH] * 8U;
		if (size == 0 || size > len)
			return false;
		nd_take_option(o, p, size);
		p += size;
		len -= size;
	}
	return true;
}

/** Our form of IPv4 is ARP's: nobody tells of it by ND. */
static bool nd_may_be_target(const struct ip_addr *a)
{
	return !ip_addr_is_multicast(a) && !ip_addr_is_v4(a);
}

/* RFC 4861 section 7.1.1 and 7.2.3. */
static void nd_ns_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	bool probe = ip_addr_is_any(&rx->src);
	struct ip_addr target, group;
	struct nd_options o;
	struct local_addr *l;
	struct ip_neighbour *n = NULL;

	if (len < ND_LEN || !nd_parse_options(&o, p + ND_LEN, len - ND_LEN)) {
		s->stats.rx_bad_header++;
		return;
	}
	target = ip_addr_from_v6(p + ND_TARGET);
	group = nd_group(&target);
	if (!nd_may_be_target(&target) ||
		(probe && (o.source || !ip_addr_equal(&rx->dst, &group)))) {
		s->stats.rx_bad_header++;
		return;
	}
	/* Sent by another port of a bond, with that one's MAC, and come back by this. */
	if (probe && o.nonce && local_has_probed(s, &target, o.nonce))
		return;
	l = local_find(s, &target);
	if (!l) {
		if (probe)
			local_stay_away(s, &target, now);
		return;
	}
	if (probe && l->state == LOCAL_TENTATIVE && !l->held) {
		/* RFC 4862 section 5.4.3: both of us try to have it. That is of the first probing.
		 * An address that was assigned is probed once more by our own choice, as the link
		 * came up: who has connections there does not give way to a try. */
		local_conflict(s, l, rx->src_mac, true, now);
		return;
	}
	if (!probe && o.source && route_is_on_link(s, &rx->src)) {
		n = neighbour_get(s, &rx->src, now);
		(void)neighbour_learn(
			s, n, &(struct neighbour_news){.mac = o.source, .override = true}, now);
	}
	/* RFC 4861 section 7.2.4; RFC 4429 section 3.3: no override while tentative. */
	nd_send(s, &(struct nd_message){.type = ICMPV6_NA,
			   .src = &l->addr,
			   .dst = probe ? &group_all_nodes : &rx->src,
			   .mac = probe      ? NULL
				  : o.source ? o.source
					     : rx->src_mac,
			   .target = &l->addr,
			   .word = (probe ? 0 : ND_FLAG_SOLICITED) |
				   (l->state == LOCAL_TENTATIVE ? 0 : ND_FLAG_OVERRIDE),
			   .option = ND_OPT_TARGET});
}

/* RFC 4861 sections 7.1.2 and 7.2.5. */
static void nd_na_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	struct ip_addr target;
	struct nd_options o;
	struct local_addr *l;
	struct ip_neighbour *n;
	const uint8_t *mac;
	uint32_t flags;
	bool other;

	if (len < ND_LEN || !nd_parse_options(&o, p + ND_LEN, len - ND_LEN)) {
		s->stats.rx_bad_header++;
		return;
	}
	flags = load_be32(p + ND_FLAGS);
	target = ip_addr_from_v6(p + ND_TARGET);
	if (!nd_may_be_target(&target) ||
		(ip_addr_is_multicast(&rx->dst) && (flags & ND_FLAG_SOLICITED))) {
		s->stats.rx_bad_header++;
		return;
	}
	mac = o.target ? o.target : rx->src_mac;
	l = local_find(s, &target);
	/* Our own, sent by another port of a bond whose switch sends it back by this one. */
	if (l && o.target && eth_addr_equal(o.target, s->cfg.mac))
		return;
	if (l) {
		/* Without the flag it only tries, as we do (RFC 4429 section 3.3). */
		local_conflict(s, l, mac, !l->held || (flags & ND_FLAG_OVERRIDE), now);
		return;
	}
	local_stay_away(s, &target, now);
	n = neighbour_find(s, &target);
	if (!n)
		return;
	other = nd_is_other(s, n, &target, mac);
	/* RFC 4861 section 7.2.5: what is not believed of the address is not of the flag. */
	if (!neighbour_learn(s, n,
		    &(struct neighbour_news){
			    .mac = o.target,
			    .src = rx->src_mac,
			    .solicited = flags & ND_FLAG_SOLICITED,
			    .override = flags & ND_FLAG_OVERRIDE,
		    },
		    now))
		return;
	if (other && !(flags & ND_FLAG_ROUTER))
		return;
	/* It does not forward any more. */
	if (n->router && !(flags & ND_FLAG_ROUTER))
		route_advertise(s,
			&(struct route){
				.has_gateway = true, .gateway = target, .origin = ROUTE_ADVERTISED},
			now);
	n->router = flags & ND_FLAG_ROUTER;
}

void nd_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	/* Our own, come back from a hub or a bridge (RFC 4862 section 5.4.3, second paragraph). */
	if (eth_addr_equal(rx->src_mac, s->cfg.mac))
		return;
	s->stats.nd_rx++;
	/* RFC 4861 section 6.1, 7.1: not from this link, or not of this version. RFC 6980 section
	 * 5: fragments get by what a switch looks at, such as RA guard. */
	if (rx->ttl != ND_TTL || p[ICMP_CODE] != 0 || rx->fragmented) {
		s->stats.rx_bad_header++;
		return;
	}
	switch (p[ICMP_TYPE]) {
	case ICMPV6_NS:
		nd_ns_input(s, rx, p, len, now);
		break;
	case ICMPV6_NA:
		nd_na_input(s, rx, p, len, now);
		break;
	case ICMPV6_RA:
		nd_ra_input(s, rx, p, len, now);
		break;
	default:
		/* We are no router, and take our routes from a person or an RA only. */
		break;
	}
}
