/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sendq.h
 * What a connection has to send or has sent and not seen acknowledged: records, oldest first,
 * each in one mbuf, with the scoreboard of RFC 6675 kept on them.
 *
 * A record's place in its mbuf is remembered here, not in the mbuf: while the port holds a
 * reference, the mbuf's own offset and lengths belong to the frame as it was sent.
 */
#ifndef TCP_SENDQ_H
#define TCP_SENDQ_H

#include "tcp/seq.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TCP_REC_FIN = 1, /**< no text, no mbuf: the FIN */
	TCP_REC_SACKED = 2,
	TCP_REC_LOST = 4,   /**< believed to have left the network by a loss */
	TCP_REC_REXMIT = 8, /**< lost, and sent again since */
	TCP_REC_KARN = 16
}; /**< was ever sent twice: no RTT sample (RFC 6298 section 3) */

struct tcp_record {
	struct rte_mbuf *m;
	uint64_t sent_at; /**< ns, of the last transmission */
	uint32_t seq;
	uint32_t len;
	uint16_t off; /**< of the text from m->buf_addr */
	uint8_t flags;
};

/** Zero-initialised is empty and holds no memory. */
struct tcp_sendq {
	struct tcp_record *ring;
	uint32_t cap, head, count;
	uint32_t nxt;   /**< how many have been sent: the index of the first that has not */
	uint32_t bytes; /**< of text, in all records */
	uint32_t sacked, lost, rexmit; /**< sequence space with that mark */
};

static inline struct tcp_record *tcp_sendq_at(const struct tcp_sendq *q, uint32_t i)
{
	return &q->ring[(q->head + i) & (q->cap - 1)];
}

/** Sequence space that @p r takes. */
static inline uint32_t tcp_record_space(const struct tcp_record *r)
{
	return r->len + (r->flags & TCP_REC_FIN);
}

static inline uint32_t tcp_record_end(const struct tcp_record *r)
{
	return r->seq + tcp_record_space(r);
}

static inline uint8_t *tcp_record_text(const struct tcp_record *r)
{
	return (uint8_t *)r->m->buf_addr + r->off;
}

/** Make room for one more, so that the next push cannot fail. @return 0 or -ENOMEM. */
int tcp_sendq_room(struct tcp_sendq *q);

/** Append a record; owns @p m (NULL with TCP_REC_FIN). Needs tcp_sendq_room() first. */
void tcp_sendq_push(struct tcp_sendq *q, struct rte_mbuf *m, uint16_t off, uint32_t len,
	uint32_t seq, uint8_t flags);

/** The last record, if it has not been sent; else NULL. */
struct tcp_record *tcp_sendq_unsent_tail(const struct tcp_sendq *q);

/**
 * Remove what lies before @p ack, cutting the record that it points into.
 * @param[out] sent_at when the newest record removed, of those never sent twice, was sent; else 0.
 */
void tcp_sendq_ack(struct tcp_sendq *q, uint32_t ack, uint64_t *sent_at);

/** Index of the first record that ends after @p seq; count if there is none. */
uint32_t tcp_sendq_find(const struct tcp_sendq *q, uint32_t seq);

/** Mark the sent records that lie wholly in @p r as SACKed. @return sequence space newly marked. */
uint32_t tcp_sendq_sack(struct tcp_sendq *q, struct tcp_range r);

/** Mark record @p i as lost, ready to be sent again. */
void tcp_sendq_lose(struct tcp_sendq *q, uint32_t i);

/** Record @p i goes out now: account for it. */
void tcp_sendq_sent(struct tcp_sendq *q, uint32_t i, uint64_t now);

/** Forget all SACK marks (RFC 2018 section 8: the peer reneged). */
void tcp_sendq_forget_sacks(struct tcp_sendq *q);

/** First record that is lost and not sent again yet; nxt if there is none. */
uint32_t tcp_sendq_first_lost(const struct tcp_sendq *q);

/**
 * Cut record @p i after @p len bytes; the rest is copied into an mbuf of @p pool.
 * @return 0 or -ENOMEM.
 */
int tcp_sendq_split(struct tcp_sendq *q, uint32_t i, uint32_t len, struct rte_mempool *pool);

/** Copy the text of record @p i into a fresh mbuf, for the port still holds the old one. */
int tcp_sendq_renew(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool);

/** Free all records, and the ring. */
void tcp_sendq_clear(struct tcp_sendq *q);

#endif
