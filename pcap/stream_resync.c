/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include "rdmap/opcode.h"

/** FPDUs that look right in all but a CRC before CRCs count as not in use. */
#define LIKELY_ENOUGH 3

/* What an FPDU's headers must be like where nothing else tells that one begins here. */
static bool plausible(const struct mpa_fpdu *f)
{
	const struct rdmap_opcode_info *info;
	struct ddp_segment s;
	uint8_t control;

	if (f->ulpdu.len < DDP_TAGGED_LEN || ddp_parse(&s, &f->ulpdu) != DDP_OK)
		return false;
	control = *mpa_cursor_at(&f->ulpdu.at);
	info = rdmap_opcode_info(s.ulp & RDMAP_CONTROL_OPCODE);
	return (control & DDP_CONTROL_RESERVED) == 0 &&
	       (s.ulp & ~RDMAP_CONTROL_OPCODE) == RDMAP_CONTROL(0) && info != NULL &&
	       info->tagged == s.tagged && (s.tagged || info->qn == s.qn);
}

static enum mpa_deframe_result look(
	const struct stream *s, bool crc, bool markers, struct mpa_fpdu *f)
{
	struct mpa_deframe d = {.at = s->deframe.at, .crc = crc, .markers = markers};
	struct mpa_cursor c = stream_cursor(s);

	return mpa_deframe_look(&d, &c, s->total, f);
}

bool stream_guess(struct stream *s)
{
	struct mpa_fpdu plain, marked;
	enum mpa_deframe_result without = look(s, true, false, &plain), with;

	if (!stream_captured(s, 0, s->total < 64 ? s->total : 64)) {
		s->guess = false;
		s->phase = STREAM_LOST;
		return true;
	}
	/* A stream with markers begins with one of value 0, which reads as an FPDU of nothing. */
	with = look(s, true, true, &marked);
	if (without == MPA_DEFRAME_MORE && with == MPA_DEFRAME_MORE)
		return false;
	if (without == MPA_DEFRAME_GOOD && plausible(&plain))
		s->deframe.crc = true;
	else if (with == MPA_DEFRAME_GOOD)
		s->deframe.crc = s->deframe.markers = true;
	else if (with == MPA_DEFRAME_CRC && plausible(&marked))
		s->deframe.markers = true;
	else if (without == MPA_DEFRAME_MORE)
		return false;
	s->guess = false;
	s->crc_known = true;
	return true;
}

/* Markers tell where FPDUs begin (RFC 5044 section 6). */
static bool find_by_marker(struct stream *s)
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
		switch (look(s, s->deframe.crc, true, &f)) {
		case MPA_DEFRAME_MORE:
			return false;
		case MPA_DEFRAME_GOOD:
			if (plausible(&f))
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
static bool begins(struct stream *s, bool *wait)
{
	struct mpa_fpdu f;
	enum mpa_deframe_result r;

	*wait = true;
	if (s->total < MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN)
		return false;
	*wait = false;
	if (!stream_captured(s, 0, MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN))
		return false;
	/* First the headers, whose cost is small. */
	r = look(s, false, false, &f);
	f.ulpdu.at = stream_cursor(s);
	mpa_cursor_pass(&f.ulpdu.at, MPA_FPDU_HEADER_LEN);
	*wait = plausible(&f);
	if (!*wait || r == MPA_DEFRAME_MORE)
		return false;
	if (s->crc_known && !s->deframe.crc)
		return true;
	*wait = false;
	if (look(s, true, false, &f) == MPA_DEFRAME_GOOD) {
		s->deframe.crc = s->crc_known = true;
		return true;
	}
	if (!s->crc_known && ++s->likely >= LIKELY_ENOUGH)
		s->crc_known = true;
	return s->crc_known && !s->deframe.crc;
}

/* Without markers: at the beginning of a segment, as senders align FPDUs with them. */
static bool find_by_segment(struct stream *s)
{
	while (s->n != 0) {
		bool wait = false;

		if (s->off == 0 && s->meta[0].first && begins(s, &wait))
			return true;
		if (wait)
			return false;
		stream_drop(s, s->v[0].len - s->off);
	}
	return false;
}

bool stream_find(struct stream *s)
{
	return s->deframe.markers ? find_by_marker(s) : find_by_segment(s);
}
