/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ip_double.h
 * A double of ip/ip.h for tests of TCP. Packets of ip_send() are queued for the test, and the test
 * delivers segments. One struct ip_stack is one host with one address per family.
 */
#ifndef TESTS_SUPPORT_IP_DOUBLE_H
#define TESTS_SUPPORT_IP_DOUBLE_H

#include "ip/ip.h"

#define IP_DOUBLE_QUEUE 16384

struct ip_stack {
	struct ip_addr addr[2];
	unsigned n_addr;
	uint16_t mtu;
	struct ip_transport transport;
	/** Sent packets that the test has not taken: references, as the port would hold them. */
	struct rte_mbuf *sent[IP_DOUBLE_QUEUE];
	struct ip_addr sent_to[IP_DOUBLE_QUEUE], sent_from[IP_DOUBLE_QUEUE];
	uint8_t sent_tos[IP_DOUBLE_QUEUE], taken_tos; /**< of the packet taken last */
	uint8_t rx_tos;                               /**< of delivered packets */
	unsigned head, tail;
	int send_error;              /**< what ip_send() returns, if not 0 */
	unsigned refused;            /**< packets that ip_send() refused */
	struct ip_text_sum text_sum; /**< what ip_send_summed() was told last */
	bool rx_unchecked;           /**< the port did not look at what is delivered */
	bool no_sums;                /**< the port makes them */
	uint16_t path_mtu;           /**< 0: mtu */
	unsigned confirms, doubts;
	bool unsettled; /**< returned by ip_doubt() */
	/** Called by ip_expedite(); NULL: it does nothing */
	void (*expedite)(struct ip_stack *s);
	unsigned alike; /**< packets of ip_send_alike() */
	/** Of the last pattern: what is sent alike has no path. */
	struct ip_path *pattern_path;
	bool waits; /**< what was sent and not taken waits for the neighbour, not in the port */
};

/** Of what was sent and not taken, free what @p is_of says. */
void ip_double_drop(struct ip_stack *s, bool (*is_of)(const struct rte_mbuf *m, const void *arg),
	const void *arg);

void ip_double_init(struct ip_stack *s, uint16_t mtu, const char *addr);

/** Packets that were sent and not taken yet. */
unsigned ip_double_pending(const struct ip_stack *s);

/** Take the oldest sent packet, from its TCP header. The caller owns it. NULL: none. */
struct rte_mbuf *ip_double_take(struct ip_stack *s);

/** The same, with its addresses. */
struct rte_mbuf *ip_double_take_from(struct ip_stack *s, struct ip_addr *src, struct ip_addr *dst);

/** Hand @p m to @p s's transport as if it had come from @p src; its checksum counts as good. */
void ip_double_deliver(struct ip_stack *s, const struct ip_addr *src, const struct ip_addr *dst,
	struct rte_mbuf *m, uint64_t now);

/** Free all queued packets. */
void ip_double_drain(struct ip_stack *s);

#endif
