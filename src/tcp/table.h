/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file table.h
 * Connections by their four addresses: open addressing under a keyed hash, so that strangers
 * cannot aim at one place; it doubles with its content. A slot has most of the hash, so hardly a
 * connection is looked at in vain: with 50,000 of them each look is a cache miss. And eight slots
 * share a cache line, so what the slots take stays in some cache. The last hit is tried first.
 */
#ifndef TCP_TABLE_H
#define TCP_TABLE_H

#include "base/ip_addr.h"
#include "base/siphash.h"
#include "base/walk.h"

#include <stdint.h>

struct tcp_conn;

/** The identity of a connection, seen from here. No padding: it is hashed and compared whole. */
struct tcp_tuple {
	struct ip_addr local, remote;
	uint16_t lport, rport;
};
_Static_assert(sizeof(struct tcp_tuple) == 36, "hashed and compared as bytes");

/** As much of the hash as a slot has: the table has 2^22 slots at most, as nothing else is known
 *  of where a connection wants to be. */
#define TCP_SLOT_HASH_BITS 22

struct tcp_slot {
	uint64_t line : 64 - TCP_SLOT_HASH_BITS; /**< the connection's address / 64; 0: free */
	uint64_t hash : TCP_SLOT_HASH_BITS;
};

_Static_assert(sizeof(struct tcp_slot) == 8, "eight in a cache line");

static inline struct tcp_conn *tcp_slot_conn(struct tcp_slot s)
{
	return (struct tcp_conn *)((uintptr_t)s.line * 64);
}

/** So many connections are not in the caches all the time. */
#define TCP_TABLE_MANY 256
/** Packets of one burst with their connections looked up ahead. */
#define TCP_TABLE_AHEAD 32

/**
 * What the next calls of tcp_table_find() will ask for, in this order. A load that misses the
 * cache takes as long as a packet's whole way through here, and what a packet needs is found by
 * two or three such loads, one after the other. So each packet is prepared in steps, some packets
 * before its turn, and no step waits for the one before.
 */
struct tcp_expected {
	struct {
		uint32_t hash;
		struct tcp_conn *c; /**< once it was looked up; NULL: nobody */
	} next[TCP_TABLE_AHEAD];
	unsigned n, at;             /**< at: the next one */
	unsigned looked_up, opened; /**< steps: how many have had them */
};

struct tcp_table {
	struct tcp_slot *slot;
	struct tcp_conn *last;
	uint32_t mask, count;
	struct siphash_key key;
	struct tcp_expected ahead;
};

/** @return 0 or -ENOMEM. */
int tcp_table_init(struct tcp_table *t, const struct siphash_key *key);
void tcp_table_fini(struct tcp_table *t);

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id);

/**
 * The connection of a packet that comes next, probably, after those of earlier calls: have what it
 * will need fetched into the cache when its turn comes near. More than TCP_TABLE_AHEAD since
 * tcp_table_expect_none() are ignored. It is a hint: what tcp_table_find() returns does not depend
 * on it.
 */
void tcp_table_expect(struct tcp_table *t, const struct tcp_tuple *id);

/** Forget what was expected. */
void tcp_table_expect_none(struct tcp_table *t);

/** @p c's tuple must not be in the table; its address is a cache line's. @return 0 or -ENOMEM. */
int tcp_table_insert(struct tcp_table *t, struct tcp_conn *c);
void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c);

/** Where a walk is; zero-initialised at its beginning. */
struct tcp_table_walk {
	uint32_t home; /**< where in the table those want to be that come next */
	uint32_t nth;  /**< and how many of them were shown */
};

/**
 * The next step of a walk. Connections may come and go while the lock is released; one that is
 * there all the time is found, and once, unless the table has grown meanwhile: then perhaps twice.
 */
enum walk tcp_table_walk(
	const struct tcp_table *t, struct tcp_table_walk *w, struct tcp_conn **found);

/** Number @p i in no particular order, or NULL past the end. */
struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i);

#endif
