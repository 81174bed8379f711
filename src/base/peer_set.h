/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file peer_set.h
 * What peers cause here before anybody has agreed to it (handshakes, start-ups, ...), charged to
 * the address that it comes from. The peer that has most of it gives way first. A host has a whole
 * network of IPv6 addresses, so addresses with the same first 64 bits are one peer (RFC 7934).
 *
 * Everything takes constant time. Not thread-safe.
 */
#ifndef BASE_PEER_SET_H
#define BASE_PEER_SET_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <sys/queue.h>

/** Peers that have more than this are not told apart by how much more. */
#define PEER_SET_COUNTS 1024u

struct peer_entry;

/** In what is charged; zeroed: it is not. */
struct peer_charge {
	struct peer_entry *peer; /**< NULL: not charged */
	TAILQ_ENTRY(peer_charge) link;
};

TAILQ_HEAD(peer_charges, peer_charge);
TAILQ_HEAD(peer_entries, peer_entry);

/** One peer, while it has anything. */
struct peer_entry {
	struct ip_addr addr; /**< IPv6: of its network */
	struct peer_entry *hash_next;
	TAILQ_ENTRY(peer_entry) link; /**< of those that have as much */
	struct peer_charges charges;  /**< oldest first */
	uint32_t count;
};

struct peer_set {
	struct siphash_key key;
	struct peer_entry **bucket;
	uint32_t mask;
	uint32_t count;                /**< charges, of all peers */
	uint32_t busiest;              /**< the last list that has somebody */
	struct peer_entries *by_count; /**< PEER_SET_COUNTS of them, from 1; 0 is not used */
};

/**
 * @param most about how many charges there will be.
 * @return 0 or -ENOMEM.
 */
int peer_set_init(struct peer_set *s, uint32_t most, const struct siphash_key *key);

/** Nothing may be charged any more. */
void peer_set_fini(struct peer_set *s);

/** Charge @p c, which must not be charged, to @p addr. @return 0 or -ENOMEM. */
int peer_set_add(struct peer_set *s, struct peer_charge *c, const struct ip_addr *addr);

/** Nothing if @p c is not charged. */
void peer_set_remove(struct peer_set *s, struct peer_charge *c);

/** How much @p addr is charged with. */
uint32_t peer_set_count(const struct peer_set *s, const struct ip_addr *addr);

/** The oldest charge of @p addr; NULL: it has none. */
struct peer_charge *peer_set_oldest(const struct peer_set *s, const struct ip_addr *addr);

/** The oldest charge of the peer that has most; NULL: there is none. */
struct peer_charge *peer_set_busiest(const struct peer_set *s);

/**
 * Which charge has to go before one more may be charged to @p addr?
 * @param most in all; @param most_each of one peer; 0: as many.
 * @return NULL: none has to.
 */
struct peer_charge *peer_set_in_the_way(
	const struct peer_set *s, const struct ip_addr *addr, uint32_t most, uint32_t most_each);

#endif
