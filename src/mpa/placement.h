/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file placement.h
 * FPDUs in segments that come before their turn (RFC 5044 section 6 and appendix A.3): which of
 * them are trusted, and the notes about those that were placed. See docs/placement.md.
 */
#ifndef MPA_PLACEMENT_H
#define MPA_PLACEMENT_H

#include "mpa/mpa.h"

/** As llp's ooo(). */
bool mpa_placement_input(struct mpa *m, const struct llp_iov *v, unsigned n, size_t total,
	uint64_t ahead, struct llp_note *note);

/** As llp's taken(). The user may end the connection in an upcall; see mpa_fpdu_input(). */
void mpa_placement_taken(struct mpa *m, const struct llp_note *note);

/**
 * Bytes were shown in order. Learn from them whether the peer's segments consist of whole FPDUs.
 * @param partial the bytes ended inside an FPDU.
 */
static inline void mpa_placement_learn(struct mpa *m, bool partial)
{
	if (partial)
		m->rx_aligned = 0;
	else if (m->rx_aligned < MPA_ALIGNED_ENOUGH)
		m->rx_aligned++;
}

#endif
