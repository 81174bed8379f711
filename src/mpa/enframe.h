/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file enframe.h
 * Makes FPDUs for the stream (RFC 5044 section 4). It is the sending side of one direction in full
 * operation, with or without markers and CRCs. It is the counterpart of deframe.h and counts octets
 * in the same way.
 *
 * The caller reserves room for the FPDU and writes the ULPDU in one piece, behind the first
 * mpa_enframe_lead() octets. mpa_enframe_finish() does the rest in place. To insert markers it
 * moves the bytes behind them. That is a second pass over bytes in the cache.
 *
 * Payload out of the program's memory is best copied by mpa_enframe_gather(): CRC and checksum are
 * then made in the same pass.
 */
#ifndef MPA_ENFRAME_H
#define MPA_ENFRAME_H

#include "base/bytes.h"
#include "base/digest.h"
#include "base/guarded.h"
#include "llp/llp.h"
#include "mpa/crc.h"
#include "mpa/mpa_wire.h"

#include <stdbool.h>
#include <stdint.h>

/** One direction. */
struct mpa_enframe {
	uint64_t at; /**< octet of the stream where the next FPDU begins */
	bool crc;    /**< CRCs are made */
	bool markers;
	bool sums; /**< the sum of the FPDU that is being made is wanted, for the LLP */
	/** The FPDU that is being made has this digest up to there. NULL: of a short one, or with
	 * markers, it is made at the end. */
	const uint8_t *digested;
	struct digest digest;
};

/** For less, the calls would cost more than a second pass. */
#define MPA_ENFRAME_LONG 256

/** Begin right behind the start-up frame. */
static inline void mpa_enframe_init(struct mpa_enframe *e, bool crc, bool markers)
{
	*e = (struct mpa_enframe){.crc = crc, .markers = markers};
}

/** Octets of the next FPDU if its ULPDU has @p len octets. */
static inline uint32_t mpa_enframe_len(const struct mpa_enframe *e, uint32_t len)
{
	uint32_t plain = mpa_fpdu_len(len);

	return e->markers ? plain + mpa_marker_bytes(e->at, plain) : plain;
}

/** Octets of the next FPDU before its ULPDU. */
static inline uint32_t mpa_enframe_lead(const struct mpa_enframe *e)
{
	bool marked = e->markers && mpa_marker_distance(e->at) == 0;

	return MPA_FPDU_HEADER_LEN + (marked ? MPA_MARKER_LEN : 0);
}

/** What a digest is made of. 0: it is not needed. */
static inline enum digest_what mpa_enframe_what(const struct mpa_enframe *e)
{
	return (enum digest_what)((e->crc ? DIGEST_CRC : 0) | (e->sums ? DIGEST_SUM : 0));
}

/**
 * Digest the FPDU while it is made, which is worth it from MPA_ENFRAME_LONG on. Its ULPDU will be
 * written from the first octet to the last.
 * @param room as for mpa_enframe_finish(), which must be called, or mpa_enframe_cancel(), before
 *        the next.
 * @param sums the sum of the FPDU is wanted, too.
 */
static inline void mpa_enframe_begin(struct mpa_enframe *e, uint8_t *room, uint32_t len, bool sums)
{
	e->sums = sums;
	if (e->markers || mpa_enframe_what(e) == 0)
		return;
	store_be16(room, (uint16_t)len);
	e->digested = room;
	e->digest = (struct digest){.crc = MPA_CRC_START};
}

/** Nothing becomes of it. */
static inline void mpa_enframe_cancel(struct mpa_enframe *e)
{
	e->digested = NULL;
	e->sums = false;
}

/** mpa_enframe_gather() while the FPDU is digested. */
bool mpa_enframe_gather_digested(
	struct mpa_enframe *e, uint8_t *to, const void *from, uint32_t len);

/**
 * Copy a part of the ULPDU out of the program's memory to @p to. All octets before are written, and
 * stay as they are.
 * @return false: that memory is not there.
 */
static inline bool mpa_enframe_gather(
	struct mpa_enframe *e, uint8_t *to, const void *from, uint32_t len)
{
	/* A small part is taken in with what follows it. */
	if (!e->digested || len < MPA_ENFRAME_LONG)
		return guarded_copy_from(to, from, len);
	return mpa_enframe_gather_digested(e, to, from, len);
}

/** mpa_enframe_finish() with markers, and of what is digested. */
uint32_t mpa_enframe_finish_marked(struct mpa_enframe *e, uint8_t *room, uint32_t len);
uint32_t mpa_enframe_finish_digested(struct mpa_enframe *e, uint8_t *room, uint32_t body);

/**
 * Make the FPDU: length, pad, markers, CRC.
 * @param room mpa_enframe_len(e, len) octets, with the ULPDU at mpa_enframe_lead(e).
 * @return its sum, for llp_commit_summed(); LLP_SUM_UNKNOWN perhaps.
 */
static inline uint32_t mpa_enframe_finish(struct mpa_enframe *e, uint8_t *room, uint32_t len)
{
	uint32_t body = mpa_fpdu_body(len), crc = 0;

	if (e->markers)
		return mpa_enframe_finish_marked(e, room, len);
	store_be16(room, (uint16_t)len);
	for (uint32_t i = MPA_FPDU_HEADER_LEN + len; i < body; i++)
		room[i] = 0;
	if (e->digested)
		return mpa_enframe_finish_digested(e, room, body);
	/* An unused CRC field may hold any value (section 4.1). We send zeros, as siw does. */
	if (e->crc)
		crc = mpa_crc_end(mpa_crc_add(MPA_CRC_START, room, body));
	store_le32(room + body, crc);
	e->at += body + MPA_CRC_LEN;
	return LLP_SUM_UNKNOWN;
}

/**
 * May a part of the ULPDU stay where it lies? Not if a CRC is made: it would be of what was there
 * before the device reads it, and the program may write meanwhile. Not among markers.
 */
static inline bool mpa_enframe_takes_external(const struct mpa_enframe *e)
{
	return !e->crc && !e->markers;
}

/** The FPDU is queued, without mpa_enframe_finish(): the length was written, and zeros follow. */
static inline void mpa_enframe_pass(struct mpa_enframe *e, uint32_t len)
{
	e->at += mpa_fpdu_len(len);
}

/** The MULPDU for segments of @p emss octets (section 4.5). 128 to 64,768. */
uint32_t mpa_enframe_mulpdu(const struct mpa_enframe *e, uint32_t emss);

#endif
