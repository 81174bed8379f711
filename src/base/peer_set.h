/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file peer_set.h
 * Accounts for what strangers cause (handshakes, start-ups, ...) by their address. When there is
 * too much, the peer with the most gives way first: with the most charges, or whose charges weigh
 * most together. An IPv6 host may own a whole network,
 * so addresses with the same first 64 bits are one peer (RFC 7934).
 *
 * All functions take constant time. Not thread-safe.
 */
#ifndef BASE_PEER_SET_H
#define BASE_PEER_SET_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <sys/queue.h>

/** Peers of each weight below this have a list; above, eight parts of each power of two. */
#define PEER_SET_EXACT 1024u
#define PEER_SET_LISTS (PEER_SET_EXACT + 8 * 22 + 16) /* a multiple of 64 */

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
	TAILQ_ENTRY(peer_entry) link; /**< in the list of peers with this weight */
	struct peer_charges charges;  /**< oldest first */
	uint32_t count, weight;
};

struct peer_set {
	struct siphash_key key;
	struct peer_entry **bucket;
	uint32_t mask;
	uint32_t count;                 /**< charges, of all peers */
	struct peer_entries *by_weight; /**< PEER_SET_LISTS; those of weight 0 are in one, too */
	uint64_t used[PEER_SET_LISTS / 64]; /**< a bit for each that is not empty */
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

/**
 * Let @p c weigh @p more, or less if negative; it is charged. At first it weighs 1. The caller
 * takes back what it has added before it takes @p c out. A peer's weights together are less than
 * 2^32.
 */
void peer_set_weigh(struct peer_set *s, struct peer_charge *c, int32_t more);

/** Take @p c out. Does nothing if it is not charged. */
void peer_set_remove(struct peer_set *s, struct peer_charge *c);

/** The number of charges of @p addr. */
uint32_t peer_set_count(const struct peer_set *s, const struct ip_addr *addr);

/** The oldest charge of @p addr, or NULL. */
struct peer_charge *peer_set_oldest(const struct peer_set *s, const struct ip_addr *addr);

/**
 * The oldest charge of the peer with the most, or NULL. Weights above PEER_SET_EXACT are told apart
 * if they differ by an eighth.
 */
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
