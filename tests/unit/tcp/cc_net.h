/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cc_net.h
 * A bottleneck with a queue, a delay and random loss, and senders that always have text, each with
 * a congestion control module and nothing else of TCP: packets of one size, no retransmission (what
 * is lost is not missed), and a loss is known when the next packet that arrives is acknowledged.
 */
#ifndef TESTS_UNIT_TCP_CC_NET_H
#define TESTS_UNIT_TCP_CC_NET_H

#include "host.h"

#define NET_SMSS    1000
#define NET_FLOWS   2
#define NET_SECONDS 600
#define NET_SECOND  (1000 * MS)

struct net_config {
	uint64_t rate;  /**< bytes per second */
	uint64_t rtt;   /**< ns, without queue */
	uint32_t queue; /**< bytes */
	uint32_t loss_ppm;
	uint32_t mark; /**< bytes in the queue from which on packets are marked; 0: never */
	uint32_t acks; /**< that many packets are acknowledged at a time; 0: one */
	uint64_t seed;
};

struct net_packet {
	struct tcp_record r;
	uint64_t arrives; /**< its ACK at the sender */
	bool lost, marked;
};

struct net_flow {
	struct tcp_stack s;
	struct tcp_conn c;
	struct net_packet *ring; /**< sent, and not known to have arrived or not */
	uint32_t head, tail, cap;
	uint64_t next_send, start;
	uint32_t recover; /**< no second reduction before this is acknowledged */
	uint32_t limited; /**< snd_nxt when cwnd last held it back */
	bool in_recovery;
	uint64_t delivered, sent, losses;  /**< bytes; packets */
	uint64_t bytes_per_s[NET_SECONDS]; /**< delivered in each second */
};

struct net {
	struct net_config cfg;
	uint64_t now, wire_free, rng;
	uint32_t queue_max, queue_max_late; /**< greatest ever, and since the second second */
	unsigned n;
	struct net_flow flow[NET_FLOWS];
};

/** @p ops: one module for each flow, until NULL; all begin at once. */
void net_init(struct net *n, const struct net_config *cfg, const struct tcp_cc_ops *const *ops);
void net_run(struct net *n, uint64_t ns);
void net_end(struct net *n);

/**
 * What flow @p i got in seconds [@p from, @p to), as a share of the bottleneck's rate, in 1/1000.
 */
unsigned net_share(const struct net *n, unsigned i, unsigned from, unsigned to);

#endif
