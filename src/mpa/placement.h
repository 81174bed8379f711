/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file placement.h
 * FPDUs of segments that come before what precedes them (RFC 5044 section 6 and appendix A.3):
 * which of them can be believed, and what stays of those that the user took. docs/placement.md.
 */
#ifndef MPA_PLACEMENT_H
#define MPA_PLACEMENT_H

#include "mpa/mpa.h"

/** As llp's ooo(). */
bool mpa_placement_input(struct mpa *m, const struct llp_iov *v, unsigned n, size_t total,
	uint64_t ahead, struct llp_note *note);

/**
 * As llp's taken(). The user may end the connection meanwhile: check *m->gone through a copy of the
 * pointer before touching @p m.
 */
void mpa_placement_taken(struct mpa *m, const struct llp_note *note);

/**
 * Text was shown in order: is the stream aligned, so that each segment is whole FPDUs?
 * @param partial it ended inside of an FPDU.
 */
static inline void mpa_placement_learn(struct mpa *m, bool partial)
{
	if (partial)
		m->rx_aligned = 0;
	else if (m->rx_aligned < MPA_ALIGNED_ENOUGH)
		m->rx_aligned++;
}

#endif
