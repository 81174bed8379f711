/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tally.h How often requests and receives ended in each way: what a run has reached. */
#ifndef TESTS_VOPR_TALLY_H
#define TESTS_VOPR_TALLY_H

#include "rdmap/rdmap.h"

#define TALLY_OPS      (RDMAP_WC_RECV_IMM + 1)
#define TALLY_STATUSES (RDMAP_WC_RETRY_EXC_ERR + 1)

/** Completions by opcode and status, as they were told. */
struct tally {
	uint64_t n[TALLY_OPS][TALLY_STATUSES];
};

void tally_add(struct tally *to, const struct tally *from);
/** A line for each opcode. */
void tally_print(const struct tally *t);
/** Say which ways that programs can reach came fewer than @p floor times. @return their number. */
unsigned tally_missing(const struct tally *t, uint64_t floor);

#endif
