/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file flow.h
 * The table of TCP connections in a capture, by addresses and ports. Its size has a bound: when it
 * is full, the one that was idle for longest goes.
 */
#ifndef PCAP_FLOW_H
#define PCAP_FLOW_H

#include "base/ip_addr.h"
#include "base/siphash.h"
#include "pcap/connection.h"

enum flow_state {
	FLOW_NEW,  /**< no text yet */
	FLOW_OPEN, /**< connection is there */
	FLOW_NONE, /**< not iWARP, so far: MPA may start where a segment begins */
	FLOW_OVER, /**< was iWARP */
};

struct flow {
	struct flow *hash_next, **hash_prev;
	struct flow *newer, *older;
	struct ip_endpoint end[2]; /**< the lower one first */
	struct connection *connection;
	uint32_t isn[2];
	bool syn[2]; /**< isn is known */
	uint8_t state;
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

/** Its connections must have been ended: they are not its own. */
void flow_table_free(struct flow_table *t);

/**
 * Find or make the flow between two ends, and make it the newest.
 * @param[out] side which of its ends @p src is.
 * @return NULL: it is not there and the table is full (flow_remove() the oldest), or no memory.
 */
struct flow *flow_get(struct flow_table *t, const struct ip_endpoint *src,
	const struct ip_endpoint *dst, unsigned *side);

/** Take it out and free it; its connection is the caller's to end. */
void flow_remove(struct flow_table *t, struct flow *f);

#endif
