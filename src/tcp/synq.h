/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file synq.h
 * Half-open connections: SYN-RECEIVED after a passive open (RFC 9293 section 3.10.7.4), kept small
 * and few, as anybody can make them with forged addresses (RFC 4987). A connection is made when the
 * third segment of the handshake has come.
 */
#ifndef TCP_SYNQ_H
#define TCP_SYNQ_H

#include "base/peer_set.h"
#include "base/siphash.h"
#include "base/timer.h"
#include "tcp/table.h"
#include "tcp/tcp_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct tcp_listener;
struct tcp_stack;

/** What is known of a connection before there is one: the peer's SYN, and our answer to it. */
struct tcp_syn_request {
	struct tcp_tuple id;
	uint32_t irs, iss;
	uint32_t ts_recent;
	uint16_t mss; /**< the peer's; valid with TCP_HAS_MSS */
	uint16_t wnd; /**< of its SYN, unscaled */
	uint8_t has;  /**< the options that both sides will use, and TCP_HAS_MSS if it had one */
	uint8_t wscale;
	bool ecn;
	bool ecn_doubted;   /**< its SYN came again without: the peer may not know our answer */
	bool repeated;      /**< our SYN,ACK went again for the peer's SYN, which came again */
	uint8_t syn_sent_n; /**< transmissions of our SYN,ACK by its timer; 0: not counted (a
			       cookie) */
	uint64_t sent_at;   /**< the first one */
};

struct tcp_synq_entry {
	struct tcp_synq_entry *hash_next;
	struct tcp_synq_entry *next, **pprev; /**< of its listener, oldest first */
	struct tcp_listener *listener;
	struct timer timer;
	struct peer_charge charge;
	struct tcp_syn_request e;
};

/** All of a stack. */
struct tcp_synq {
	struct tcp_synq_entry **bucket; /**< made with the first listener */
	uint32_t mask, count;
	struct siphash_key key;
	struct peer_set peers; /**< their peers */
};

/** Those of one listener. */
struct tcp_synq_list {
	struct tcp_synq_entry *oldest, **tail;
	uint32_t count;
};

/** @return 0 or -ENOMEM. @p most: how many there will be at most. */
int tcp_synq_init(struct tcp_synq *t, uint32_t most, const struct siphash_key *key);
void tcp_synq_fini(struct tcp_synq *t);

struct tcp_synq_entry *tcp_synq_find(const struct tcp_synq *t, const struct tcp_tuple *id);

/** Remember @p e, answer it, and again later. @return 0 or -ENOMEM: neither was done. */
int tcp_synq_add(struct tcp_listener *l, const struct tcp_syn_request *e);

/** Out of the table and the list, its timer stopped; it still has its memory. */
void tcp_synq_unlink(struct tcp_synq_entry *h);

/** Back after tcp_synq_unlink(): the user could not take the connection yet. */
void tcp_synq_relink(struct tcp_synq_entry *h);

/** Unlink and free. */
void tcp_synq_drop(struct tcp_synq_entry *h);

#endif
