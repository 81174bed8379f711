/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_peer.h
 * The far ends of many connections, and as little of them as a stack needs that is to be measured:
 * sixteen bytes for each, no timers, nothing is ever lost. So what a measurement finds in the
 * caches or does not find there is the measured stack's own doing.
 */
#ifndef BENCH_TCP_PEER_H
#define BENCH_TCP_PEER_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/** Host number 1 of 10.0.0.0/24, and the stack that is measured is number 2. */
#define PEER_NUMBER  1
#define STACK_NUMBER 2
/** The stack's listeners: a pair of addresses has too few ports for all connections otherwise. */
#define PEER_PORT  7
#define PEER_PORTS 4

struct peer_end {
	uint32_t snd_nxt, rcv_nxt;
	uint32_t ts_recent;
	uint32_t unanswered; /**< bytes that the echo owes */
};

struct peer {
	struct rte_mempool *pool;
	struct peer_end *end;
	unsigned n, connected;
	uint64_t now, segments, answered; /**< ns; that came; bytes of them */
	void (*transmit)(void *ctx, struct rte_mbuf *m);
	void *ctx;
};

/** Room for connections 0 to @p n - 1; none is made. Ends the program if there is no memory. */
void peer_init(struct peer *p, struct rte_mempool *pool, unsigned n,
	void (*transmit)(void *ctx, struct rte_mbuf *m), void *ctx);

/** Send connection @p i's SYN. */
void peer_connect(struct peer *p, unsigned i);

/** Send @p len bytes on @p i, and with them the ACK of all that came. */
void peer_ask(struct peer *p, unsigned i, uint32_t len);

/** Send an ACK of all that came on @p i. */
void peer_acknowledge(struct peer *p, unsigned i);

/** A frame from the stack, which is kept here. Ends the program if it is not what must come. */
void peer_input(struct peer *p, struct rte_mbuf *m);

#endif
