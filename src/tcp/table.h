/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file table.h
 * Connections by their four addresses: a chained table under a keyed hash, so that strangers
 * cannot aim at one chain; it doubles with its content. The last hit is tried first.
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

struct tcp_table {
	struct tcp_conn **bucket;
	struct tcp_conn *last;
	uint32_t mask, count;
	struct siphash_key key;
};

/** @return 0 or -ENOMEM. */
int tcp_table_init(struct tcp_table *t, const struct siphash_key *key);
void tcp_table_fini(struct tcp_table *t);

struct tcp_conn *tcp_table_find(struct tcp_table *t, const struct tcp_tuple *id);

/** @p c's tuple must not be in the table. */
void tcp_table_insert(struct tcp_table *t, struct tcp_conn *c);
void tcp_table_remove(struct tcp_table *t, struct tcp_conn *c);

/** Number @p i in no particular order, or NULL past the end. */
struct tcp_conn *tcp_table_get(const struct tcp_table *t, unsigned i);

#endif
