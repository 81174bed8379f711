/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file neighbour.h
 * The neighbour cache that ARP and ND share: RFC 4861 sections 5.1 and 7.3 for both families
 * (RFC 1122 section 2.3.2.1 asks the same of ARP: unicast poll, time-out, flood prevention).
 *
 * Neither ARP nor ND proves the identity of a station (RFC 3756 section 4.1.1), so a neighbour in
 * use does not move on a claim alone. Another station that claims its address is a rival. The known
 * station is asked by unicast, and packets go to it meanwhile. The rival is believed when there is
 * no answer. A first answer may be a lie as well. Then the transport makes no progress and says so
 * (neighbour_doubt()), and the other known stations are asked, first the one through which there
 * was progress before. A rival that does not repeat its claim for 30 s is forgotten when there is
 * progress.
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

/** Which address the probes of NEIGHBOUR_PROBE go to. */
enum neighbour_asked {
	NEIGHBOUR_ASK_CURRENT,
	NEIGHBOUR_ASK_PROVEN,
	NEIGHBOUR_ASK_RIVAL,
	NEIGHBOUR_ASK_ALL,
};

struct ip_neighbour {
	uint8_t eth[16]; /**< the Ethernet header towards it */
	uint8_t state;
	bool direct;    /**< packets go out without a look at the state */
	bool router;    /**< told so by its NA or RA */
	uint8_t probes; /**< sent in this state */
	uint8_t queued;
	uint8_t asked;      /**< enum neighbour_asked */
	uint8_t doubts;     /**< of the transport, since there was progress */
	bool has_rival;     /**< somebody else claims to have the address */
	bool has_proven;    /**< there was progress through proven */
	bool told;          /**< the log knows of the rival */
	bool moved;         /**< and there was no progress since */
	uint8_t rival[6];   /**< the station that claims it */
	uint8_t proven[6];  /**< through which there was progress last */
	uint64_t used;      /**< when we last sent to it; 0: never */
	uint64_t confirmed; /**< when it was last known to receive us */
	uint64_t taken;     /**< when we began to send to eth */
	uint64_t since;     /**< likewise, or to doubt that it has the address */
	uint64_t contested; /**< when a claim last made us ask; 0: never */
	uint64_t doubted;   /**< likewise a doubt */
	uint64_t claimed;   /**< when the rival claimed it last, or had it */
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
	const uint8_t *src; /**< of the frame that brought it; asked if mac is NULL; may be NULL */
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

/** Forward progress through @p n of what was sent at @p sent_at (RFC 4861 section 7.3.1). */
void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t sent_at, uint64_t now);

/**
 * No progress through @p n (RFC 1122 section 2.3.2.1, advice from above): ask at once, by unicast
 * and at most once a second, for the owner of its address. Packets go on to the station that is
 * known.
 * @return true: that is not settled.
 */
bool neighbour_doubt(struct ip_neighbour *n, uint64_t now);

#endif
