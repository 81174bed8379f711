/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file neighbour.h
 * The neighbour cache of ARP and ND. Both families follow RFC 4861 sections 5.1 and 7.3, which has
 * all that RFC 1122 section 2.3.2.1 asks of ARP: unicast poll, time-out, flood prevention.
 *
 * Neither ARP nor ND proves the identity of a station (RFC 3756 section 4.1.1). So a neighbour in
 * use, or a router, does not move on a claim alone. Another station that claims its address is a
 * rival. Then the known station is asked by unicast, and packets still go to it. Only if it does
 * not answer does the rival get the address.
 *
 * The first answer of all may be forged, too. Then the transport makes no progress and calls
 * neighbour_doubt(), and the other known stations are asked. The first of them is the one through
 * which there was progress before. A rival that does not repeat its claim for 30 s is forgotten
 * when there is progress.
 */
#ifndef IP_NEIGHBOUR_H
#define IP_NEIGHBOUR_H

#include "ip/eth_wire.h"
#include "ip/ip.h"

#define NEIGHBOUR_MAX     1024
#define NEIGHBOUR_BUCKETS 1024 /* a power of two */
#define NEIGHBOUR_QUEUE   4    /* packets that wait for an answer (RFC 4861 section 7.2.2) */
/*
 * Packets that wait for all neighbours together: answers to forged addresses of our subnet must not
 * use up the pool (RFC 3756 section 4.3.2).
 */
#define NEIGHBOUR_QUEUED_MAX 256

enum neighbour_state {
	NEIGHBOUR_FREE,
	NEIGHBOUR_NEW, /**< used by a path; no packet was sent to it */
	NEIGHBOUR_INCOMPLETE,
	NEIGHBOUR_REACHABLE,
	NEIGHBOUR_STALE,
	NEIGHBOUR_DELAY,
	NEIGHBOUR_PROBE,
	NEIGHBOUR_FAILED, /**< did not answer; packets are refused for a short time */
};

/** The destination of the probes in NEIGHBOUR_PROBE. */
enum neighbour_asked {
	NEIGHBOUR_ASK_CURRENT,
	NEIGHBOUR_ASK_PROVEN,
	NEIGHBOUR_ASK_RIVAL,
	NEIGHBOUR_ASK_ALL,
};

struct ip_neighbour {
	uint8_t eth[16]; /**< the Ethernet header towards it */
	uint8_t state;
	bool direct;    /**< packets are sent without a check of the state */
	bool router;    /**< it is a router, by its NA or RA */
	bool answered;  /**< eth did when it was asked, or there was progress through it */
	uint8_t probes; /**< sent in this state */
	uint8_t queued;
	uint8_t asked;      /**< enum neighbour_asked */
	uint8_t doubts;     /**< calls of neighbour_doubt() since there was progress */
	bool has_rival;     /**< another station claims the address: rival */
	bool has_proven;    /**< proven is set */
	bool told;          /**< the rival was logged */
	bool moved;         /**< eth changed, and there was no progress since */
	bool polled;        /**< asked by neighbour_poll(), and nothing else waits for it */
	uint8_t rival[6];   /**< the station that claims the address */
	uint8_t proven[6];  /**< the last station through which there was progress */
	uint64_t used;      /**< when we last sent to it; 0: never */
	uint64_t confirmed; /**< when it was last reachable */
	uint64_t taken;     /**< when we began to send to eth */
	uint64_t since;     /**< when we began to send to eth, or to doubt it */
	uint64_t contested; /**< when we last asked because of a claim; 0: never */
	uint64_t doubted;   /**< when we last asked because of a doubt; 0: never */
	uint64_t claimed;   /**< when the rival last claimed the address, or had it */
	struct ip_addr addr;
	struct timer timer;
	struct ip_stack *stack;
	struct ip_neighbour *next; /**< in its bucket, or in the free list */
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
};

struct neighbour_table {
	struct ip_neighbour *bucket[NEIGHBOUR_BUCKETS];
	struct ip_neighbour *free;
	unsigned hand;   /**< where the search for an entry to evict goes on */
	unsigned queued; /**< packets that wait, in all entries */
	struct ip_neighbour e[NEIGHBOUR_MAX];
};

void neighbour_init(struct ip_stack *s);
void neighbour_fini(struct ip_stack *s);

/** @return the entry, or NULL. */
struct ip_neighbour *neighbour_find(struct ip_stack *s, const struct ip_addr *a);

/** Find or create the entry. It may evict another one. Never fails. */
struct ip_neighbour *neighbour_get(struct ip_stack *s, const struct ip_addr *a, uint64_t now);

/** News about a neighbour's link-layer address. */
struct neighbour_news {
	const uint8_t *mac; /**< NULL: the known address is confirmed */
	const uint8_t *src; /**< source of the frame, used if mac is NULL; may be NULL */
	bool solicited;     /**< an answer to us, so it is reachable (RFC 4861 section 7.2.5) */
	bool override;      /**< a different address replaces the known one */
};

/**
 * Process news about an entry, and send the packets that waited for it.
 * @return true: they are believed. The address is known, and it is theirs: mac, or else src.
 */
bool neighbour_learn(struct ip_stack *s, struct ip_neighbour *n, const struct neighbour_news *news,
	uint64_t now);

/**
 * Send the frame @p m if n->direct is false. It has room for the Ethernet header in front. Owns @p
 * m. @return 0 or -EHOSTUNREACH.
 */
int neighbour_output(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now);

/**
 * Start to resolve the address, unless it is known or being resolved. @return true: it is known.
 */
bool neighbour_ask(struct ip_neighbour *n, uint64_t now);

/**
 * Ask once whether a router is there again that was left. Not if it is being asked, or has
 * answered.
 */
void neighbour_poll(struct ip_neighbour *n, uint64_t now);

/**
 * The link has come up: ask again at once, from the beginning, for those that are being resolved.
 * What was sent before did not leave; else RFC 4861 section 7.2.2 allows one question a second.
 */
void neighbour_ask_again(struct ip_stack *s, uint64_t now);

/** There was forward progress of packets sent to @p n at @p sent_at (RFC 4861 section 7.3.1). */
void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t sent_at, uint64_t now);

/**
 * There is no progress through @p n (RFC 1122 section 2.3.2.1, advice from above): ask at once for
 * the owner of its address, by unicast and at most once a second. Packets still go to the known
 * station.
 * @return true: more than one station claims the address.
 */
bool neighbour_doubt(struct ip_neighbour *n, uint64_t now);

#endif
