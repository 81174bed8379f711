/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sendq.h
 * What a connection has to send or has sent and not seen acknowledged: records, oldest first,
 * each in one mbuf, with the scoreboard of RFC 6675 and RFC 8985 kept on them.
 *
 * A record's place in its mbuf is remembered here, not in the mbuf: while the port holds a
 * reference, the mbuf's own offset and lengths belong to the frame as it was sent.
 *
 * Every record that was sent is in one of three places, so that no ACK needs a walk over the
 * flight: in the chain of those in flight, by the time of their last transmission; in the chain
 * of those lost and not sent again yet; or SACKed, where runs are skipped in one step.
 */
#ifndef TCP_SENDQ_H
#define TCP_SENDQ_H

#include "tcp/seq.h"

#include <rte_branch_prediction.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;
struct tcp_mbuf_cache;

enum {
	TCP_REC_FIN = 1, /**< the FIN is behind its text; without text there is no mbuf */
	TCP_REC_SACKED = 2,
	TCP_REC_LOST = 4,         /**< believed to have left the network by a loss */
	TCP_REC_REXMIT = 8,       /**< sent again, and that transmission may still arrive */
	TCP_REC_KARN = 16,        /**< was ever sent twice: ambiguous (RFC 6298 section 3) */
	TCP_REC_APP_LIMITED = 32, /**< sent while the application, not the window, was the limit */
	TCP_REC_SUM = 64,         /**< its sum is known */
	TCP_REC_EXTERNAL = 128    /**< its text lies in a chain of mbufs (external.h) */
};

/** One segment's worth. 64 bytes: a cache line, for there may be 90,000 in flight. */
struct tcp_record {
	struct rte_mbuf *m;
	uint64_t sent_at; /**< ns, of the last transmission */
	/** State of the connection at the last transmission, for the rate sample (rate.h). */
	uint64_t delivered_at, first_sent_at;
	uint32_t delivered, tx_in_flight, tx_lost; /**< the sums are modulo 2^32 */
	uint32_t seq;
	/** Neighbours in a chain, as ids. SACKed: next is an id beyond, all between are SACKed. */
	uint32_t prev, next;
	uint16_t len;
	/** With TCP_REC_SUM: of the text, for its checksum (llp_commit_summed()). With
	 *  TCP_REC_EXTERNAL: how much of the text was acknowledged. */
	uint16_t sum;
	uint16_t off;  /**< of the text from m->buf_addr */
	uint8_t flags; /**< TCP_REC_* */
	uint8_t rexmits;
};

_Static_assert(sizeof(struct tcp_record) == 64, "a record is a cache line");

/** Records linked by their ids. */
struct tcp_chain {
	uint32_t n, first, last; /**< first and last are valid while n > 0 */
};

/** Zero-initialised is empty and holds no memory. It does not move once it is in use. */
struct tcp_sendq {
	struct tcp_record *ring; /**< &one, as long as there is never more than one */
	uint32_t cap;
	uint32_t head; /**< id of record 0; it is in slot id & (cap - 1) and stays there */
	uint32_t count;
	uint32_t nxt;   /**< how many have been sent: the index of the first that has not */
	uint32_t bytes; /**< of text, in all records */
	uint32_t sacked, lost, rexmit; /**< sequence space with that mark */
	uint32_t total_lost; /**< sequence space ever marked lost and rightly so, modulo 2^32 */
	uint32_t n_sacked;   /**< records SACKed (RFC 8985: segs_sacked) */
	struct tcp_chain flight, rtx_queue; /**< by time sent; lost and not sent again */
	uint32_t lost_last;                 /**< id that was put into rtx_queue last */
	uint32_t most;                      /**< records at a time since it has its ring */
	struct tcp_record one;
};

/** What one ACK delivered, gathered record by record by tcp_sendq_ack() and tcp_sendq_sack(). */
struct tcp_delivery {
	/** To be filled in before: a record that was sent more than once and last after this is
	 *  not taken for newest, as this ACK may answer to an earlier transmission (RFC 8985
	 *  section 6.2, step 2). UINT64_MAX: all count. */
	uint64_t credible_until;
	uint32_t fack;  /**< in and out: highest end of sequence delivered so far */
	uint32_t acked; /**< sequence space that lay before SEG.ACK and was not acknowledged */
	uint32_t sacked;
	/** Sequence space delivered now and not SACKed before. */
	uint32_t delivered;
	/** When the last of those sent only once was sent; 0: none, or Karn's rule forbids it. */
	uint64_t rtt_sent_at;
	bool any;       /**< newest is valid */
	bool reordered; /**< one that was sent only once arrived below fack */
	bool original;  /**< one that was sent only once was delivered */
	/** When the oldest one acknowledged was sent last, if more than once; else 0. */
	uint64_t rexmit_at;
	struct tcp_mbuf_cache *mbuf_cache; /**< to be filled in: takes what is acknowledged */
	/** Copy of the one that was sent last; m is NULL. At the end: it need not be cleared. */
	struct tcp_record newest;
};

