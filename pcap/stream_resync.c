/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include "base/bytes.h"
#include "rdmap/opcode.h"

/** FPDUs that look right in all but a CRC before CRCs count as not in use. */
#define LIKELY_ENOUGH 3

/* RFC 5040 section 4.3: the Invalidate STag of what invalidates none is zero. */
static bool stream_resync_is_stag_plausible(const struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	return s->tagged || s->ulp32 == 0 || opcode == RDMAP_OP_SEND_INV ||
	       opcode == RDMAP_OP_SEND_SE_INV;
}

bool stream_plausible(const struct mpa_fpdu *f)
{
	const struct rdmap_opcode_info *info;
	struct ddp_segment s;
	uint8_t control;

	if (f->ulpdu.len < DDP_TAGGED_LEN || ddp_parse(&s, &f->ulpdu) != DDP_OK)
		return false;
	control = *mpa_cursor_at(&f->ulpdu.at);
	info = rdmap_opcode_info(s.ulp & RDMAP_CONTROL_OPCODE);
	return (control & DDP_CONTROL_RESERVED) == 0 &&
	       (s.ulp & ~RDMAP_CONTROL_OPCODE) == RDMAP_CONTROL(0) && info &&
	       info->tagged == s.tagged && (s.tagged || info->qn == s.qn) &&
	       stream_resync_is_stag_plausible(&s);
}

static enum mpa_deframe_result stream_resync_look(
	const struct stream *s, bool crc, bool markers, struct mpa_fpdu *f)
{
	struct mpa_deframe d = {.at = s->deframe.at, .crc = crc, .markers = markers};
	struct mpa_cursor c = stream_cursor(s);

	return mpa_deframe_look(&d, &c, s->total, f);
}

bool stream_guess(struct stream *s)
{
	struct mpa_fpdu plain, marked;
	enum mpa_deframe_result without = stream_resync_look(s, true, false, &plain), with;

	if (!stream_captured(s, 0, s->total < 64 ? s->total : 64)) {
		s->guess = false;
		s->phase = STREAM_LOST;
		s->joined = true;
		s->deframe.markers = false;
		return true;
	}
	/* A stream with markers begins with one of value 0, which reads as an FPDU of nothing. */
	with = stream_resync_look(s, true, true, &marked);
	if (without == MPA_DEFRAME_MORE && with == MPA_DEFRAME_MORE)
		return false;
	/* With CRCs, right behind a start-up frame: whatever comes there has to be one. */
	s->unproved = s->start.seen && s->crc_known ? 0 : STREAM_PROOF;
	if (without == MPA_DEFRAME_GOOD && stream_plausible(&plain))
		s->deframe.crc = true;
	else if (with == MPA_DEFRAME_GOOD)
		s->deframe.crc = s->deframe.markers = true;
	else if (with == MPA_DEFRAME_CRC && stream_plausible(&marked))
		s->deframe.markers = true;
	else if (without == MPA_DEFRAME_MORE)
		return false;
	s->guess = false;
	s->crc_known = true;
	return true;
}

/** True if what is at @p at of the queue may be an FPDU, whether all of it is there or not. */
static bool stream_resync_may_begin(const struct stream *s, size_t at, const struct mpa_deframe *d)
{
	uint32_t lead = d->markers ? (uint32_t)(mpa_fpdu_header_at(d->at) - d->at) : 0;
	uint8_t field[MPA_FPDU_HEADER_LEN];
	struct mpa_cursor c = stream_cursor(s);
	struct mpa_fpdu f = {0};

	mpa_cursor_pass(&c, at + lead);
	mpa_cursor_copy(&c, field, sizeof field);
	f.ulpdu.len = load_be16(field);
	f.ulpdu.at = c;
	if (d->markers)
		f.ulpdu.at.marker = mpa_marker_distance(d->at + lead + MPA_FPDU_HEADER_LEN);
	return stream_plausible(&f);
}

bool stream_may_begin(const struct stream *s)
{
	return s->total >= STREAM_HEADERS && stream_resync_may_begin(s, 0, &s->deframe);
}

bool stream_begins_good(const struct stream *s, size_t at)
{
	struct mpa_deframe d = {
		.at = s->deframe.at + at, .crc = true, .markers = s->deframe.markers};
	struct mpa_cursor c = stream_cursor(s);
	struct mpa_fpdu f;

	if (s->total - at < STREAM_HEADERS)
		return false;
	mpa_cursor_pass(&c, at);
	return mpa_deframe_look(&d, &c, s->total - at, &f) == MPA_DEFRAME_GOOD &&
	       stream_plausible(&f) && stream_captured(s, at, f.len);
}

bool stream_is_fpdu(const struct piece *p)
{
	const struct mpa_deframe d = {.crc = true};
	struct llp_iov v = {.base = p->bytes, .len = p->len};
	struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_fpdu f;

	return p->bytes && p->len >= STREAM_HEADERS &&
	       mpa_deframe_look(&d, &c, p->len, &f) == MPA_DEFRAME_GOOD && stream_plausible(&f);
}

