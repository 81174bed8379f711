/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fragments.h
 * IP packets that came in fragments (RFC 791 section 3.2, RFC 8200 section 4.5), put together
 * without a copy: each fragment becomes a part of one TCP segment. Packets in the making are
 * bounded; the oldest goes first.
 */
#ifndef PCAP_FRAGMENTS_H
#define PCAP_FRAGMENTS_H

#include "pcap/packet.h"

/** Fragments of one packet; 64 KB in those of IPv6's smallest MTU are fewer. */
#define FRAGMENTS_PARTS 64

/** A part of the TCP segment, as its fragment came. */
struct fragments_part {
	struct packet p;
	uint64_t frame;
};

struct fragments;

/** @return NULL: out of memory. */
struct fragments *fragments_new(void);
void fragments_free(struct fragments *t);

/**
 * Take the fragment @p p of frame @p f.
 * @param[out] parts of the segment that is complete now, in order, each with its own text and
 *             sequence number; all but the first with `continues`. Valid until the next call.
 * @return how many; 0: it is not complete, or never will be: fragments that overlap (RFC 5722), no
 *         whole TCP header in the first, too many.
 */
unsigned fragments_take(struct fragments *t, const struct packet *p, const struct cap_frame *f,
	const struct fragments_part **parts);

#endif
