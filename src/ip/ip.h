/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ip.h
 * The IP layer of one engine: Ethernet, ARP, IPv4, IPv6 with ND, ICMP, routes, path MTU.
 *
 * Sans-I/O: packets come in by ip_input(), go out by the transmit callback, time is an argument,
 * the timers live on the engine's wheel. Not thread-safe: used under the engine's lock.
 */
#ifndef IP_IP_H
#define IP_IP_H

#include "base/ip_addr.h"
#include "base/log.h"
#include "base/random.h"
#include "base/timer.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct ip_stack;
struct ip_neighbour;

/** Ethernet + the larger IP header: the room that must be in front of what ip_send() is given. */
#define IP_HEADROOM (14 + 40)

#define IP_PROTO_TCP 6

struct ip_stack_config {
	uint8_t mac[6];
	uint16_t mtu;              /**< of the link, IP header included: 1280 - 9216 */
	struct timer_wheel *wheel; /**< the engine's */
	struct rte_mempool *pool;  /**< for packets of our own (ARP, ND, ICMP) */
	struct random_source random;
	const struct log_sink *log;
	/**
	 * Take one frame (a packet, where there is no link layer); the callee owns @p m from here
	 * on. Offload requests are in m->ol_flags as DPDK defines them, l2_len / l3_len / l4_len
	 * set.
	 */
	void (*transmit)(void *ctx, struct rte_mbuf *m);
	void *transmit_ctx;
	bool tx_ipv4_cksum; /**< the port fills in IPv4 header checksums */
	bool tx_tcp_cksum;  /**< the port fills in TCP checksums */
	/**
	 * There is no link layer: packets in and out begin with their IP header, whatever has a
	 * route is sent at once, and nothing is asked of or told to a link (ARP, ND, MLD). mac is
	 * not used.
	 */
	bool no_link;
};

/** What a transport is told of a received packet, its IP header checked and taken off. */
struct ip_rx {
	struct ip_addr src;
	struct ip_addr dst; /**< always one of ours for unicast */
	uint8_t tos;        /**< traffic class; the low two bits are ECN */
	uint8_t ttl;
	bool l4_cksum_good;     /**< verified by the port, or looped back by us */
	bool l4_cksum_bad;      /**< the port says that it is wrong */
	bool from_self;         /**< looped back by us, never on a wire */
	const uint8_t *src_mac; /**< of the frame; valid during the upcall; zeros with no_link */
};

/** An ICMP or ICMPv6 error about a packet that we sent (RFC 792, 4443). */
struct ip_error {
	struct ip_addr src; /**< from the quoted header: our address */
	struct ip_addr dst; /**< the peer the packet went to */
	enum {
		IP_ERROR_NET,
		IP_ERROR_HOST,
		IP_ERROR_PROTO,
		IP_ERROR_PORT,
		IP_ERROR_ADMIN,
		IP_ERROR_MTU,
		IP_ERROR_TIME
	} kind;
	uint16_t mtu;      /**< IP_ERROR_MTU: next hop's MTU as told, unchecked */
	const uint8_t *l4; /**< the quoted transport header */
	size_t l4_len;     /**< how much of it was quoted: at least 8 */
};

/** The transport above: one for TCP. */
struct ip_transport {
	/**
	 * Takes ownership of @p m. Its data begins at the transport header. It may be a chain, but
	 * its first 60 bytes (all, if it has less) are contiguous.
	 */
	void (*input)(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);
	/**
	 * May be NULL: these @p n frames come next, not checked yet and not all for this transport;
	 * for a look ahead (ip_peek()) at what they will need.
	 */
	void (*burst)(void *ctx, struct rte_mbuf *const *pkts, unsigned n);
	/** An error about one of our packets. The transport must check it against the connection
	 *  (RFC 5927) before it believes it. */
	void (*error)(void *ctx, const struct ip_error *e, uint64_t now);
	void *ctx;
	/** Of RTE_MBUF_F_TX_*_CKSUM: how a port that can is asked for the checksum; 0: never. */
	uint64_t tx_cksum;
	uint8_t min_len;   /**< octets of its header without options */
	uint8_t cksum_off; /**< of the checksum in its header; 0: IP has nothing to do with it */
	/**
	 * Of the octet with the length of its header, in words of 32 bits, in the upper four bits;
	 * 0: that is always min_len.
	 */
	uint8_t words_off;
};

