/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sack.h
 * What we report in SACK options (RFC 2018 section 4, RFC 2883): the islands beyond RCV.NXT, most
 * recently changed first, and before them a duplicate. Islands are remembered by a byte in each,
 * and looked up when an option is written: so no block can tell of what is not held.
 */
#ifndef TCP_SACK_H
#define TCP_SACK_H

#include "tcp/ooo.h"
#include "tcp/tcp_wire.h"

/** Islands remembered: more than fit an option, as some join or are delivered. */
#define TCP_SACK_RECENT 6

/** Zero-initialised is empty. */
struct tcp_sack_out {
	uint32_t recent[TCP_SACK_RECENT]; /**< a byte of each, the newest first */
	struct tcp_range dup;             /**< to be reported once (RFC 2883 section 4) */
	uint8_t n;
	uint8_t fresh; /**< how many of them no option has told yet */
	bool has_dup;
};

/** Byte @p seq, which @p o holds, was touched by a segment that came now. */
void tcp_sack_add(struct tcp_sack_out *s, const struct tcp_ooo *o, uint32_t seq);

/** These bytes came a second time. */
static inline void tcp_sack_duplicate(struct tcp_sack_out *s, struct tcp_range r)
{
	s->dup = r;
	s->has_dup = true;
}

/** There is something that no option has told yet. */
static inline bool tcp_sack_is_news(const struct tcp_sack_out *s)
{
	return s->has_dup || s->fresh;
}

/** After one more segment an option of @p max blocks might not hold the news: send it before. */
static inline bool tcp_sack_is_full(const struct tcp_sack_out *s, unsigned max)
{
	return s->has_dup || s->fresh + 2u > max;
}

/** Put up to @p max blocks into @p seg, a D-SACK first; what is told is no news any more. */
void tcp_sack_emit(
	struct tcp_sack_out *s, const struct tcp_ooo *o, struct tcp_segment *seg, unsigned max);

#endif
