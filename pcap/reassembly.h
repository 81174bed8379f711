/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file reassembly.h
 * Reassembles one direction of a TCP connection from captured segments. It detects text that was
 * sent again, keeps segments that came early, and reports text that is missing.
 *
 * Text is never copied: a piece points into the capture (capture.h).
 */
#ifndef PCAP_REASSEMBLY_H
#define PCAP_REASSEMBLY_H

#include "pcap/early.h"
#include "pcap/packet.h"
#include "pcap/piece.h"

#include <limits.h>

/** Old pieces that are kept, to compare with text that is sent again. */
#define REASSEMBLY_HISTORY 64

/** Segments after which text that was acknowledged is not waited for any more. */
#define REASSEMBLY_PATIENCE 32
/** Text further ahead than any window is of another connection, or behind a hole as large. */
#define REASSEMBLY_WINDOW_MAX (1 << 30)
/**
 * Segments in a row, of both directions, which tell of such a hole. More are needed where its end
 * is before the first octet. No row tells where its end seems to be text that was there, which the
 * peer has acknowledged by more than REASSEMBLY_BACK_MAX octets: a second tap whose clock is late
 * has such text, too.
 */
#define REASSEMBLY_FAR      8
#define REASSEMBLY_FAR_BACK 4096
#define REASSEMBLY_FAR_OLD  UINT_MAX
#define REASSEMBLY_BACK_MAX (64u << 20)

/** Pieces that wait, for all connections together. The creator sets max. */
struct cap_reassembly_budget {
	size_t used, max;
};

struct cap_reassembly_counters {
	/** Segments with text, and their text; retransmissions included */
	uint64_t segments, bytes;
	uint64_t again, again_bytes;
	uint64_t early;     /**< segments that came before their turn */
	uint64_t conflicts; /**< sent again with other bytes */
	uint64_t holes, hole_bytes;
	uint64_t cut, cut_bytes; /**< by the snap length */
};

struct cap_reassembly_ops {
	/** The next piece, in order. */
	void (*text)(void *user, const struct piece *p);
	/** Text was sent again with other bytes: @p now differs from @p before. */
	void (*conflict)(void *user, const struct piece *now, const struct piece *before);
};

struct cap_reassembly {
	const struct cap_reassembly_ops *ops;
	void *user;
	struct cap_reassembly_budget *budget;
	bool known;      /**< next is valid */
	bool fin;        /**< a FIN was seen, at fin_seq */
	bool acked_set;  /**< acked is valid */
	bool held;       /**< its user has a later segment: what is missing may be in it */
	bool from_syn;   /**< nothing was sent before first; its user sets it */
	uint32_t first;  /**< sequence number of the first octet */
	uint32_t next;   /**< sequence number of the next octet in order */
	uint64_t passed; /**< octets from first to next, those in holes included */
	uint32_t fin_seq;
	uint64_t fin_frame;
	uint64_t frame, time; /**< of the connection's segment in hand; its user sets them */
	uint32_t acked;       /**< highest acknowledgement number of the peer */
	unsigned waits;       /**< segments since the peer acknowledged text that is missing */
	struct cap_early early;
	struct piece *old; /**< grows up to REASSEMBLY_HISTORY, then the oldest goes first */
	unsigned at_old, cap_old;
	struct cap_reassembly_counters counters;
};

/** @p budget is shared by connections, and must outlive @p r. */
void cap_reassembly_init(struct cap_reassembly *r, const struct cap_reassembly_ops *ops, void *user,
	struct cap_reassembly_budget *budget);

/** Begin with the octet @p seq. */
void cap_reassembly_start(struct cap_reassembly *r, uint32_t seq);

/** It began with the octet @p seq, as its SYN says, which came late. */
void cap_reassembly_begin_earlier(struct cap_reassembly *r, uint32_t seq);

/** Process a segment of this direction, without SYN. */
void cap_reassembly_segment(
	struct cap_reassembly *r, const struct packet *p, const struct cap_frame *f);

/**
 * The peer has acknowledged up to @p ack. Text before it is lost if it is not in the capture.
 * Frames of a capture may be slightly out of order, so it waits for a few segments.
 */
void cap_reassembly_ack(struct cap_reassembly *r, uint32_t ack);

/** Give up waiting for what is missing before @p end. */
void cap_reassembly_give_up_to(struct cap_reassembly *r, uint32_t end);

/** Stop waiting for missing text: report it as lost, and hand up the text behind it. */
void cap_reassembly_flush(struct cap_reassembly *r);

/**
 * Is the octet @p seq too far from the next one to be sent now?
 * @return how many segments in a row must say so, to be believed; 0: it is not.
 */
unsigned cap_reassembly_far(const struct cap_reassembly *r, uint32_t seq);

/** Go on with the octet @p seq, wherever that is: what is before it is lost. */
void cap_reassembly_jump(struct cap_reassembly *r, uint32_t seq);

/** Pieces that wait are dropped. Flush before. */
void cap_reassembly_free(struct cap_reassembly *r);

/** True if text before @p ack has not been handed up. */
static inline bool cap_reassembly_lacks(const struct cap_reassembly *r, uint32_t ack)
{
	int32_t n = (int32_t)(ack - r->next);

	return r->known && n > (int32_t)r->fin && n < REASSEMBLY_WINDOW_MAX;
}

/** True if the peer has acknowledged text that has not been handed up. */
static inline bool cap_reassembly_behind(const struct cap_reassembly *r)
{
	return r->acked_set && cap_reassembly_lacks(r, r->acked);
}

#endif
