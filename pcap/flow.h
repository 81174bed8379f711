/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file flow.h
 * The table of TCP connections in a capture, by addresses and ports. Its size is limited. When it
 * is full, the connection that was idle for the longest time is removed.
 */
#ifndef PCAP_FLOW_H
#define PCAP_FLOW_H

#include "base/ip_addr.h"
#include "base/siphash.h"
#include "pcap/connection.h"
#include "pcap/handshake.h"

enum flow_state {
	FLOW_NEW,  /**< no text yet */
	FLOW_OPEN, /**< connection is set */
	FLOW_NONE, /**< not iWARP so far; MPA may start with a later segment */
	FLOW_OVER, /**< was iWARP */
};

/** Text of TLS in a flow of which no connection was made. */
enum flow_tls {
	FLOW_TLS_NONE,
	FLOW_TLS_SEEN,
	FLOW_TLS_KNOWN, /**< its connection was told of, or counted */
};

struct flow {
	struct flow *hash_next, **hash_prev;
	struct flow *newer, *older;
	struct ip_endpoint end[2]; /**< the lower one first */
	struct connection *connection;
	struct handshakes syns;
	uint8_t state, tls;
	/** Segments of each side whose TCP checksum is right, or left to hardware; and is wrong. */
	uint16_t right[2], wrong[2];
};

struct flow_table {
	struct flow **buckets;
	struct flow *newest, *oldest;
	unsigned max, used;
	struct siphash_key key;
	struct flow *last; /**< found last time */
};

/** @return 0, or -ENOMEM. @p key makes it hard to fill one bucket. */
int flow_table_init(struct flow_table *t, unsigned max, const struct siphash_key *key);

/** Free the table. Its connections must have ended before. */
void flow_table_free(struct flow_table *t);

/**
 * Find or create the flow between two ends, and make it the newest.
 * @param[out] side the index of @p src in its ends.
 * @return NULL: it is new and the table is full (flow_remove() the oldest), or no memory.
 */
struct flow *flow_get(struct flow_table *t, const struct ip_endpoint *src,
	const struct ip_endpoint *dst, unsigned *side);

/** Remove and free it. The caller ends its connection. */
void flow_remove(struct flow_table *t, struct flow *f);

#endif
