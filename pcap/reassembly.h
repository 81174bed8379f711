/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file reassembly.h
 * One direction of a TCP connection, from the segments that a capture holds: what was sent twice
 * is told from what is new, what came early waits, what never came is named.
 *
 * Text is never copied: a piece points into the capture, which keeps it (capture.h).
 */
#ifndef PCAP_REASSEMBLY_H
#define PCAP_REASSEMBLY_H

#include "pcap/packet.h"

/** Old pieces kept to compare what is sent again with. */
#define REASSEMBLY_HISTORY 64

/** Pieces that wait, of all connections together. Shared by them; the creator sets max. */
struct cap_reassembly_budget {
	size_t used, max;
};

/** Text in order. */
struct piece {
	const uint8_t *bytes; /**< NULL: not in the capture, only its length is known */
	uint32_t len;
	uint32_t seq;
	uint32_t ack;   /**< what the segment acknowledged */
	bool first;     /**< a TCP segment began with this piece */
	bool last;      /**< and one ended with it */
	bool lost;      /**< with bytes NULL: no frame has it; else the snap length cut it off */
	uint64_t frame; /**< where it was captured; of lost text: where the loss was noticed */
	uint64_t time;
};

struct cap_reassembly_counters {
	uint64_t segments, bytes; /**< with text; of text, sent again or not */
	uint64_t again, again_bytes;
	uint64_t early;     /**< segments that came before text that precedes them */
	uint64_t conflicts; /**< sent again with other bytes */
	uint64_t holes, hole_bytes;
	uint64_t cut, cut_bytes; /**< by the snap length */
};

struct cap_reassembly_ops {
	/** The next piece, in order. */
	void (*text)(void *user, const struct piece *p);
	/** Text was sent again with other bytes than before: @p now differs from what @p before
	 * had.
	 */
	void (*conflict)(void *user, const struct piece *now, const struct piece *before);
};

struct cap_reassembly {
	const struct cap_reassembly_ops *ops;
	void *user;
	struct cap_reassembly_budget *budget;
	bool known;     /**< next is */
	bool fin;       /**< a FIN was seen, at fin_seq */
	bool acked_set; /**< acked is */
	uint32_t next;  /**< sequence number of the next octet in order */
	uint32_t fin_seq;
	uint64_t fin_frame;
	uint32_t acked;      /**< the highest acknowledgement number of the peer */
	unsigned waits;      /**< segments seen since the peer acknowledged text that we lack */
	struct piece *early; /**< sorted by seq, none of them overlap */
	unsigned num_early, cap_early;
	struct piece old[REASSEMBLY_HISTORY];
	unsigned at_old;
	struct cap_reassembly_counters counters;
};

/** @p budget is shared by all that may wait, and outlives @p r. */
void cap_reassembly_init(struct cap_reassembly *r, const struct cap_reassembly_ops *ops, void *user,
	struct cap_reassembly_budget *budget);

/** Begin with the octet @p seq, whatever was before it. */
void cap_reassembly_start(struct cap_reassembly *r, uint32_t seq);

/** Take a segment of this direction, without SYN. */
void cap_reassembly_segment(
	struct cap_reassembly *r, const struct packet *p, const struct cap_frame *f);

/**
 * The peer's segment acknowledged up to @p ack. Text before it that the capture lacks will not
 * come any more; but frames of a capture may be out of order by a few, so it is waited for a
 * while.
 */
void cap_reassembly_ack(struct cap_reassembly *r, uint32_t ack);

/** Give up waiting for what is missing: say it is lost, and hand up what waits behind it. */
void cap_reassembly_flush(struct cap_reassembly *r);

/** What waits is dropped without a word: flush before. */
void cap_reassembly_free(struct cap_reassembly *r);

/** True if the peer has acknowledged text that has not been handed up. */
static inline bool cap_reassembly_behind(const struct cap_reassembly *r)
{
	return r->known && r->acked_set && (int32_t)(r->acked - r->next) > (int32_t)r->fin;
}

#endif
