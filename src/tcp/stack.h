/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stack.h What the connections of one engine share. */
#ifndef TCP_STACK_H
#define TCP_STACK_H

#include "base/peer_set.h"
#include "base/siphash.h"
#include "tcp/cc.h"
#include "tcp/conn_pool.h"
#include "tcp/cookies.h"
#include "tcp/mbuf_cache_state.h"
#include "tcp/ports.h"
#include "tcp/synq.h"
#include "tcp/table.h"
#include "tcp/tcp.h"
#include "tcp/tcp_wire.h"

struct tcp_conn;
struct tcp_listener;
struct tcp_stall;
struct tcp_unread;

/** Connections with closed windows (stall.h). */
struct tcp_stalls {
	TAILQ_HEAD(tcp_stall_list, tcp_stall) list;
	struct peer_set peers; /**< their peers */
};

/** Connections with text that their users left here, now or lately (unread.h). */
struct tcp_unreads {
	TAILQ_HEAD(tcp_unread_list, tcp_unread) list;
	struct peer_set peers; /**< by peer, of those that are being looked at */
};

/** Connections without a user, oldest first: those that wait longest go when room is short. */
struct tcp_conn_queue {
	struct tcp_conn *head, **tail;
	uint32_t count;
};

/** A power of two. */
#define TCP_LISTENER_CHAINS 256u

/** The ACK field of a segment whose text went up first (input.h). */
struct tcp_owed_ack {
	struct tcp_conn *c; /**< NULL: none is owed */
	uint64_t at;        /**< when it came */
	struct tcp_segment seg;
};

struct tcp_stack {
	struct llp_stack llp;
	struct tcp_stack_config cfg; /**< with the defaults filled in */
	const struct tcp_cc_ops *cc;
	uint64_t now;
	uint32_t now_ms; /**< the clock under our timestamps (RFC 7323 section 5.4) */
	struct tcp_table table;
	struct tcp_conn_pool conn_pool;
	struct tcp_mbuf_cache mbuf_cache;
	struct tcp_conn *dirty, **dirty_tail; /**< to be looked at when the round ends */
	struct tcp_conn *dead;                /**< closed; freed when the round ends */
	struct tcp_conn_queue time_wait;
	struct tcp_conn_queue orphans; /**< not in TIME-WAIT yet */
	struct tcp_listener *listeners;
	struct tcp_listener *by_port[TCP_LISTENER_CHAINS]; /**< the same, by their ports */
	struct tcp_synq synq;
	struct tcp_cookies cookies;
	uint64_t challenge_at; /**< when the present allowance of challenge ACKs began */
	uint32_t challenges;   /**< left of it */
	struct tcp_ports ports;
	struct siphash_key isn_key, port_key, ts_key;
	uint32_t room; /**< of one packet of the pool after its headroom */
	/** Packets that wait to be sent or acknowledged, and that wait to be read: neither kind may
	 *  take so much of the pool that nothing can be received any more. */
	uint32_t tx_held, tx_limit, rx_held, rx_limit;
	uint32_t rx_hard_limit; /**< of rx_held, for what fills a gap (buffer.h) */
	uint32_t tx_hard_limit; /**< of tx_held, for connections with little in their queue */
	uint32_t tx_wanted; /**< 1 + the records of the connection that was refused one this round;
			       0: none was */
	uint32_t rx_wanted; /**< 1 + what the connection holds that was refused one to receive; 0:
			       none was */
	struct tcp_stalls stalls;
	struct tcp_unreads unreads;
	uint32_t reclaim_at; /**< the table's place to look at next for idle claims */
	uint32_t rx_claimed; /**< by receive buffers beyond their minimum (buffer.h) */
	uint8_t rcv_wscale;
	struct tcp_stats stats;
	struct tcp_owed_ack owed_ack;
	struct tcp_external_zeros *zeros; /**< NULL: all text is copied */
};

/** The stack's time, also back; see tcp_set_now(). */
void tcp_stack_set_clock(struct tcp_stack *s, uint64_t now);

/** A packet with TCP's and IP's headroom in front, or NULL (counted). */
struct rte_mbuf *tcp_stack_packet(struct tcp_stack *s);

/** Who takes of the pool alone found it empty: give back what is done with. @return false: nothing.
 */
bool tcp_stack_refill(struct tcp_stack *s);

#endif
