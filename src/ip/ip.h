/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ip.h
 * The IP layer of one engine: Ethernet, ARP, IPv4, IPv6 with ND, ICMP, routes, path MTU.
 *
 * Sans-I/O: packets come in by ip_input() and go out by the transmit callback. Time is an argument.
 * Timers are on the engine's wheel. Not thread-safe: used under the engine's lock.
 */
#ifndef IP_IP_H
#define IP_IP_H

#include "base/ip_addr.h"
#include "base/log.h"
#include "base/random.h"
#include "base/timer.h"
#include "ip/ipsec.h"

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;
struct ip_stack;
struct ip_neighbour;

/** Headroom that packets for ip_send() must have: Ethernet and the larger IP header. */
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
	 * Send one frame, or one packet if there is no link layer. The callee owns @p m. Offload
	 * requests are in m->ol_flags as DPDK defines them, with l2_len, l3_len and l4_len set.
	 */
	void (*transmit)(void *ctx, struct rte_mbuf *m);
	void *transmit_ctx;
	/**
	 * No more follows for now of what began with the last frame: whoever gathers frames may
	 * hand on what there is, as somebody may wait for it. NULL: nobody gathers.
	 */
	void (*expedite)(void *ctx);
	void *expedite_ctx;
	bool tx_ipv4_cksum; /**< the port fills in IPv4 header checksums */
	bool tx_tcp_cksum;  /**< the port fills in TCP checksums */
	/**
	 * There is no link layer. Packets begin with their IP header, and are sent at once if there
	 * is a route. There is no ARP, ND, IGMP or MLD. mac is not used.
	 */
	bool no_link;
	/**
	 * The IPsec boundary that packets cross, but for ARP, ND, IGMP, MLD and what we send to
	 * ourselves. It needs checksums by us: no tx_ipv4_cksum, no tx_tcp_cksum. NULL: none.
	 */
	const struct ip_ipsec *ipsec;
};

/** A received packet, for its transport. The IP header was checked and removed. */
struct ip_rx {
	struct ip_addr src;
	struct ip_addr dst; /**< one of our addresses, or a group */
	uint8_t tos;        /**< traffic class; the low two bits are ECN */
	uint8_t ttl;
	bool l4_cksum_good; /**< verified by the port, or looped back by us */
	bool l4_cksum_bad;  /**< wrong, according to the port */
	bool from_self;     /**< looped back by us, never on a wire */
	bool secured;       /**< by IPsec: no error may quote it, as that might be in the clear */
	bool tunnelled;     /**< was inside another packet: its hop limit tells of no link */
	bool router_alert;  /**< with that option (RFC 2113, RFC 2711) */
	bool fragmented;    /**< with a fragment header of IPv6's, be it of a whole packet */
	const uint8_t *src_mac; /**< of the frame; valid during the upcall; zeros with no_link */
};

/** An ICMP or ICMPv6 error about a packet that we sent (RFC 792, 4443). */
struct ip_error {
	struct ip_addr src; /**< from the quoted header: one of our addresses */
	struct ip_addr dst; /**< from the quoted header: the peer */
	enum {
		IP_ERROR_NET,
		IP_ERROR_HOST,
		IP_ERROR_PROTO,
		IP_ERROR_PORT,
		IP_ERROR_ADMIN,
		IP_ERROR_MTU,
		IP_ERROR_TIME
	} kind;
	uint16_t mtu;      /**< IP_ERROR_MTU: MTU of the next hop, unchecked */
	const uint8_t *l4; /**< the quoted transport header */
	size_t l4_len;     /**< quoted bytes of it: at least 8 */
};

/** The transport above: one for TCP. */
struct ip_transport {
	/**
	 * A packet came. The callee owns @p m. Its data begins at the transport header. It may be a
	 * chain, but its first 60 bytes (or all of them) are contiguous.
	 */
	void (*input)(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);
	/**
	 * These @p n frames come next. They are unchecked, and not all are for this transport. For
	 * prefetching by ip_peek(). May be NULL.
	 */
	void (*burst)(void *ctx, struct rte_mbuf *const *pkts, unsigned n);
	/**
	 * An error about one of our packets came. The transport must check it against the
	 * connection (RFC 5927).
	 */
	void (*error)(void *ctx, const struct ip_error *e, uint64_t now);
	void *ctx;
	/** RTE_MBUF_F_TX_*_CKSUM that requests its checksum from a port; 0: none. */
	uint64_t tx_cksum;
	uint8_t min_len;   /**< octets of its header without options */
	uint8_t cksum_off; /**< of the checksum in its header; 0: IP does not write it */
	/**
	 * Offset of the octet that has the header's length, in words of 32 bits, in its upper four
	 * bits. 0: the length is always min_len.
	 */
	uint8_t words_off;
};

