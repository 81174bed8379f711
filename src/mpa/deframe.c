/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/deframe.h"

/* Copy without moving: for fields, wherever the segments were cut. */
static void mpa_deframe_peek(struct mpa_cursor c, size_t skip, uint8_t *out, size_t len)
{
	mpa_cursor_pass(&c, skip);
	mpa_cursor_copy(&c, out, len);
}

static uint32_t mpa_deframe_crc_of_pieces(struct mpa_cursor c, size_t len)
{
	uint32_t crc = MPA_CRC_START;

	while (len != 0) {
		size_t n = mpa_cursor_run(&c);

		if (n > len)
			n = len;
		crc = mpa_crc_add(crc, mpa_cursor_at(&c), n);
		mpa_cursor_pass(&c, n);
		len -= n;
	}
	return mpa_crc_end(crc);
}

/* Over all from a marker before the FPDU to one behind the pad (RFC 5044 section 4.4). */
static bool mpa_deframe_crc_good(const struct mpa_cursor *c, size_t body)
{
	uint8_t field[MPA_CRC_LEN];

	if (mpa_cursor_run(c) >= body + MPA_CRC_LEN) {
		const uint8_t *p = mpa_cursor_at(c);

		return mpa_crc_end(mpa_crc_add(MPA_CRC_START, p, body)) == load_le32(p + body);
	}
	mpa_deframe_peek(*c, body, field, sizeof field);
	return mpa_deframe_crc_of_pieces(*c, body) == load_le32(field);
}

static uint16_t mpa_deframe_load_field(const struct mpa_cursor *c, size_t skip)
{
	uint8_t field[2];

	if (mpa_cursor_run(c) >= skip + sizeof field)
		return load_be16(mpa_cursor_at(c) + skip);
	mpa_deframe_peek(*c, skip, field, sizeof field);
	return load_be16(field);
}

/*
 * Section 8, code 3. Section 4.3: all markers of an FPDU point to its length field, but one right
 * before it says 0. An FPDU too long for FPDUPTR cannot have come in one segment; its last markers
 * are checked as far as 16 bits go.
 */
static bool mpa_deframe_markers_good(
	const struct mpa_deframe *d, const struct mpa_cursor *c, struct mpa_fpdu *f)
{
	uint64_t header = mpa_fpdu_header_at(d->at), end = d->at + f->len;

	for (uint64_t m = d->at + mpa_marker_distance(d->at); m < end; m += MPA_MARKER_PERIOD) {
		uint16_t should = (uint16_t)(m < header ? 0 : m - header);
		uint16_t is = mpa_deframe_load_field(c, (size_t)(m - d->at) + MPA_AT_FPDUPTR);

		if ((is & MPA_FPDUPTR_MASK) != should) {
			f->marker_at = m;
			f->fpduptr = should;
			return false;
		}
	}
	return true;
}

/* The length field is never cut by a marker, as both are aligned to four octets. */
static enum mpa_deframe_result mpa_deframe_look_marked(
	const struct mpa_deframe *d, const struct mpa_cursor *c, size_t len, struct mpa_fpdu *f)
{
	uint32_t lead = (uint32_t)(mpa_fpdu_header_at(d->at) - d->at), plain;

	f->len = lead + MPA_FPDU_HEADER_LEN;
	if (len < f->len)
		return MPA_DEFRAME_MORE;
	f->ulpdu.len = mpa_deframe_load_field(c, lead);
	plain = mpa_fpdu_len(f->ulpdu.len);
	f->len = plain + mpa_marker_bytes(d->at, plain);
	if (len < f->len)
		return MPA_DEFRAME_MORE;
	f->ulpdu.at = *c;
	mpa_cursor_pass(&f->ulpdu.at, lead + MPA_FPDU_HEADER_LEN);
	f->ulpdu.at.marker = mpa_marker_distance(d->at + lead + MPA_FPDU_HEADER_LEN);
	if (d->crc && !mpa_deframe_crc_good(c, f->len - MPA_CRC_LEN))
		return MPA_DEFRAME_CRC;
	return mpa_deframe_markers_good(d, c, f) ? MPA_DEFRAME_GOOD : MPA_DEFRAME_MARKER;
}

enum mpa_deframe_result mpa_deframe_look_closely(
	const struct mpa_deframe *d, struct mpa_cursor c, size_t len, struct mpa_fpdu *f)
{
	if (d->markers)
		return mpa_deframe_look_marked(d, &c, len, f);
	f->len = MPA_FPDU_HEADER_LEN;
	if (len < MPA_FPDU_HEADER_LEN)
		return MPA_DEFRAME_MORE;
	f->ulpdu.len = mpa_deframe_load_field(&c, 0);
	f->len = mpa_fpdu_len(f->ulpdu.len);
	if (len < f->len)
		return MPA_DEFRAME_MORE;
	f->ulpdu.at = c;
	mpa_cursor_pass(&f->ulpdu.at, MPA_FPDU_HEADER_LEN);
	return d->crc && !mpa_deframe_crc_good(&c, f->len - MPA_CRC_LEN) ? MPA_DEFRAME_CRC
									 : MPA_DEFRAME_GOOD;
}

/* The FPDU with its length field at @header begins there, or at a marker right before. */
static uint64_t mpa_deframe_begin_of(uint64_t header)
{
	return header % MPA_MARKER_PERIOD == MPA_MARKER_LEN ? header - MPA_MARKER_LEN : header;
}

bool mpa_deframe_find(const struct mpa_deframe *d, uint64_t at, const struct mpa_cursor *c,
	size_t len, uint64_t *start)
{
	uint64_t end = at + len;

	if (!d->markers)
		return false;
	for (uint64_t m = at + mpa_marker_distance(at); m < end && end - m >= MPA_MARKER_LEN;
		m += MPA_MARKER_PERIOD) {
		uint64_t back = mpa_deframe_load_field(c, (size_t)(m - at) + MPA_AT_FPDUPTR) &
				MPA_FPDUPTR_MASK;

		if (back > m - at)
			continue; /* begins before this part, or never */
		*start = mpa_deframe_begin_of(m - back);
		if (*start >= at)
			return true;
	}
	return false;
}
