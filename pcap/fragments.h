/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fragments.h
 * Reassembles IP fragments (RFC 791 section 3.2, RFC 8200 section 4.5) without a copy: each
 * fragment becomes a part of one TCP segment, which may lie in a tunnel. Datagrams of the port
 * mapper, which are few, are copied. The number of incomplete packets is limited. The oldest is
 * dropped first.
 */
#ifndef PCAP_FRAGMENTS_H
#define PCAP_FRAGMENTS_H

#include "pcap/packet.h"

/** Limit of fragments of one packet: more than 64 KB need with IPv6's smallest MTU. */
#define FRAGMENTS_PARTS 64

/** A part of a TCP segment, from one fragment. */
struct fragments_part {
	struct packet p;
	uint64_t frame;
	bool counted; /**< it was in a segment before */
	bool other;   /**< it is no TCP that they make; the first may have `unread` */
	bool mapper;  /**< the first has all of the text: a datagram of the port mapper */
};

struct fragments;

/** @return NULL: out of memory. */
struct fragments *fragments_new(void);
void fragments_free(struct fragments *t);

/**
 * Process the fragment @p p of frame @p f.
 * @param[out] parts the parts of a segment that is complete now, in order. Each has its own text
 *                   and sequence number. All but the first have `continues`. Valid until the next
 *                   call.
 * @return how many; 0: it is not complete, or it is dropped: fragments overlap (RFC 5722), the
 *         first has no whole TCP header, or there are too many.
 */
unsigned fragments_take(struct fragments *t, const struct packet *p, const struct cap_frame *f,
	const struct fragments_part **parts);

#endif
