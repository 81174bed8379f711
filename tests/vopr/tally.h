/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tally.h How often requests and receives ended in each way: what a run has reached. */
#ifndef TESTS_VOPR_TALLY_H
#define TESTS_VOPR_TALLY_H

#include "rdmap/rdmap.h"
#include "vopr/model.h"

#define TALLY_OPS      (RDMAP_WC_RECV_IMM + 1)
#define TALLY_STATUSES (RDMAP_WC_RETRY_EXC_ERR + 1)

/** What else is counted. */
enum tally_other {
	TALLY_EVENT_ANY,       /**< a CQ tells, and was asked for any completion */
	TALLY_EVENT_SOLICITED, /**< it was asked for solicited ones, and tells of a message */
	TALLY_EVENT_FAILED,    /**< likewise, of a failure */
	TALLY_FOUND,           /**< memory on demand was looked for, and was there */
	TALLY_MISSING,         /**< it was not */
	TALLY_UD_SENT,
	TALLY_UD_RECEIVED,
	TALLY_UD_DROPPED, /**< datagrams that no receive takes */
	TALLY_UD_FAILED,  /**< requests, but for those flushed */
	TALLY_OTHERS
};

/** Completions by opcode and status, as they were told. */
struct tally {
	uint64_t n[TALLY_OPS][TALLY_STATUSES];
	uint64_t other[TALLY_OTHERS];
};

/** An event of a CQ that was asked for @p asked has told of @p wc. */
void tally_event(struct tally *t, enum model_arm asked, const struct rdmap_wc *wc);
void tally_add(struct tally *to, const struct tally *from);
/** A line for each opcode. */
void tally_print(const struct tally *t);
/** Say which ways that programs can reach came fewer than @p floor times. @return their number. */
unsigned tally_missing(const struct tally *t, uint64_t floor);

#endif