/** @return 0 or -ENOMEM. */
int ip_stack_create(const struct ip_stack_config *cfg, uint64_t now, struct ip_stack **out);
void ip_stack_destroy(struct ip_stack *s);

/** Register the transport for @p proto. @p t is copied. */
void ip_set_transport(struct ip_stack *s, uint8_t proto, const struct ip_transport *t);

/**
 * Add one of our addresses and the connected route of its subnet. An IPv4 address is probed and
 * announced by gratuitous ARP. An IPv6 address undergoes duplicate address detection (RFC 4862
 * section 5.4) and is in use meanwhile (optimistic, RFC 4429). A duplicate IPv6 address is taken
 * out of use, with a log line. With the first IPv6 address the link-local one of the MAC is added
 * (RFC 4291 section 2.8).
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

/** The same, and true also of an address that another station has, and that is not in use. */
bool ip_addr_is_configured(const struct ip_stack *s, const struct ip_addr *a);

/**
 * Join a multicast group, for all sources. What is joined twice is left twice. Routers and switches
 * are told by IGMPv3 (RFC 3376) or MLDv2 (RFC 3810), unless there is no link layer. All hosts'
 * groups, 224.0.0.1 and ff02::1, need no joining.
 * @return 0; -EINVAL: no group, or one of a reserved scope; -ENOSPC: 256 of a family are joined.
 */
int ip_group_join(struct ip_stack *s, const struct ip_addr *group, uint64_t now);

/** Leave a group that was joined. */
void ip_group_leave(struct ip_stack *s, const struct ip_addr *group, uint64_t now);

/** Is it a group that we are in? */
bool ip_group_has(const struct ip_stack *s, const struct ip_addr *group);

/** Choose the source address towards @p remote. @return 0 or -ENETUNREACH. */
int ip_source(struct ip_stack *s, const struct ip_addr *remote, struct ip_addr *src);

/** Find the next hop to @p dst: @p dst itself or a gateway. @return 0 or -ENETUNREACH. */
int ip_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop);

/**
 * Is the link-layer address of the next hop to @p dst known? If it is not, or if resolution failed
 * before, it is resolved.
 * @return 0: known; -EAGAIN: being resolved; -ENETUNREACH: there is no route.
 */
int ip_reach(struct ip_stack *s, const struct ip_addr *dst, uint64_t now);

/**
 * Process a burst of received frames. Owns them all. When it returns, all answers have been handed
 * to transmit, except those that wait for a neighbour. Packets that we sent to ourselves are
 * delivered by the next call, so call it in every round, even with n = 0.
 * @return the number of packets handled, looped ones included.
 */
unsigned ip_input(struct ip_stack *s, struct rte_mbuf **pkts, unsigned n, uint64_t now);

/** True while packets that we sent to ourselves wait for ip_input(). */
bool ip_is_looping(const struct ip_stack *s);

/**
 * The route and next hop of a connection. They are resolved once, and checked by generation for
 * each packet. Zero-initialise it before ip_path_init().
 */
struct ip_path {
	struct ip_addr src;
	struct ip_addr dst;
	uint16_t ports[2];   /**< the owner's; with the addresses they identify a connection */
	uint8_t tos;         /**< set by the owner at any time, ECN bits included */
	uint8_t ttl;         /**< 0: the stack's default, 64 */
	uint16_t mtu;        /**< the path's MTU now; kept by the stack */
	uint32_t generation; /**< of the stack when neighbour was found */
	uint16_t link_mtu;   /**< MTU of the link, for packets that we receive */
	bool loop;           /**< dst is one of our addresses */
	bool to_group;       /**< set by the owner: dst may be a group */
	struct ip_neighbour *neighbour;
	uint64_t addr_sum; /**< private: checksum over both addresses */
};