static inline struct tcp_record *tcp_sendq_by_id(const struct tcp_sendq *q, uint32_t id)
{
	return &q->ring[id & (q->cap - 1)];
}

static inline struct tcp_record *tcp_sendq_at(const struct tcp_sendq *q, uint32_t i)
{
	return tcp_sendq_by_id(q, q->head + i);
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

/**
 * @p len bytes, with the sum @p sum, are now behind its text. They are in its mbuf, so that the
 * length of all fits.
 */
void tcp_record_append(struct tcp_record *r, uint32_t len, uint32_t sum);

/** RFC 8985 section 6.2: was (@p t1, @p end1) sent after (@p t2, @p end2)? */
static inline bool tcp_sent_after(uint64_t t1, uint32_t end1, uint64_t t2, uint32_t end2)
{
	return t1 > t2 || (t1 == t2 && seq_gt(end1, end2));
}

/**
 * Let @p q have @p ring, of @p cap records (a power of two), which are more than it had: `one`, or
 * what tcp_sendq_clear() may free(). @return the ring that it had, now the caller's; NULL: none but
 * `one`.
 */
struct tcp_record *tcp_sendq_take_ring(struct tcp_sendq *q, struct tcp_record *ring, uint32_t cap);

/** Append a record; owns @p m (NULL: a FIN alone). There is room: count is less than cap. */
void tcp_sendq_push(struct tcp_sendq *q, struct rte_mbuf *m, uint16_t off, uint32_t len,
	uint32_t seq, uint8_t flags);

/** The last record, if it has not been sent; else NULL. */
struct tcp_record *tcp_sendq_unsent_tail(const struct tcp_sendq *q);

/** Remove what lies before @p ack, cutting the record that it points into; add it to @p d. */
void tcp_sendq_ack(struct tcp_sendq *q, uint32_t ack, struct tcp_delivery *d);

/** Index of the first record that ends after @p seq; count if there is none. */
uint32_t tcp_sendq_find(const struct tcp_sendq *q, uint32_t seq);

/**
 * Mark the sent records that lie wholly in @p r as SACKed; add them to @p d. Costs no more than
 * what it marks, however long @p r is. A record that the path cut in two counts when a block
 * covers both parts; until then it may be sent again, which does no harm.
 */
void tcp_sendq_sack(struct tcp_sendq *q, struct tcp_range r, struct tcp_delivery *d);

/** Mark record @p i as lost, to be sent again. @return sequence space newly lost. */
uint32_t tcp_sendq_lose(struct tcp_sendq *q, uint32_t i);

/** Take all that is lost and not sent again back into flight: they were not lost after all. */
void tcp_sendq_unlose(struct tcp_sendq *q);

/** Record @p i goes out now: account for it. */
void tcp_sendq_sent(struct tcp_sendq *q, uint32_t i, uint64_t now);

/** All that is SACKed is lost: the peer reneged (RFC 2018 section 8). Walks over the flight. */
void tcp_sendq_forget_sacks(struct tcp_sendq *q);

/**
 * Index of the record to be sent again next; nxt if there is none. Wherever the oldest one is in
 * rtx_queue, which is not quite sorted, it goes first (RFC 6298 section 5.4): all wait for it.
 */
static inline uint32_t tcp_sendq_first_lost(const struct tcp_sendq *q)
{
	if (likely(!q->rtx_queue.n))
		return q->nxt;
	if ((tcp_sendq_at(q, 0)->flags & (TCP_REC_LOST | TCP_REC_REXMIT)) == TCP_REC_LOST)
		return 0;
	return q->rtx_queue.first - q->head;
}

/** Index of the record in flight that was sent first; nxt if none is in flight. */
static inline uint32_t tcp_sendq_oldest(const struct tcp_sendq *q)
{
	return q->flight.n ? q->flight.first - q->head : q->nxt;
}

/**
 * Cut record @p i, which is not SACKed nor external, after @p len bytes; the rest is copied into an
 * mbuf of @p pool. Moves the records before or after it, whichever are fewer. There is room for one
 * more.
 * @return 0 or -ENOMEM.
 */
int tcp_sendq_split(struct tcp_sendq *q, uint32_t i, uint32_t len, struct rte_mempool *pool);

/** Copy the text of record @p i into a fresh mbuf, for the port still holds the old one. */
int tcp_sendq_renew(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool);

/**
 * Copy the text of record @p i, if it is external, into its own mbuf, or into one of @p pool if the
 * port still holds that. @return 0, -ENOMEM; -EFAULT: the program's memory is not there.
 */
int tcp_sendq_own(struct tcp_sendq *q, uint32_t i, struct rte_mempool *pool);

/** Free all records, and the ring. */
void tcp_sendq_clear(struct tcp_sendq *q);

#endif
