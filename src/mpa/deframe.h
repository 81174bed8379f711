/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file deframe.h
 * Finds FPDUs in a stream of bytes (RFC 5044 sections 4 and 6). It is the receive side of one
 * direction in full operation, with or without markers and CRCs. Segment boundaries do not matter.
 *
 * Pure functions over a small state that needs no connection. It is used by connections (fpdu.h),
 * by out-of-order placement, and by the checker for captures.
 *
 * Octets of the stream are counted from the first one behind the start-up frame of that direction.
 * An FPDU *begins* at its ULPDU Length field. If there is a marker before that field, the FPDU
 * begins at the marker, which belongs to it (section 4.3).
 */
#ifndef MPA_DEFRAME_H
#define MPA_DEFRAME_H

#include "base/bytes.h"
#include "mpa/crc.h"
#include "mpa/cursor.h"
#include "mpa/mpa_wire.h"

#include <stdbool.h>

/**
 * The ULPDU of a received FPDU that is complete and has a good CRC. It lies in the LLP's memory and
 * is valid during the upcall. It may end before the last piece does.
 */
struct mpa_ulpdu {
	struct mpa_cursor at; /**< its first byte */
	uint32_t len;
};

/** One direction. The fields may be read. A copy can be used to look elsewhere in the stream. */
struct mpa_deframe {
	uint64_t at; /**< octet of the stream where the next FPDU begins */
	bool crc;    /**< CRCs are checked */
	bool markers;
};

enum mpa_deframe_result {
	MPA_DEFRAME_MORE, /**< the FPDU is not complete */
	MPA_DEFRAME_GOOD,
	MPA_DEFRAME_CRC,    /**< the FPDU is complete, but its CRC is wrong */
	MPA_DEFRAME_MARKER, /**< the CRC is right (or not used), but a marker is wrong */
};

/** What mpa_deframe_look() saw. */
struct mpa_fpdu {
	/**
	 * Its octets in the stream, including markers, pad and CRC. With MPA_DEFRAME_MORE: do not
	 * look again before at least so many are there.
	 */
	uint32_t len;
	struct mpa_ulpdu ulpdu; /**< not with MPA_DEFRAME_MORE; valid also after errors */
	/**
	 * With MPA_DEFRAME_MARKER: the octet of the stream where that marker begins, and its right
	 * FPDUPTR (0: it lies between FPDUs).
	 */
	uint64_t marker_at;
	uint16_t fpduptr;
};

/** Begin right behind the start-up frame. */
static inline void mpa_deframe_init(struct mpa_deframe *d, bool crc, bool markers)
{
	*d = (struct mpa_deframe){.crc = crc, .markers = markers};
}

/** The slow path of mpa_deframe_look(). @p c by value, so that the caller's stays in registers. */
enum mpa_deframe_result mpa_deframe_look_closely(
	const struct mpa_deframe *d, struct mpa_cursor c, size_t len, struct mpa_fpdu *f);

/** For less, a second pass is cheap. */
#define MPA_DEFRAME_LONG 256

/**
 * If an FPDU begins with this text, in one piece and without markers: how many of its octets are
 * covered by its CRC? For llp's crc_covers(). 0: none begins here, or it is not all here, or short.
 */
static inline size_t mpa_deframe_covered(
	const struct mpa_deframe *d, const uint8_t *text, size_t len)
{
	uint32_t body;

	if (!d->crc || d->markers || len < MPA_DEFRAME_LONG)
		return 0;
	body = mpa_fpdu_body(load_be16(text));
	return body >= MPA_DEFRAME_LONG && body + MPA_CRC_LEN <= len ? body : 0;
}

/** The CRC of @p body octets at @p c, where the piece has them: perhaps the LLP made it. */
static inline uint32_t mpa_deframe_crc(const struct mpa_cursor *c, uint32_t body)
{
	if (c->off == 0 && c->v->crc_len == body)
		return mpa_crc_end(c->v->crc);
	return mpa_crc_end(mpa_crc_add(MPA_CRC_START, mpa_cursor_at(c), body));
}

/**
 * Look at the FPDU that begins at d->at. The common case is inline, as it is on the data path: an
 * FPDU in one piece, without markers.
 * @param c a cursor at d->at that knows no markers (c->marker is 0).
 * @param len bytes from there that have come.
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
	if (d->crc && mpa_deframe_crc(c, body) != load_le32(p + body))
		return MPA_DEFRAME_CRC;
	return MPA_DEFRAME_GOOD;
}

/** Pass the FPDU, in @p d and @p c. */
static inline void mpa_deframe_pass(
	struct mpa_deframe *d, struct mpa_cursor *c, const struct mpa_fpdu *f)
{
	d->at += f->len;
	mpa_cursor_pass(c, f->len);
}

/**
 * Find by markers where an FPDU begins inside a part of the stream, without the bytes before it
 * (section 6 rule 2). Markers are not checked: look at the FPDU, and rely on its CRC.
 * @param at octet of the stream where the part begins; @p c, @p len: its bytes.
 * @param[out] start octet of the stream, in [at, at + len), where the first FPDU begins that a
 *                   marker points to.
 * @return false: there are no markers in this direction, or none points into the part.
 */
bool mpa_deframe_find(const struct mpa_deframe *d, uint64_t at, const struct mpa_cursor *c,
	size_t len, uint64_t *start);

#endif