/* ---- joined in the middle ------------------------------------------------------------------- */

/* Two fields of 16 bits, wherever the pieces are cut. */
static uint32_t stream_resync_load_word(const struct mpa_cursor *c)
{
	struct mpa_cursor copy = *c;
	uint8_t word[MPA_MARKER_LEN];

	if (mpa_cursor_run(c) >= sizeof word)
		return load_be32(mpa_cursor_at(c));
	mpa_cursor_copy(&copy, word, sizeof word);
	return load_be32(word);
}

/**
 * Where markers lie is counted from the start-up frames (RFC 5044 section 4.3), which are not
 * there. But each says how far behind the beginning of its FPDU it lies, and so gives itself away:
 * 16 bits of zero, a distance at which an FPDU begins, and its other markers where they must be
 * then.
 * @param marker its offset in the queue, @param back what it says
 * @param[out] d that FPDU, without CRCs if it has none, @param[out] begin where it is in the queue
 * @return CRC: all but that is right; MARKER: nothing of it.
 */
static enum mpa_deframe_result stream_resync_try_marker(
	const struct stream *s, size_t marker, size_t back, struct mpa_deframe *d, size_t *begin)
{
	/* The queue's first octet, counted so that this is a marker. */
	uint64_t at = MPA_MARKER_PERIOD - marker % MPA_MARKER_PERIOD, start = at + marker - back;
	struct mpa_deframe there = {.markers = true};
	struct mpa_cursor c = stream_cursor(s);
	enum mpa_deframe_result r;
	struct mpa_fpdu f;

	if (start % MPA_MARKER_PERIOD == MPA_MARKER_LEN)
		start -= MPA_MARKER_LEN; /* there is one before its length too */
	if (start < at)
		return MPA_DEFRAME_MARKER;
	*begin = (size_t)(start - at);
	*d = (struct mpa_deframe){.at = start, .markers = true};
	mpa_cursor_pass(&c, *begin);
	r = mpa_deframe_look(d, &c, s->total - *begin, &f);
	if (r != MPA_DEFRAME_GOOD)
		return r;
	if (!stream_plausible(&f))
		return MPA_DEFRAME_MARKER;
	d->crc = true;
	if (mpa_deframe_look(d, &c, s->total - *begin, &f) == MPA_DEFRAME_GOOD)
		return MPA_DEFRAME_GOOD;
	/* An MSN may be what a marker there would say: without CRCs another FPDU must follow. */
	d->crc = false;
	if (s->total - *begin < f.len + STREAM_HEADERS)
		return MPA_DEFRAME_MORE;
	there.at = start + f.len;
	return stream_resync_may_begin(s, *begin + f.len, &there) ? MPA_DEFRAME_CRC
								  : MPA_DEFRAME_MARKER;
}

static bool stream_resync_is_marker(const struct stream *s, size_t at, size_t back)
{
	struct mpa_cursor c = stream_cursor(s);

	mpa_cursor_pass(&c, at);
	return stream_resync_load_word(&c) == back;
}

/**
 * The marker in the FPDU that the queue begins with, of @p len octets without. A CRC covers markers
 * too, so it is good wherever the marker is taken to be, and an MSN may say what one there would:
 * it is the last.
 */
static enum mpa_deframe_result stream_resync_last_marker(
	const struct stream *s, uint32_t len, struct mpa_deframe *d)
{
	enum mpa_deframe_result r;
	size_t begin, m = len - MPA_CRC_LEN;

	if (m > MPA_MARKER_PERIOD - MPA_MARKER_LEN)
		m = MPA_MARKER_PERIOD - MPA_MARKER_LEN;
	for (;; m -= MPA_MARKER_LEN) {
		if (s->total - m >= MPA_MARKER_LEN && stream_resync_is_marker(s, m, m)) {
			r = stream_resync_try_marker(s, m, m, d, &begin);
			if (r != MPA_DEFRAME_MARKER)
				return r;
		}
		if (m == 0)
			return MPA_DEFRAME_MARKER;
	}
}

static void stream_resync_take_markers(struct stream *s, const struct mpa_deframe *d)
{
	s->deframe = *d;
	s->crc_known = true;
	s->joined = false;
	s->unproved = STREAM_PROOF;
}

/* Any octet may be the first of a marker. */
static bool stream_resync_find_any_marker(struct stream *s, bool *wait)
{
	struct mpa_cursor c = stream_cursor(s);

	for (mpa_cursor_pass(&c, s->sought); s->total - s->sought >= MPA_MARKER_LEN;
		mpa_cursor_pass(&c, 1), s->sought++) {
		uint32_t back = stream_resync_load_word(&c);
		enum mpa_deframe_result r;
		struct mpa_deframe d, last;
		struct mpa_fpdu f;
		size_t begin;

		if (back > s->sought || back > UINT16_MAX || back % 4 != 0)
			continue;
		r = stream_resync_try_marker(s, s->sought, back, &d, &begin);
		/* A CRC of zero before an FPDU, where there are none, looks like a marker. */
		*wait = r == MPA_DEFRAME_MORE && back != 0;
		if (*wait)
			return false;
		if (r == MPA_DEFRAME_GOOD ||
			(r == MPA_DEFRAME_CRC && back != 0 && ++s->likely >= LIKELY_ENOUGH)) {
			stream_drop(s, begin);
			stream_resync_look(s, false, false, &f);
			stream_resync_take_markers(
				s, stream_resync_last_marker(s, f.len, &last) == r ? &last : &d);
			return true;
		}
	}
	return false;
}

