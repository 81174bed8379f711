/* SPDX-License-Identifier: BSD-2-Clause */
/** @file icmp.h ICMP (RFC 792) and ICMPv6 (RFC 4443): echo, errors in and out. */
#ifndef IP_ICMP_H
#define IP_ICMP_H

#include "ip/ip.h"
#include "ip/stack.h"

#define ICMP_PROTO 1

/** A received ICMP message, its data at the ICMP header. Owns @p m. */
void icmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

/** A received ICMPv6 message, as icmp_input(). rx->dst may be a group of ours. */
void icmpv6_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

/** A packet that we may send an ICMP error about. */
struct icmp_about {
	const struct ip_rx *rx;   /**< its addresses */
	const struct rte_mbuf *m; /**< its data at the IP header; not consumed */
	uint8_t proto;            /**< its payload's protocol, if it is known */
	uint32_t l4_off;          /**< where its payload begins */
};

/** Destination unreachable, if RFC 1122 section 3.2.2 lets us. */
void icmp_unreachable(
	struct ip_stack *s, const struct icmp_about *about, uint8_t code, uint64_t now);

/** Time exceeded: the rest of the datagram whose first fragment it is about has not come. */
void icmp_not_reassembled(struct ip_stack *s, const struct icmp_about *about, uint64_t now);

/** ICMPv6 error of @p type, its second word @p arg, if RFC 4443 section 2.4(e) lets us. */
void icmpv6_error(struct ip_stack *s, const struct icmp_about *about, uint8_t type, uint8_t code,
	uint32_t arg, uint64_t now);

/** What differs between the errors of both protocols. */
struct icmp_error {
	uint8_t type, code;
	uint16_t quote_max; /**< octets of the packet that may be quoted */
	uint32_t arg;       /**< second word of the message */
};

/** Send the error @p e about the packet @p about, which begins at its IP header and is kept. */
void icmp_send_error(struct ip_stack *s, const struct ip_reply *r, const struct icmp_error *e,
	const struct rte_mbuf *about, uint64_t now);

/** The sum of the pseudo header. ICMP has none (RFC 792), ICMPv6 has one (RFC 4443 section 2.3). */
uint64_t icmp_pseudo(
	uint8_t proto, const struct ip_addr *src, const struct ip_addr *dst, uint16_t len);

/**
 * Count and check a received message of either protocol, and make its first @p head octets
 * contiguous, or all if there are fewer. Owns @p m.
 * @return the message, of at least 8 octets; NULL: it was dropped.
 */
struct rte_mbuf *icmp_receive(struct ip_stack *s, uint8_t proto, const struct ip_rx *rx,
	struct rte_mbuf *m, uint16_t head);

/**
 * True if the rate limit allows one more error (RFC 1122 section 3.2.2, RFC 4443 section 2.4(f)).
 */
bool icmp_take_token(struct ip_stack *s, uint64_t now);

/** Pass an error on to the transport @p proto, which it is about. @return it was told. */
bool icmp_report(struct ip_stack *s, uint8_t proto, const struct ip_error *e, uint64_t now);

/** One of our own frames could not be delivered: report it to its transport. Keeps @p m. */
void icmp_report_own(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now);

/**
 * Report an error with e->kind and e->mtu to the transport of the quoted packet, @p len octets from
 * its IP header. A quote that is invalid or of the other IP version is ignored.
 * @return a transport was told.
 */
bool icmp_report_quote_v4(
	struct ip_stack *s, const uint8_t *q, size_t len, struct ip_error *e, uint64_t now);
bool icmp_report_quote_v6(
	struct ip_stack *s, const uint8_t *q, size_t len, struct ip_error *e, uint64_t now);

/** Turn the echo request @p m into a reply of @p type and send it. Owns @p m. */
void icmp_echo_reply(struct ip_stack *s, const struct ip_reply *r, uint8_t type, struct rte_mbuf *m,
	uint64_t now);

#endif
