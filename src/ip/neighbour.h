/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file neighbour.h
 * The neighbour cache that ARP and ND share: RFC 4861 sections 5.1 and 7.3 for both families
 * (RFC 1122 section 2.3.2.1 asks the same of ARP: unicast poll, time-out, flood prevention).
 */
#ifndef IP_NEIGHBOUR_H
#define IP_NEIGHBOUR_H

#include "ip/eth_wire.h"
#include "ip/ip.h"

#define NEIGHBOUR_MAX     1024
#define NEIGHBOUR_BUCKETS 1024 /* a power of two */
#define NEIGHBOUR_QUEUE   4    /* packets that wait for an answer (RFC 4861 section 7.2.2) */
/* Packets that wait, all neighbours together: answers to made-up addresses of our own subnet must
 * not take the pool away (RFC 3756 section 4.3.2). */
#define NEIGHBOUR_QUEUED_MAX 256

enum neighbour_state {
	NEIGHBOUR_FREE,
	NEIGHBOUR_NEW, /**< known to a path; nothing sent to it yet */
	NEIGHBOUR_INCOMPLETE,
	NEIGHBOUR_REACHABLE,
	NEIGHBOUR_STALE,
	NEIGHBOUR_DELAY,
	NEIGHBOUR_PROBE,
	NEIGHBOUR_FAILED, /**< did not answer: refuse for a moment */
};

struct ip_neighbour {
	uint8_t eth[16]; /**< the Ethernet header towards it */
	uint8_t state;
	bool direct;    /**< packets go out without a look at the state */
	bool router;    /**< told so by its NA or RA */
	uint8_t probes; /**< sent in this state */
	uint8_t queued;
	uint64_t used;      /**< when we last sent to it; 0: never */
	uint64_t confirmed; /**< when it was last known to receive us */
	struct ip_addr addr;
	struct timer timer;
	struct ip_stack *stack;
	struct ip_neighbour *next; /**< in its bucket, or in the free list */
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
};

struct neighbour_table {
	struct ip_neighbour *bucket[NEIGHBOUR_BUCKETS];
	struct ip_neighbour *free;
	unsigned hand;   /**< where the search for a victim goes on */
	unsigned queued; /**< packets that wait, in all entries */
	struct ip_neighbour e[NEIGHBOUR_MAX];
};

void neighbour_init(struct ip_stack *s);
void neighbour_fini(struct ip_stack *s);

/** @return the entry, or NULL. */
struct ip_neighbour *neighbour_find(struct ip_stack *s, const struct ip_addr *a);

/** Find or make the entry; something less useful may have to go. Never fails. */
struct ip_neighbour *neighbour_get(struct ip_stack *s, const struct ip_addr *a, uint64_t now);

/** How a neighbour's link-layer address became known. */
struct neighbour_news {
	const uint8_t *mac; /**< NULL: confirms what we have */
	bool solicited;     /**< an answer to us: it hears us (RFC 4861 section 7.2.5) */
	bool override;      /**< a different address replaces the known one */
};

/** Take news about an entry; sends what waited for it. */
void neighbour_learn(struct ip_stack *s, struct ip_neighbour *n, const struct neighbour_news *news,
	uint64_t now);

/**
 * Send the frame @p m, its Ethernet header's room included and blank, when the state is not one
 * that lets it pass directly. Owns @p m. @return 0 or -EHOSTUNREACH.
 */
int neighbour_output(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now);

/** Start to look for its address, unless that is known or being looked for. @return it is known. */
bool neighbour_ask(struct ip_neighbour *n, uint64_t now);

/** Forward progress through @p n (RFC 4861 section 7.3.1). */
void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t now);

#endif
