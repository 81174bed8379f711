/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sack.h
 * What we report in SACK options (RFC 2018 section 4, RFC 2883): the blocks that we hold beyond
 * RCV.NXT, most recent first, and the last duplicate.
 */
#ifndef TCP_SACK_H
#define TCP_SACK_H

#include "tcp/seq.h"
#include "tcp/tcp_wire.h"

/** Blocks remembered; more than fit an option, so that merging works across them. */
#define TCP_SACK_BLOCKS 6

/** Zero-initialised is empty. */
struct tcp_sack_out {
	struct tcp_range block[TCP_SACK_BLOCKS];
	struct tcp_range dup; /**< to be reported once (RFC 2883 section 4) */
	uint8_t n;
	bool has_dup;
};

/** Bytes [left, right) arrived out of order: they, with what they touch, become the first block. */
void tcp_sack_add(struct tcp_sack_out *s, struct tcp_range r);

/** RCV.NXT moved to @p next: forget the blocks before it. */
void tcp_sack_advance(struct tcp_sack_out *s, uint32_t next);

/** These bytes came a second time. */
static inline void tcp_sack_duplicate(struct tcp_sack_out *s, struct tcp_range r)
{
	s->dup = r;
	s->has_dup = true;
}

/** Put up to @p max blocks into @p seg, a D-SACK first, which is thereby reported. */
void tcp_sack_emit(struct tcp_sack_out *s, struct tcp_segment *seg, unsigned max);

#endif
