/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stack.h The state that the modules of the IP layer share. */
#ifndef IP_STACK_H
#define IP_STACK_H

#include "base/siphash.h"
#include "ip/eth_wire.h"
#include "ip/ip.h"
#include "ip/ipv4_wire.h"
#include "ip/local.h"
#include "ip/membership.h"
#include "ip/neighbour.h"
#include "ip/pmtu.h"
#include "ip/route.h"
#include "ip/udp.h"

#include <rte_mbuf.h>

#define IP_DEFAULT_TTL 64
#define IP_LOOP_SIZE   2048 /* a power of two */

struct echo;
struct ip_secure_wait;
struct reassembly;

/** Tokens for ICMP errors (RFC 1122 section 3.2.2, RFC 4443 section 2.4(f)). */
struct icmp_limit {
	unsigned tokens;
	uint64_t refilled;
};

/** An open UDP port. */
struct udp_port {
	bool open;
	uint16_t port;
	struct udp_user user;
};

/**
 * The headers of a whole IPv4 packet for a transport that came twice in a row, and what was found
 * about them: full segments of one stream all have them, if their sender leaves the ID alone
 * (RFC 6864 section 4.1). Not with IPsec.
 */
struct ip_seen {
	uint32_t generation; /**< of the stack; 0: there are none */
	uint16_t len;        /**< of the packet, by its header */
	uint64_t cksum;      /**< what the port said of its checksums, IP_RX_CKSUM_FLAGS */
	struct ip_rx rx;
	const struct ip_transport *transport;
	uint8_t src_mac[ETH_ADDR_LEN];
	uint8_t headers[ETH_LEN + IPV4_LEN]; /**< the link's and IPv4's */
	uint8_t last[IPV4_DST];              /**< of the last such packet, up to its destination */
};

/** All that a port says of a packet's checksums. */
#define IP_RX_CKSUM_FLAGS (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)

struct ip_stack {
	struct ip_stack_config cfg;
	struct ip_seen seen;
	uint32_t generation; /**< changes when paths must be resolved again; never 0 */
	bool linked;         /**< the link has come up before */
	uint16_t mtu_v6; /**< the link's, perhaps lowered by a router (RFC 4861 section 6.3.4) */
	struct ip_transport transport[256];
	/** A ring of frames sent to ourselves. It drops when it is full, as a port does. */
	struct rte_mbuf *loop[IP_LOOP_SIZE];
	uint32_t loop_head, loop_tail;
	struct local_table local;
	struct route_table routes;
	struct neighbour_table neighbours;
	struct pmtu_cache pmtu;
	struct reassembly *reassembly;
	struct ip_secure_wait *secure_waits; /**< NEIGHBOUR_QUEUED_MAX with IPsec */
	struct icmp_limit icmp_limit;
	struct udp_port udp[UDP_PORTS_MAX];
	unsigned udp_used;     /**< none behind is open */
	struct echo *echo;     /**< of a tool; NULL: none */
	struct timer rs_timer; /**< router solicitations (RFC 4861 section 6.3.7) */
	uint64_t rs_wait;      /**< ns, for an answer to the last one; 0: none was sent */
	struct membership igmp, mld;
	struct siphash_key key; /**< for tables with keys that strangers choose */
	struct ip_stats stats;
};

/** Routes, neighbours, addresses or path MTUs changed: all paths must be resolved again. */
static inline void ip_paths_changed(struct ip_stack *s)
{
	if (++s->generation == 0)
		s->generation = 1;
}

/** Hand a finished frame to the port. Owns @p m. */
static inline void ip_transmit(struct ip_stack *s, struct rte_mbuf *m)
{
	s->stats.tx_packets++;
	s->stats.tx_bytes += m->pkt_len;
	s->cfg.transmit(s->cfg.transmit_ctx, m);
}

/** The header of a packet for ip_reply(). */
struct ip_reply {
	struct ip_addr src, dst;
	uint8_t proto, tos, ttl; /**< ttl 0: the default */
};

/** Send one packet by routes and neighbours. Owns @p m. Errors are ignored. */
void ip_reply(struct ip_stack *s, const struct ip_reply *r, struct rte_mbuf *m, uint64_t now);

/** A received frame's properties below IP. */
struct ip_frame {
	bool from_self;      /**< looped back */
	bool group;          /**< link-layer multicast or broadcast */
	bool tunnelled;      /**< it was inside another packet */
	bool fragmented;     /**< it was protected in one with a fragment header of IPv6's */
	const void *secured; /**< what has protected it, for struct ip_ipsec; NULL: nothing */
	uint8_t src_mac[6];
};

#endif