/** @return 0 or -ENOMEM. */
int ip_stack_create(const struct ip_stack_config *cfg, uint64_t now, struct ip_stack **out);
void ip_stack_destroy(struct ip_stack *s);

/** Register the transport for @p proto. The struct is copied. */
void ip_set_transport(struct ip_stack *s, uint8_t proto, const struct ip_transport *t);

/**
 * Add one of our addresses with the subnet around it (its connected route). IPv4: probed and
 * announced by gratuitous ARP; IPv6: duplicate address detection (RFC 4862 section 5.4), during
 * which the address already receives (optimistic, RFC 4429: it is configured by a person).
 * The first IPv6 address brings the link-local one of the MAC with it (RFC 4291 section 2.8). A
 * duplicate IPv6 address is taken out of use, with a log line.
 * @return 0, -EEXIST, -EINVAL (multicast, any, loopback, class E, bad prefix), -ENOSPC.
 */
int ip_addr_add(struct ip_stack *s, const struct ip_addr *a, unsigned prefix_len, uint64_t now);

/**
 * Add a route. @p gateway must be on a connected subnet, or NULL for an on-link prefix.
 * @return 0, -EEXIST, -ENETUNREACH (gateway not on-link), -EINVAL, -ENOSPC.
 */
int ip_route_add(struct ip_stack *s, const struct ip_addr *prefix, unsigned prefix_len,
	const struct ip_addr *gateway);

bool ip_addr_is_local(const struct ip_stack *s, const struct ip_addr *a);

/** Choose the source address towards @p remote. @return 0 or -ENETUNREACH. */
int ip_source(struct ip_stack *s, const struct ip_addr *remote, struct ip_addr *src);

/** Where packets to @p dst go next: to itself, or to a gateway. @return 0 or -ENETUNREACH. */
int ip_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop);

/**
 * Is the link-layer address known that packets to @p dst go to? A neighbour that is not known, or
 * did not answer before, is asked.
 * @return 0; -EAGAIN: it is being asked; -ENETUNREACH: there is no route.
 */
int ip_reach(struct ip_stack *s, const struct ip_addr *dst, uint64_t now);

/**
 * Take a burst of received frames; owns them all. Everything they cause, answers included, has
 * been handed to transmit when it returns, except what waits for a neighbour. Packets that we
 * sent to ourselves are delivered by the next call: call it, with n = 0 too, in every round.
 * @return the number of packets handled, looped ones included (0: nothing was there to do).
 */
unsigned ip_input(struct ip_stack *s, struct rte_mbuf **pkts, unsigned n, uint64_t now);

/** True while packets that we sent to ourselves wait for ip_input(). */
bool ip_is_looping(const struct ip_stack *s);

/**
 * Where a connection sends to: its route and next hop, resolved once and checked by generation
 * on each packet. Zero-initialised before ip_path_init().
 */
struct ip_path {
	struct ip_addr src;
	struct ip_addr dst;
	uint16_t ports[2];   /**< the owner's: beside the addresses they are an identity */
	uint8_t tos;         /**< set by the owner at will, ECN bits included, per packet too */
	uint8_t ttl;         /**< 0: the stack's default, 64 */
	uint16_t mtu;        /**< kept by the stack: of this path now (route and PMTU signals) */
	uint32_t generation; /**< of the route table when neighbour was found */
	uint16_t link_mtu;   /**< what we can receive from there, whatever the path takes */
	bool loop;           /**< dst is one of ours */
	struct ip_neighbour *neighbour;
	uint64_t addr_sum; /**< private: checksum over both addresses */
};

/** Fill in @p p for the pair (src, dst). @return 0, -ENETUNREACH, -EADDRNOTAVAIL. */
int ip_path_init(struct ip_stack *s, struct ip_path *p, const struct ip_addr *src,
	const struct ip_addr *dst, uint64_t now);