/**
 * Without CRCs: another FPDU follows an FPDU of @p len octets without a marker. Or one that begins
 * with a marker does; what looks so may be the unused CRC of an FPDU with a marker.
 */
static bool stream_resync_ends_plain(const struct stream *s, size_t len)
{
	const struct mpa_deframe none = {0};

	return stream_resync_may_begin(s, len, &none) ||
	       (stream_resync_is_marker(s, len - MPA_CRC_LEN, 0) &&
		       stream_resync_is_marker(s, len, 0) &&
		       stream_resync_may_begin(s, len + MPA_MARKER_LEN, &none));
}

bool stream_seek_marker(struct stream *s)
{
	struct mpa_fpdu f;
	enum mpa_deframe_result r = stream_resync_look(s, s->deframe.crc, false, &f);
	struct mpa_deframe d;
	bool plain;

	if (r == MPA_DEFRAME_MORE || (!s->deframe.crc && s->total < f.len + STREAM_HEADERS))
		return false;
	plain = s->deframe.crc ? r == MPA_DEFRAME_GOOD : stream_resync_ends_plain(s, f.len);
	r = plain ? MPA_DEFRAME_MARKER : stream_resync_last_marker(s, f.len, &d);
	if (r == MPA_DEFRAME_MORE)
		return false;
	if (r == MPA_DEFRAME_GOOD || (r == MPA_DEFRAME_CRC && !s->deframe.crc))
		stream_resync_take_markers(s, &d);
	else if (s->deframe.at + f.len - s->found >= MPA_MARKER_PERIOD + MPA_MARKER_LEN)
		s->joined = false; /* so many octets without a marker: there are none */
	return true;
}

/* ---- after a hole --------------------------------------------------------------------------- */

/* Markers tell where FPDUs begin (RFC 5044 section 6). */
static bool stream_resync_find_by_marker(struct stream *s)
{
	while (s->total != 0) {
		struct mpa_cursor c = stream_cursor(s);
		struct mpa_fpdu f;
		uint64_t start;

		if (!mpa_deframe_find(&s->deframe, s->deframe.at, &c, s->total, &start)) {
			/* One may begin in the last octets and be told of by a marker to come. */
			if (s->total > 2 * MPA_ULPDU_MAX)
				stream_drop(s, s->total - MPA_ULPDU_MAX);
			return false;
		}
		stream_drop(s, (size_t)(start - s->deframe.at));
		switch (stream_resync_look(s, s->deframe.crc, true, &f)) {
		case MPA_DEFRAME_MORE:
			return false;
		case MPA_DEFRAME_GOOD:
			if (stream_plausible(&f))
				return true;
			break;
		default:
			break;
		}
		stream_drop(s, 4);
	}
	return false;
}

/* True if an FPDU begins with the queue; false with *wait: more text will tell. */
static bool stream_resync_begins(struct stream *s, bool *wait)
{
	const struct mpa_deframe none = {0};
	struct mpa_fpdu f;
	enum mpa_deframe_result r;

	*wait = true;
	if (s->total < MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN)
		return false;
	*wait = false;
	if (!stream_captured(s, 0, MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN))
		return false;
	/* First the headers: they cost little. */
	r = stream_resync_look(s, false, false, &f);
	*wait = stream_resync_may_begin(s, 0, &none);
	if (!*wait || r == MPA_DEFRAME_MORE)
		return false;
	if (s->crc_known && !s->deframe.crc)
		return true;
	*wait = false;
	if (stream_resync_look(s, true, false, &f) == MPA_DEFRAME_GOOD) {
		s->deframe.crc = s->crc_known = true;
		return true;
	}
	if (!s->crc_known && ++s->likely >= LIKELY_ENOUGH)
		s->crc_known = true;
	return s->crc_known && !s->deframe.crc;
}

/* Without markers: at the beginning of a segment, as senders align FPDUs with them. */
static bool stream_resync_find_by_segment(struct stream *s)
{
	while (s->n != 0) {
		bool wait = false;

		if (s->off == 0 && s->meta[0].first && stream_resync_begins(s, &wait))
			return true;
		if (wait)
			return false;
		stream_drop(s, s->v[0].len - s->off);
	}
	return false;
}

bool stream_find(struct stream *s)
{
	bool wait = false;

	s->unproved = STREAM_PROOF;
	if (s->deframe.markers)
		return stream_resync_find_by_marker(s);
	if (s->joined && (stream_resync_find_any_marker(s, &wait) || wait))
		return !wait;
	return stream_resync_find_by_segment(s);
}
