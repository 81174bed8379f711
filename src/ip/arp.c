/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/arp.h"

#include "ip/arp_wire.h"
#include "ip/packet.h"

#include <rte_mbuf.h>

static const uint8_t arp_broadcast[ETH_ADDR_LEN] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

struct arp_message {
	uint16_t op;
	const uint8_t *eth_dst; /* NULL: everybody */
	const uint8_t *spa;     /* NULL: 0.0.0.0 */
	const uint8_t *tha;     /* NULL: zeros */
	const uint8_t *tpa;
};

static void arp_send(struct ip_stack *s, const struct arp_message *a)
{
	struct rte_mbuf *m = packet_new(s);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, ETH_LEN + ARP_LEN) : NULL;

	if (!p) {
		rte_pktmbuf_free(m);
		return;
	}
	memset(p, 0, ETH_LEN + ARP_LEN);
	eth_store(p, a->eth_dst ? a->eth_dst : arp_broadcast, s->cfg.mac, ETH_TYPE_ARP);
	p += ETH_LEN;
	store_be16(p + ARP_HTYPE, ARP_HTYPE_ETHERNET);
	store_be16(p + ARP_PTYPE, ETH_TYPE_IPV4);
	p[ARP_HLEN] = ETH_ADDR_LEN;
	p[ARP_PLEN] = 4;
	store_be16(p + ARP_OP, a->op);
	memcpy(p + ARP_SHA, s->cfg.mac, ETH_ADDR_LEN);
	if (a->spa)
		memcpy(p + ARP_SPA, a->spa, 4);
	if (a->tha)
		memcpy(p + ARP_THA, a->tha, ETH_ADDR_LEN);
	memcpy(p + ARP_TPA, a->tpa, 4);
	s->stats.arp_tx++;
	ip_transmit(s, m);
}

void arp_solicit(struct ip_stack *s, const struct ip_addr *target, const uint8_t *mac)
{
	const struct local_addr *l = local_source(s, target, target);
	struct arp_message a = {
		.op = ARP_OP_REQUEST,
		.eth_dst = mac,
		.tha = mac,
		.tpa = target->b + 12,
	};

	if (!l)
		return;
	a.spa = l->addr.b + 12;
	arp_send(s, &a);
}

void arp_probe(struct ip_stack *s, const struct ip_addr *addr)
{
	arp_send(s, &(struct arp_message){.op = ARP_OP_REQUEST, .tpa = addr->b + 12});
}

void arp_announce(struct ip_stack *s, const struct ip_addr *addr)
{
	const uint8_t *a = addr->b + 12;

	arp_send(s, &(struct arp_message){.op = ARP_OP_REQUEST, .spa = a, .tpa = a});
}

/* RFC 826's packet reception, for what can only be Ethernet and IPv4. */
static bool arp_valid(const uint8_t *p)
{
	return load_be16(p + ARP_HTYPE) == ARP_HTYPE_ETHERNET &&
	       load_be16(p + ARP_PTYPE) == ETH_TYPE_IPV4 && p[ARP_HLEN] == ETH_ADDR_LEN &&
	       p[ARP_PLEN] == 4 && eth_addr_is_station(p + ARP_SHA) &&
	       (load_be16(p + ARP_OP) == ARP_OP_REQUEST || load_be16(p + ARP_OP) == ARP_OP_REPLY);
}

static bool arp_may_be_neighbour(const struct ip_stack *s, const struct ip_addr *a)
{
	return !ip_addr_is_any(a) && !ip_addr_is_multicast(a) && !ip_addr_is_loopback(a) &&
	       !local_is_broadcast(s, a) && route_is_on_link(s, a);
}

static void arp_handle(struct ip_stack *s, const uint8_t *p, uint64_t now)
{
	struct ip_addr spa = ip_addr_from_v4(p + ARP_SPA);
	struct ip_addr tpa = ip_addr_from_v4(p + ARP_TPA);
	uint16_t op = load_be16(p + ARP_OP);
	struct local_addr *target = local_find(s, &tpa);
	struct local_addr *claimed = local_find(s, &spa);
	struct ip_neighbour *n;

	if (claimed) {
		local_conflict(s, claimed, p + ARP_SHA, false, now);
		return;
	}
	if (arp_may_be_neighbour(s, &spa)) {
		/* Only a request to us makes an entry (RFC 826: "am I the target"). What others
		 * announce changes entries that exist. */
		n = target && op == ARP_OP_REQUEST ? neighbour_get(s, &spa, now)
						   : neighbour_find(s, &spa);
		if (n)
			(void)neighbour_learn(s, n,
				&(struct neighbour_news){
					.mac = p + ARP_SHA,
					.override = true,
					.solicited = op == ARP_OP_REPLY && target &&
						     (n->state == NEIGHBOUR_INCOMPLETE ||
							     n->state == NEIGHBOUR_DELAY ||
							     n->state == NEIGHBOUR_PROBE),
				},
				now);
	}
	if (target && op == ARP_OP_REQUEST)
		arp_send(s, &(struct arp_message){
				    .op = ARP_OP_REPLY,
				    .eth_dst = p + ARP_SHA,
				    .spa = p + ARP_TPA,
				    .tha = p + ARP_SHA,
				    .tpa = p + ARP_SPA,
			    });
}

void arp_input(struct ip_stack *s, const struct ip_frame *f, struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *p;

	m = packet_head(s, m, ARP_LEN);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	s->stats.arp_rx++;
	if (m->data_len < ARP_LEN || !arp_valid(p))
		s->stats.rx_bad_header++;
	else if (f->from_self || eth_addr_equal(p + ARP_SHA, s->cfg.mac))
		s->stats.rx_not_ours++; /* our own, come back from a hub or a bridge */
	else
		arp_handle(s, p, now);
	rte_pktmbuf_free(m);
}
