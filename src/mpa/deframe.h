/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file deframe.h
 * FPDUs out of a stream of bytes (RFC 5044 sections 4 and 6): the receive side of one direction in
 * full operation, with or without markers and CRCs, whatever the segment boundaries.
 *
 * Pure functions over a small state that no connection is needed for: a live connection uses it
 * (fpdu.h), out-of-order placement asks it where FPDUs begin, and the checker for captures gives it
 * one direction of a capture.
 *
 * The stream is counted from the first octet behind the start-up frame of that direction. An FPDU
 * *begins* at its ULPDU Length field or, if a marker falls between it and the one before, at that
 * marker, which belongs to it (section 4.3).
 */
#ifndef MPA_DEFRAME_H
#define MPA_DEFRAME_H

#include "base/bytes.h"
#include "mpa/crc.h"
#include "mpa/cursor.h"
#include "mpa/mpa_wire.h"

#include <stdbool.h>

/**
 * A received FPDU's ULPDU, complete, its CRC good; in the LLP's own memory, valid during the
 * upcall. It may end before the last piece does.
 */
struct mpa_ulpdu {
	struct mpa_cursor at; /**< its first byte */
	uint32_t len;
};

/** One direction. The fields may be read, and copied to look elsewhere in the stream. */
struct mpa_deframe {
	uint64_t at; /**< octet of the stream where the next FPDU begins */
	bool crc;    /**< CRCs are checked */
	bool markers;
};

enum mpa_deframe_result {
	MPA_DEFRAME_MORE, /**< the FPDU is not all here */
	MPA_DEFRAME_GOOD,
	MPA_DEFRAME_CRC,    /**< the whole FPDU is here, but its CRC is wrong */
	MPA_DEFRAME_MARKER, /**< its CRC is right (or not used), but a marker in it is wrong */
};

/** What mpa_deframe_look() saw. */
struct mpa_fpdu {
	/** Its octets in the stream, markers, pad and CRC included. With MPA_DEFRAME_MORE, how many
	 * there must be at least before it is worth to look again. */
	uint32_t len;
	struct mpa_ulpdu ulpdu; /**< not with MPA_DEFRAME_MORE; may be read in spite of errors */
	/** With MPA_DEFRAME_MARKER: the octet of the stream where that marker begins, and what its
	 * FPDUPTR should be (0: it falls between FPDUs). */
	uint64_t marker_at;
	uint16_t fpduptr;
};

/** Begin right behind the start-up frame. */
static inline void mpa_deframe_init(struct mpa_deframe *d, bool crc, bool markers)
{
	*d = (struct mpa_deframe){.crc = crc, .markers = markers};
}

/** mpa_deframe_look() where it is not so simple. @p c by value: the caller's stays in registers. */
enum mpa_deframe_result mpa_deframe_look_closely(
	const struct mpa_deframe *d, struct mpa_cursor c, size_t len, struct mpa_fpdu *f);

/**
 * Look at the FPDU that begins at d->at. The usual one, whole in one piece and without markers, is
 * done with here: this is in the way of every byte that comes.
 * @param c there, without markers (c->marker is 0).
 * @param len bytes that are here from there.
 */
static inline enum mpa_deframe_result mpa_deframe_look(
	const struct mpa_deframe *d, const struct mpa_cursor *c, size_t len, struct mpa_fpdu *f)
{
	const uint8_t *p;
	uint32_t body;
	size_t run;

	if (d->markers || len < MPA_FPDU_HEADER_LEN || c->v->len - c->off < MPA_FPDU_HEADER_LEN)
		return mpa_deframe_look_closely(d, *c, len, f);
	p = mpa_cursor_at(c);
	run = c->v->len - c->off;
	f->ulpdu.len = load_be16(p);
	body = mpa_fpdu_body(f->ulpdu.len);
	f->len = body + MPA_CRC_LEN;
	if (len < f->len || run < f->len)
		return mpa_deframe_look_closely(d, *c, len, f);
	/*
	 * The CRC at least lies behind in this piece. Field by field: a copy of what was written
	 * so has to wait for it.
	 */
	f->ulpdu.at =
		(struct mpa_cursor){.v = c->v, .n = c->n, .off = c->off + MPA_FPDU_HEADER_LEN};
	if (d->crc && mpa_crc_end(mpa_crc_add(MPA_CRC_START, p, body)) != load_le32(p + body))
		return MPA_DEFRAME_CRC;
	return MPA_DEFRAME_GOOD;
}

/** Pass it: the next one begins behind it. @p c is moved likewise. */
static inline void mpa_deframe_pass(
	struct mpa_deframe *d, struct mpa_cursor *c, const struct mpa_fpdu *f)
{
	d->at += f->len;
	mpa_cursor_pass(c, f->len);
}

/**
 * Find by markers where an FPDU begins inside a part of the stream, whatever came before it
 * (section 6 rule 2). The markers are believed as they are: look at the FPDU, and believe a good
 * CRC.
 * @param at octet of the stream where the part begins; @p c, @p len: its bytes.
 * @param[out] start octet of the stream where the first FPDU that a marker tells of begins, in
 *             [at, at + len).
 * @return false: no markers in this direction, or none here that points into the part.
 */
bool mpa_deframe_find(const struct mpa_deframe *d, uint64_t at, const struct mpa_cursor *c,
	size_t len, uint64_t *start);

#endif
