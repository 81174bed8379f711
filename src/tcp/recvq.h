/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file recvq.h
 * In-order bytes that the user has not taken yet: single mbufs, oldest first.
 *
 * Small pieces are copied into the tailroom of the one before, so that a peer that sends single
 * bytes cannot pin the packet pool: any two neighbours together fill more than one mbuf.
 */
#ifndef TCP_RECVQ_H
#define TCP_RECVQ_H

#include "llp/llp.h"

#include <rte_mbuf.h>
#include <stdint.h>

/** Zero-initialised is empty and holds no memory. */
struct tcp_recvq {
	struct rte_mbuf **ring;
	uint32_t cap, head, count;
	uint32_t bytes;
};

/** Make room for @p more mbufs off the data path's usual way. @return 0 or -ENOMEM. */
int tcp_recvq_grow(struct tcp_recvq *q, uint32_t more);

/** See that @p more mbufs can be pushed. @return 0 or -ENOMEM. */
static inline int tcp_recvq_room(struct tcp_recvq *q, uint32_t more)
{
	return q->cap - q->count >= more ? 0 : tcp_recvq_grow(q, more);
}

/** Append the text of @p m, a chain perhaps; owns it. Needs tcp_recvq_room() for its mbufs. */
void tcp_recvq_push(struct tcp_recvq *q, struct rte_mbuf *m);

/** Describe the oldest pieces, @p max at most. @param[out] total their bytes. @return how many. */
unsigned tcp_recvq_show(const struct tcp_recvq *q, struct llp_iov *v, unsigned max, size_t *total);

/** Drop @p n bytes, which are there, from the front. */
void tcp_recvq_consume(struct tcp_recvq *q, size_t n);

void tcp_recvq_clear(struct tcp_recvq *q);

#endif
