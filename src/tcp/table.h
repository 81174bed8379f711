/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file table.h
 * Connections by their four addresses: open addressing under a keyed hash, so that strangers
 * cannot aim at one place; it doubles with its content. A slot has the hash, so no connection is
 * looked at in vain: with 50,000 of them each look is a cache miss. The last hit is tried first.
 */
#ifndef TCP_TABLE_H
#define TCP_TABLE_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <stdint.h>

struct tcp_conn;

/** The identity of a connection, seen from here. No padding: it is hashed and compared whole. */
struct tcp_tuple {
	struct ip_addr local, remote;
	uint16_t lport, rport;
};
_Static_assert(sizeof(struct tcp_tuple) == 36, "hashed and compared as bytes");

struct tcp_slot {
	struct tcp_conn *c; /**< NULL: free */
	uint32_t hash;
};

/** Packets of one burst whose connections are looked up ahead. */
#define TCP_TABLE_AHEAD 32

/**
 * What the next calls of tcp_table_find() will ask for, in this order. A load that misses the
 * cache takes as long as a packet's whole way through here, and what a packet needs is found by
 * two or three such loads, one after the other. So each packet is prepared in steps, some packets
 * before its turn, and no step waits for the one before.
 */
struct tcp_expected {
	struct tcp_slot next[TCP_TABLE_AHEAD]; /**< c: once it was looked up; NULL: nobody */
	unsigned n, at;                        /**< at: whose turn it is */
	unsigned looked_up, opened;            /**< steps: how many have had them */
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
 * The @p n connections, TCP_TABLE_AHEAD at most, of the packets that come next, probably: have what
 * they will need fetched into the cache, each when its turn comes near. It is a hint: what
 * tcp_table_find() returns does not depend on it.
 */
void tcp_table_expect(struct tcp_table *t, const struct tcp_tuple *id, unsigned n);

/** @p c's tuple must not be in the table. @return 0 or -ENOMEM. */
int tcp_table_insert(struct tcp_table *t, struct tcp_conn *c);
void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c);

/** Number @p i in no particular order, or NULL past the end. */
struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i);

#endif