/**
 * Send a transport packet, @p m's data beginning at its transport header with IP_HEADROOM free
 * before it (in m's own headroom). Owns @p m. A transport with a cksum_off leaves that field for
 * us: this writes it, or asks the port to. Queues the packet (a few per neighbour) while the
 * next hop is being resolved.
 * @return 0; -ENETUNREACH, -EHOSTUNREACH (neighbour failed), -EMSGSIZE (larger than p->mtu):
 *         the packet is then freed.
 */
int ip_send(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m, uint64_t now);

/** Do packets wait for the neighbour's address? Asked after ip_send(), this says whether that did.
 */
bool ip_path_waits(const struct ip_path *p);

/**
 * The transport saw forward progress: the neighbour is reachable (RFC 4861 section 7.3.1).
 * @param sent_at when the youngest packet was sent that is known to have arrived, ns; 0: unknown.
 */
void ip_path_confirm(struct ip_stack *s, struct ip_path *p, uint64_t sent_at, uint64_t now);

/**
 * The transport sees no progress towards @p dst: ask at once whether the next hop is still the same
 * station (RFC 1122 section 2.3.2.1, RFC 4861 section 7.3.1). At most one question a second goes
 * out, however often this is called.
 * @return true: it is not settled which station has the next hop's address, so what was sent may
 * not have left the link. That is no sign of congestion.
 */
bool ip_doubt(struct ip_stack *s, const struct ip_addr *dst, uint64_t now);

/**
 * A checked Packet Too Big: lower the path's MTU for all connections to p->dst, for ten minutes
 * (RFC 1191 section 6.3, RFC 8201 section 4). Values below 576 (v4) or 1280 (v6) are raised to it.
 * @return the path MTU now.
 */
uint16_t ip_path_too_big(struct ip_stack *s, struct ip_path *p, uint16_t mtu, uint64_t now);

/**
 * What a received frame says of itself, if it is an unfragmented packet of @p proto without IPv4
 * options or IPv6 extension headers; nothing is checked. @return its transport header, of which
 * the transport's min_len bytes are there; NULL: look at it in the usual way.
 */
const uint8_t *ip_peek(const struct ip_stack *s, const struct rte_mbuf *m, uint8_t proto,
	struct ip_addr *src, struct ip_addr *dst);

/** Ones'-complement sum of the pseudo header and the @p m's bytes from @p off: 0 when correct. */
uint16_t ip_l4_cksum(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const struct rte_mbuf *m, uint32_t off);

/**
 * After ip_l4_cksum() found a received segment wrong: did its sender leave the checksum to
 * "hardware" that never came, as a kernel does on a veth or TAP with transmit offload on? Its
 * checksum field then holds the plain sum of the pseudo header. Counts rx_cksum_unfilled.
 */
bool ip_l4_cksum_unfilled(
	struct ip_stack *s, const struct ip_rx *rx, uint8_t proto, const struct rte_mbuf *m);

/** Counters, always on; all since creation. Plain fields: read them under the engine's lock. */
struct ip_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t rx_bad_header, rx_bad_cksum, rx_not_ours, rx_unknown_proto;
	uint64_t rx_cksum_unfilled; /**< transport checksum left to "hardware" by the sender's
				       offload */
	uint64_t rx_fragments, reassembled, reassembly_failed;
	uint64_t arp_rx, arp_tx, arp_conflicts, nd_rx, nd_tx, nd_conflicts;
	uint64_t icmp_rx, icmp_tx, icmp_errors_rx, icmp_errors_limited;
	uint64_t neighbour_failed, neighbour_queue_drops, no_route, looped;
	uint64_t neighbour_moved;   /**< another link-layer address was believed */
	uint64_t neighbour_refused; /**< was not, as the one that had the address still has it */
	uint64_t rx_martian;        /**< impossible source: ours, loopback, group */
	uint64_t rx_no_memory;      /**< dropped because the pool was empty */
};

const struct ip_stats *ip_stack_stats(const struct ip_stack *s);

/**
 * Call @p fn for each neighbour entry (for tools). @p state is a word such as "REACHABLE".
 */
void ip_neighbour_each(const struct ip_stack *s,
	void (*fn)(void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state),
	void *ctx);

#endif
