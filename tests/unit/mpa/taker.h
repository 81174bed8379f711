/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file taker.h
 * A user of MPA that takes ULPDUs early, and knows what each of them has to be.
 */
#ifndef TESTS_UNIT_MPA_TAKER_H
#define TESTS_UNIT_MPA_TAKER_H

#include "mpa_user.h"
#include "stream.h"

#define TAKER_FPDUS 400
#define TAKER_LEN   600u /**< of most ULPDUs */

struct taker {
	struct mpa_user *u;
	struct stream s; /**< what the peer sends */
	uint32_t begin[TAKER_FPDUS + 1];
	uint32_t ulpdu_len[TAKER_FPDUS];
	unsigned fpdus;          /**< made */
	unsigned offers;         /**< placement() */
	unsigned next;           /**< the next FPDU in order should be this one */
	unsigned placed;         /**< of these, by placed() */
	bool early[TAKER_FPDUS]; /**< its payload was used: place() */
	int fail;                /**< place() of this FPDU does; -1: of none */
	int failed;              /**< the first that placed() says so of; -1: none */
	uint32_t kept;           /**< bytes to keep; 0: refuse */
	int refuse;              /**< this FPDU alone; -1: none */
	unsigned abort_at;       /**< in placed() */
	unsigned drop_at;        /**< likewise: its user hears no more */
	int hold;                /**< this FPDU, when its turn comes; -1: none */
	bool held;
};

/** Operational, with these in both directions. @param in_order nothing is to be taken early. */
struct taker *taker_start(bool crc, bool markers, bool in_order);
void taker_end(struct taker *t);

/** One more FPDU at the end of the stream; nothing is sent. */
void taker_make(struct taker *t, uint32_t len);
/** The same in another stream. @return where it begins. */
uint32_t taker_make_in(struct taker *t, struct stream *s, uint32_t len);
/** One segment: the stream's bytes from @p from to @p to. */
void taker_send(struct taker *t, uint32_t from, uint32_t to);
/** @p n FPDUs in segments of their own. */
void taker_make_and_send(struct taker *t, unsigned n, uint32_t len);

void taker_run(struct taker *t);
/** In order, for so long that the stream is known to be aligned. */
void taker_warm_up(struct taker *t);
/** Segment @p k of those under way comes now. @return that it was taken. */
bool taker_early(struct taker *t, unsigned k);
/** The rest comes: each FPDU once and in its turn, @p placed of them early so far. */
void taker_expect_all(struct taker *t, unsigned placed);

#endif