/** Fill in @p p for the pair (src, dst). @return 0, -ENETUNREACH, -EADDRNOTAVAIL. */
int ip_path_init(struct ip_stack *s, struct ip_path *p, const struct ip_addr *src,
	const struct ip_addr *dst, uint64_t now);

/**
 * Send a transport packet. The data of @p m begins at the transport header, with IP_HEADROOM of
 * headroom. Owns @p m. If the transport has a cksum_off, the checksum is written here or by the
 * port. While the next hop is being resolved the packet is queued, a few per neighbour.
 * @return 0; -ENETUNREACH, -EHOSTUNREACH (neighbour failed), -EMSGSIZE (larger than p->mtu):
 *         the packet is then freed.
 */
int ip_send(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m, uint64_t now);

/** Policies or SAs of the IPsec boundary are not what they were: packets may have other room. */
void ip_ipsec_changed(struct ip_stack *s);

/** Nothing follows for now what was sent last: ip_stack_config.expedite. */
void ip_expedite(struct ip_stack *s);

/** What a transport knows of the end of a packet: its last bytes, and the sum of their words. */
struct ip_text_sum {
	uint16_t len; /**< from an even place on; 0: nothing is known */
	uint16_t sum; /**< as digest_fold() gives it */
};

/** ip_send() of one mbuf that need not be summed where @p text tells. */
int ip_send_summed(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m,
	struct ip_text_sum text, uint64_t now);

/** Headers of a frame, the link's included, that a pattern has room for. */
#define IP_PATTERN_ROOM 96

/**
 * The headers of a packet that was just sent, for those that follow it at once and differ in one
 * word of the transport's header and in their text, which is as long.
 */
struct ip_pattern {
	uint16_t text; /**< bytes of that; 0: there is no pattern */
	/* The rest is private. */
	uint16_t head, word, cksum; /**< where these begin: bytes before the text */
	uint8_t proto;
	uint64_t sum; /**< of all that the checksum covers but the word and the text */
	uint64_t tx_offload;
	const struct ip_path *path; /**< by which it leaves protected, by IPsec; or NULL */
	struct ip_neighbour *neighbour;
	uint8_t headers[IP_PATTERN_ROOM]; /**< at its end */
};

/**
 * As ip_send_summed(). @p pattern has the packet's headers then, or tells that there is none: the
 * port has more to do than to send it, it waits for its neighbour, or loops back.
 * @param p must be there as long as @p pattern is used.
 * @param word where the word that differs begins in the transport's header.
 */
int ip_send_first(struct ip_stack *s, struct ip_path *p, uint8_t proto, struct rte_mbuf *m,
	struct ip_text_sum text, unsigned word, struct ip_pattern *pattern, uint64_t now);

/**
 * Send a packet with the headers of @p pattern, which was made in this very call of the transport.
 * @param m    a single mbuf with pattern->text bytes of text, and IP_PATTERN_ROOM of headroom,
 *             which may be written to. Owns it.
 * @param word in place of the pattern's.
 * @param sum  of the text.
 */
void ip_send_alike(struct ip_stack *s, const struct ip_pattern *pattern, struct rte_mbuf *m,
	uint32_t word, uint16_t sum, uint64_t now);

/**
 * Does nobody but the port look at what @p proto sends on this path behind its headers? Then it may
 * be a chain, as ports are asked for both.
 */
bool ip_gathers(const struct ip_stack *s, const struct ip_path *p, uint8_t proto);

/**
 * Drop, of the packets that wait for a neighbour's address, those that @p is_of says. They are
 * lost, as on any link.
 */
void ip_drop_waiting(struct ip_stack *s, bool (*is_of)(const struct rte_mbuf *m, const void *arg),
	const void *arg);

/** Is what @p proto sends on this path summed here? Else the port does it, or nobody. */
bool ip_sums(const struct ip_stack *s, const struct ip_path *p, uint8_t proto);

/** True if packets wait for the neighbour's address. After ip_send(): true if that packet waits. */
bool ip_path_waits(const struct ip_path *p);

