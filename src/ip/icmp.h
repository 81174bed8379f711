/* SPDX-License-Identifier: BSD-2-Clause */
/** @file icmp.h ICMP (RFC 792) and ICMPv6 (RFC 4443): echo, errors in and out. */
#ifndef IP_ICMP_H
#define IP_ICMP_H

#include "ip/ip.h"
#include "ip/stack.h"

#define ICMP_PROTO 1

/** A received ICMP message, its data at the ICMP header. Owns @p m. */
void icmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

/** The same for ICMPv6; rx->dst may be a group of ours. */
void icmpv6_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

/** An error that we may have to send about a packet. */
struct icmp_about {
	const struct ip_rx *rx;   /**< its addresses */
	const struct rte_mbuf *m; /**< its data at the IP header; not consumed */
	uint8_t proto;            /**< what it carried, as far as known */
	uint32_t l4_off;          /**< where that begins */
};

/** Destination unreachable, if RFC 1122 section 3.2.2 lets us. */
void icmp_unreachable(
	struct ip_stack *s, const struct icmp_about *about, uint8_t code, uint64_t now);

/** ICMPv6 error of @p type, its second word @p arg, if RFC 4443 section 2.4(e) lets us. */
void icmpv6_error(struct ip_stack *s, const struct icmp_about *about, uint8_t type, uint8_t code,
	uint32_t arg, uint64_t now);

/** May one more error go out now (RFC 1122 section 3.2.2, RFC 4443 section 2.4(f))? */
bool icmp_take_token(struct ip_stack *s, uint64_t now);

/** One of our own frames could not be delivered: tell its transport. Keeps @p m. */
void icmp_report_own(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now);

/** Pass an error on to the transport it is about, if its quote makes sense. */
void icmp_report(struct ip_stack *s, uint8_t proto, const struct ip_error *e, uint64_t now);

/** Make the echo request @p m a reply of @p type and send it. Owns @p m. */
void icmp_echo_reply(struct ip_stack *s, const struct ip_reply *r, uint8_t type, struct rte_mbuf *m,
	uint64_t now);

#endif
