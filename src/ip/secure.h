/* SPDX-License-Identifier: BSD-2-Clause */
/** @file secure.h The stack's side of the IPsec boundary (ipsec.h): where packets cross it. */
#ifndef IP_SECURE_H
#define IP_SECURE_H

#include "ip/icmp.h"
#include "ip/stack.h"

/** Hear of ICMP errors about ESP packets of ours, if there is IPsec. @return 0 or -ENOMEM. */
int ip_secure_init(struct ip_stack *s);
void ip_secure_fini(struct ip_stack *s);

/** An error about a datagram of ours has come: it may be ESP in UDP, if there is IPsec. */
void ip_secure_udp_error(struct ip_stack *s, const struct ip_error *e, uint64_t now);

/** What the path's MTU is as it leaves, of packets of @p mtu octets before: not of a tunnel's. */
uint16_t ip_secure_whole(struct ip_stack *s, const struct ip_path *p, uint16_t mtu);

/** Of a path that was just resolved: what ESP leaves of its MTU, and of the link's. */
void ip_secure_path(struct ip_stack *s, struct ip_path *p);

/**
 * The packet @p m for path @p p, its data at its IP header, is about to leave. Owns @p m.
 * @param[out] to where the packet is to go.
 * @return what is to be sent, with room for a link's header; NULL: nothing is.
 */
struct rte_mbuf *ip_secure_output(struct ip_stack *s, const struct ip_path *p, uint8_t proto,
	struct rte_mbuf *m, struct ip_addr *to, uint64_t now);

/** Octets of a transport's header that an error quotes at least. */
#define IP_QUOTED_LEN 8

/**
 * The packet @p m, its data at its IP header, waits for a neighbour from now on.
 * @param p, proto, l4 of what it was before ip_secure_output(): l4 are IP_QUOTED_LEN octets.
 */
void ip_secure_await(struct ip_stack *s, const struct ip_path *p, uint8_t proto, const uint8_t *l4,
	const struct rte_mbuf *m);

/**
 * A packet of ours, its IP header at @p h, has waited for a neighbour that is not there. If it is
 * one that was protected, its transport is told.
 * @return false: it is not.
 */
bool ip_secure_report_own(struct ip_stack *s, const uint8_t *h, size_t len, uint64_t now);

/**
 * A whole packet has come for us, not from us. Owns @p m, whose data is at its IP header.
 * @param l4_off of what is behind its headers.
 * @param[in,out] rx, proto change with a packet that was opened.
 * @return the packet, if it may go on; NULL: it was dropped, or was protected and has been received
 * again without that.
 */
struct rte_mbuf *ip_secure_input(struct ip_stack *s, const struct ip_frame *f, struct ip_rx *rx,
	uint8_t *proto, uint16_t l4_off, struct rte_mbuf *m, uint64_t now);

/**
 * A packet has come for us that is answered because of its headers, before ip_secure_input(): does
 * the boundary let the packet in? Else a stranger could have us say to a peer, by an SA, what he
 * likes.
 */
bool ip_secure_may_answer(
	struct ip_stack *s, const struct ip_frame *f, const struct icmp_about *about, uint64_t now);

#endif