/**
 * The transport saw forward progress, so the neighbour is reachable (RFC 4861 section 7.3.1).
 * @param sent_at when the newest packet was sent that has arrived, ns; 0: unknown.
 */
void ip_path_confirm(struct ip_stack *s, struct ip_path *p, uint64_t sent_at, uint64_t now);

/**
 * The transport sees no progress towards @p dst. Probe the next hop at once (RFC 1122 section
 * 2.3.2.1, RFC 4861 section 7.3.1), but at most once a second.
 * @return true: more than one station claims the next hop's address, so packets may be lost on the
 *         link. That is no sign of congestion.
 */
bool ip_doubt(struct ip_stack *s, const struct ip_addr *dst, uint64_t now);

/**
 * The link has come up. Nobody heard what was said while it was down, and it may be another link
 * now. Ask again at once for the neighbours whose answers packets wait for (RFC 4861 section
 * 7.2.2), report our groups, probe and announce our addresses, and then look for routers, all as
 * from the start.
 */
void ip_link_up(struct ip_stack *s, uint64_t now);

/**
 * Process a checked Packet Too Big: lower the path MTU of all connections to p->dst for ten minutes
 * (RFC 1191 section 6.3, RFC 8201 section 4), to at least 576 (v4) or 1280 (v6).
 * @return the path MTU now.
 */
uint16_t ip_path_too_big(struct ip_stack *s, struct ip_path *p, uint16_t mtu, uint64_t now);

/**
 * Read the addresses of a received frame, if it is an unfragmented packet of @p proto without IPv4
 * options or IPv6 extension headers. Nothing is checked.
 * @return its transport header, with at least the transport's min_len bytes; NULL: it is another
 *         packet.
 */
const uint8_t *ip_peek(const struct ip_stack *s, const struct rte_mbuf *m, uint8_t proto,
	struct ip_addr *src, struct ip_addr *dst);

/** Ones' complement sum of the pseudo header and the bytes of @p m from @p off: 0 if correct. */
uint16_t ip_l4_cksum(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const struct rte_mbuf *m, uint32_t off);

/** The same of one mbuf, whose last bytes @p text tells. */
uint16_t ip_l4_cksum_summed(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const struct rte_mbuf *m, struct ip_text_sum text);

/**
 * For a received segment that failed ip_l4_cksum(): true if its sender left the checksum to
 * hardware, as a kernel does on a veth or TAP with transmit offload. The checksum field then has
 * the plain sum of the pseudo header. Counts rx_cksum_unfilled.
 */
bool ip_l4_cksum_unfilled(
	struct ip_stack *s, const struct ip_rx *rx, uint8_t proto, const struct rte_mbuf *m);

/** Counters since creation. Read them under the engine's lock. */
struct ip_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t rx_bad_header, rx_bad_cksum, rx_not_ours, rx_unknown_proto;
	uint64_t rx_cut; /**< of rx_bad_header: longer than the port's frames, which cut them off */
	uint64_t rx_cksum_unfilled; /**< transport checksum left to "hardware" by the sender's
				       offload */
	uint64_t rx_fragments, reassembled, reassembly_failed;
	uint64_t arp_rx, arp_tx, arp_conflicts, nd_rx, nd_tx, nd_conflicts;
	uint64_t udp_rx, udp_tx;
	uint64_t igmp_rx, igmp_tx;
	uint64_t icmp_rx, icmp_tx, icmp_errors_rx, icmp_errors_limited;
	uint64_t neighbour_failed, neighbour_queue_drops, no_route, looped;
	uint64_t neighbour_moved;   /**< a neighbour's link-layer address changed */
	uint64_t neighbour_refused; /**< a change was refused: the old station still answers */
	uint64_t rx_martian;        /**< impossible source: ours, loopback, group */
	uint64_t rx_no_memory;      /**< dropped because the pool was empty */
	uint64_t icmp_ignored;      /**< of unknown types, or about nothing that we sent */
	uint64_t loop_full;         /**< from us to us, more than wait for their turn */
};

const struct ip_stats *ip_stack_stats(const struct ip_stack *s);

/** Call @p fn for each neighbour entry (for tools). @p state is a word such as "REACHABLE". */
void ip_neighbour_each(const struct ip_stack *s,
	void (*fn)(void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state),
	void *ctx);

#endif
