/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file peer_set.h
 * Accounts for what strangers cause (handshakes, start-ups, ...) by their address. When there is
 * too much, the peer with the most charges gives way first. An IPv6 host may own a whole network,
 * so addresses with the same first 64 bits are one peer (RFC 7934).
 *
 * All functions take constant time. Not thread-safe.
 */
#ifndef BASE_PEER_SET_H
#define BASE_PEER_SET_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <sys/queue.h>

/** Peers with this many charges or more are in one list. */
#define PEER_SET_COUNTS 1024u

struct peer_entry;

/** Embedded in the object that is charged. Zero-initialised is not charged. */
struct peer_charge {
	struct peer_entry *peer; /**< NULL: not charged */
	TAILQ_ENTRY(peer_charge) link;
};

TAILQ_HEAD(peer_charges, peer_charge);
TAILQ_HEAD(peer_entries, peer_entry);

/** A peer with at least one charge. */
struct peer_entry {
	struct ip_addr addr; /**< IPv6: the network's */
	struct peer_entry *hash_next;
	TAILQ_ENTRY(peer_entry) link; /**< in the list of peers with this count */
	struct peer_charges charges;  /**< oldest first */
	uint32_t count;
};

struct peer_set {
	struct siphash_key key;
	struct peer_entry **bucket;
	uint32_t mask;
	uint32_t count;                /**< charges, of all peers */
	uint32_t busiest;              /**< the highest list that is not empty */
	struct peer_entries *by_count; /**< PEER_SET_COUNTS of them, from 1; 0 is not used */
};

/**
 * @param most the expected number of charges; it sizes the hash table.
 * @return 0 or -ENOMEM.
 */
int peer_set_init(struct peer_set *s, uint32_t most, const struct siphash_key *key);

/** Free @p s. No charge may be left. */
void peer_set_fini(struct peer_set *s);

/** What a peer is known by: its address, of IPv6 its network. */
struct ip_addr peer_set_network(const struct ip_addr *addr);

/** Charge @p c to @p addr. It must not be charged already. @return 0 or -ENOMEM. */
int peer_set_add(struct peer_set *s, struct peer_charge *c, const struct ip_addr *addr);

/** Take @p c out. Does nothing if it is not charged. */
void peer_set_remove(struct peer_set *s, struct peer_charge *c);

/** The number of charges of @p addr. */
uint32_t peer_set_count(const struct peer_set *s, const struct ip_addr *addr);

/** The oldest charge of @p addr, or NULL. */
struct peer_charge *peer_set_oldest(const struct peer_set *s, const struct ip_addr *addr);

/** The oldest charge of the peer with the most, or NULL. */
struct peer_charge *peer_set_busiest(const struct peer_set *s);

/**
 * Find the charge to evict before one more is charged to @p addr.
 * @param most the limit for all peers together.
 * @param most_each the limit for one peer; 0: as @p most.
 * @return NULL: there is room.
 */
struct peer_charge *peer_set_in_the_way(
	const struct peer_set *s, const struct ip_addr *addr, uint32_t most, uint32_t most_each);

#endif
