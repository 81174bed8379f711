/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include "base/bytes.h"

#include <stdlib.h>

/** Octets of a key that make text a start-up frame whose key is wrong. */
#define KEY_LIKENESS 12
/** Text that waits for the peer's start-up frame at most; then it counts as not captured. */
#define WAIT_MAX (256u << 10)

void stream_free(struct stream *s)
{
	cap_reassembly_free(&s->tcp);
	free(s->v);
	free(s->meta);
}

static void stream_clear(struct stream *s)
{
	stream_drop(s, s->total);
}

static void stream_lose(struct stream *s, const struct piece *p, const char *why)
{
	if (s->phase == STREAM_FPDU && s->c->ops->lost)
		s->c->ops->lost(s->c->user, s->c, s, p, why);
	s->phase = STREAM_LOST;
	s->need = 0;
	s->likely = 0;
}

/* ---- start-up ------------------------------------------------------------------------------- */

static void stream_begin_operation(struct stream *s)
{
	const struct stream_start *mine = &s->start, *peer = &stream_peer(s)->start;
	bool both = mine->seen && peer->seen;

	s->guess = !both;
	s->crc_known = both || (mine->seen && mine->st.crc) || (peer->seen && peer->st.crc);
	/* RFC 5044 section 7.1.1: C of either turns CRCs on, M asks the peer for markers. */
	mpa_deframe_init(&s->deframe, (mine->seen && mine->st.crc) || (peer->seen && peer->st.crc),
		peer->seen && peer->st.markers);
	s->phase = STREAM_FPDU;
	s->need = 0;
}

static void stream_look_for_stray(struct stream *s, const struct piece *p)
{
	if (s->rejected && p->first && s->c->ops->stray && stream_is_fpdu(p))
		s->c->ops->stray(s->c->user, s->c, s, p);
}

/* What is there already is no iWARP any more. */
static void stream_over(struct stream *s)
{
	for (unsigned i = s->off != 0; i < s->n; i++)
		stream_look_for_stray(s, &s->meta[i]);
	stream_clear(s);
}

static void stream_tell_start(struct stream *s, size_t len)
{
	struct connection *c = s->c;
	int side = (int)stream_side(s);

	s->start.seen = true;
	if (c->id == 0) {
		c->id = ++c->shared->connections;
		c->initiator = s->start.kind == MPA_FRAME_REQUEST ? side : !side;
		c->ops->opened(c->user, c);
	}
	if (c->ops->start)
		c->ops->start(c->user, c, s);
	s->start.bytes = NULL;
	s->start.st.private_data = NULL;
	stream_drop(s, len);
	s->phase = STREAM_WAIT;
	if (s->start.error) {
		s->phase = STREAM_OVER;
	} else if (s->start.kind == MPA_FRAME_REPLY && s->start.st.reject) {
		/* Section 7.1.2 rule 3: both leave MPA, TCP is used for what they like. */
		s->phase = stream_peer(s)->phase = STREAM_OVER;
		s->rejected = stream_peer(s)->rejected = true;
		stream_over(stream_peer(s));
	}
	if (s->phase == STREAM_WAIT && stream_peer(s)->phase == STREAM_WAIT) {
		stream_begin_operation(stream_peer(s));
		stream_begin_operation(s);
		stream_resume(stream_peer(s));
	}
	if (s->phase == STREAM_OVER)
		stream_over(s);
}

static void stream_fill_start(struct stream_start *st, const uint8_t *p, size_t len)
{
	st->flags = p[MPA_AT_FLAGS];
	st->revision = p[MPA_AT_REVISION];
	st->pd_length = load_be16(p + MPA_AT_PD_LENGTH);
	if (len >= MPA_HEADER_LEN + MPA_ENHANCED_LEN) {
		st->words[0] = load_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_IRD);
		st->words[1] = load_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_ORD);
	}
	st->bytes = p;
	st->len = len;
}

/** True if @p p, of which @p len octets are here, may begin with @p key. */
static bool stream_may_be(const uint8_t *p, size_t len, const char *key)
{
	return memcmp(p, key, len < MPA_KEY_LEN ? len : MPA_KEY_LEN) == 0;
}

/* One of the start-up frames will not be seen: where markers lie is counted from its own, and the
 * peer's asks for them. */
static void stream_begin_unstarted(struct stream *s)
{
	stream_begin_operation(s);
	s->guess = false;
	s->deframe.markers = false;
	s->joined = true;
}

/* The start-up frame was cut by the snap length, or lost. */
static void stream_take_no_start(struct stream *s)
{
	if (s->c->id == 0 && stream_peer(s)->phase != STREAM_START) {
		s->c->not_mpa = true;
		s->phase = STREAM_OVER;
		return;
	}
	stream_begin_unstarted(s);
	if (s->c->id == 0)
		s->phase = STREAM_LOST; /* the peer's key may be to come */
	else
		stream_lose(s, &s->meta[0], "its start-up frame is not in the capture");
}

/** How many octets of a key are right. */
static unsigned stream_key_likeness(const uint8_t *p, size_t len, const char *key)
{
	unsigned n = 0;

	for (unsigned i = 0; len >= MPA_KEY_LEN && i < MPA_KEY_LEN; i++)
		n += p[i] == (uint8_t)key[i];
	return n;
}

static void stream_wrong_key(struct stream *s, const uint8_t *p, size_t len)
{
	if (s->c->id == 0) {
		s->c->not_mpa = true;
		s->phase = STREAM_OVER;
		return;
	}
	if (!s->whole) {
		stream_take_no_start(s);
		return;
	}
	if (stream_peer(s)->start.kind == MPA_FRAME_REPLY) {
		/* That answers a request which is not in the capture; this comes behind it. */
		stream_begin_operation(s);
		return;
	}
	s->start.error = "not an MPA key";
	s->start.frame = s->meta[0].frame;
	s->start.time = s->meta[0].time;
	s->start.damaged = s->meta[0].damaged;
	s->start.bytes = p;
	s->start.len = len;
	stream_tell_start(s, 0);
}

/* A key with wrong octets is one with which its end means to start: it is set right in @p p. */
static bool stream_take_near_key(struct stream *s, uint8_t *p, size_t len)
{
	unsigned request = stream_key_likeness(p, len, MPA_REQUEST_KEY);
	unsigned reply = stream_key_likeness(p, len, MPA_REPLY_KEY);
	const struct stream_start *peer = &stream_peer(s)->start;
	bool is_reply = peer->seen ? peer->kind == MPA_FRAME_REQUEST : reply > request;

	if (request < KEY_LIKENESS && reply < KEY_LIKENESS)
		return false;
	s->start.near_key = true;
	s->start.kind = is_reply ? MPA_FRAME_REPLY : MPA_FRAME_REQUEST;
	memcpy(p, is_reply ? MPA_REPLY_KEY : MPA_REQUEST_KEY, MPA_KEY_LEN);
	return true;
}

static void stream_take_start(struct stream *s)
{
	uint8_t copy[MPA_FRAME_MAX];
	size_t len = s->total < sizeof copy ? s->total : sizeof copy, need;
	struct mpa_cursor at = stream_cursor(s);
	struct stream_start *st = &s->start;
	int rc;

	if (!stream_captured(s, 0, len)) {
		stream_take_no_start(s);
		return;
	}
	mpa_cursor_copy(&at, copy, len);
	if (stream_may_be(copy, len, MPA_REQUEST_KEY))
		st->kind = MPA_FRAME_REQUEST;
	else if (stream_may_be(copy, len, MPA_REPLY_KEY))
		st->kind = MPA_FRAME_REPLY;
	else if (!stream_take_near_key(s, copy, len)) {
		stream_wrong_key(s, copy, len);
		return;
	}
	st->frame = s->meta[0].frame;
	st->time = s->meta[0].time;
	st->ack = s->meta[0].ack;
	st->damaged = s->meta[0].damaged;
	rc = mpa_startup_parse(st->kind, copy, len, &st->st, &need, &st->error);
	if (rc == 0)
		return;
	if (st->near_key) {
		at = stream_cursor(s);
		mpa_cursor_copy(&at, copy, MPA_KEY_LEN); /* as it came */
	}
	stream_fill_start(st, copy, rc > 0 ? (size_t)rc : len);
	st->end = stream_seq_behind(s, rc > 0 ? (size_t)rc : 0);
	stream_tell_start(s, rc > 0 ? (size_t)rc : 0);
}

/* ---- full operation ------------------------------------------------------------------------- */

/** Pad and CRC: where they lie if that is in one piece, else in @p copy. */
static const uint8_t *stream_trailer(const struct stream_fpdu *f, uint32_t len, uint8_t *copy)
{
	struct mpa_cursor c;

	if (f->pieces == 1 && !f->markers)
		return f->raw.v->base + f->raw.off + f->fpdu.len - len;
	c = f->fpdu.ulpdu.at;
	mpa_cursor_advance(&c, f->fpdu.ulpdu.len);
	mpa_cursor_copy(&c, copy, len);
	return copy;
}

static void stream_look_closer(struct stream *s, struct stream_fpdu *f)
{
	uint32_t len = f->fpdu.ulpdu.len;
	uint32_t pad = mpa_fpdu_body(len) - MPA_FPDU_HEADER_LEN - len;
	uint8_t copy[3 + MPA_CRC_LEN];
	const uint8_t *end;

	f->ddp = ddp_parse(&f->segment, &f->fpdu.ulpdu);
	if (f->unseen && !stream_captured(s, f->fpdu.len - MPA_CRC_LEN - pad, pad + MPA_CRC_LEN))
		return;
	end = stream_trailer(f, pad + MPA_CRC_LEN, copy);
	for (uint32_t i = 0; i < pad; i++)
		f->pad_dirty |= end[i] != 0;
	f->crc_zero = load_le32(end + pad) == 0;
}

/* Octets of an FPDU that hold its length, and both headers, with a marker that may be in them. */
static size_t stream_headers_len(const struct stream *s, const struct mpa_fpdu *f)
{
	size_t len = MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN + (s->deframe.markers ? 8 : 0);

	return len < f->len ? len : f->len;
}

static void stream_tell_fpdu(struct stream *s, struct stream_fpdu *f)
{
	size_t end = s->off + f->fpdu.len;
	unsigned i = 0;

	f->segments = 1;
	f->damaged = s->meta[0].damaged;
	while (end > s->v[i].len) {
		end -= s->v[i++].len;
		f->segments += s->meta[i].first;
		f->damaged |= s->meta[i].damaged;
	}
	f->number = ++s->fpdus;
	f->frame = s->meta[0].frame;
	f->time = s->meta[0].time;
	f->end_frame = s->meta[i].frame;
	f->end_time = s->meta[i].time;
	f->seq = s->meta[0].seq + (uint32_t)s->off;
	f->end_seq = stream_seq_behind(s, f->fpdu.len);
	f->ack = s->meta[0].ack;
	f->pieces = i + 1;
	f->aligned = s->off == 0 && s->meta[0].first;
	f->at = s->deframe.at;
	f->raw = stream_cursor(s);
	f->crc = s->deframe.crc;
	f->markers = s->deframe.markers;
	stream_look_closer(s, f);
	s->c->ops->fpdu(s->c->user, s->c, s, f);
}

/**
 * Where FPDUs begin was found by what they look like. A good CRC proves it, and so do some FPDUs
 * that follow each other.
 * @return false: this is none.
 */
static bool stream_prove(struct stream *s, struct stream_fpdu *f)
{
	f->unproved = true;
	if (f->unseen) {
		return !f->header || stream_plausible(&f->fpdu);
	} else if (s->deframe.crc && f->result == MPA_DEFRAME_GOOD) {
		s->unproved = 0;
		f->unproved = false;
	} else if (f->result == MPA_DEFRAME_MARKER || !stream_plausible(&f->fpdu)) {
		return false;
	} else {
		s->unproved--;
	}
	return true;
}

/**
 * The FPDU here is wrong. If FPDUs with good CRCs begin with segments inside of its @p len octets,
 * and none does behind, its length is what is wrong: go on there.
 */
static bool stream_skip_misframed(struct stream *s, size_t len)
{
	size_t lead = s->deframe.markers
			      ? (size_t)(mpa_fpdu_header_at(s->deframe.at) - s->deframe.at)
			      : 0;
	struct mpa_cursor c = stream_cursor(s);
	uint8_t field[MPA_FPDU_HEADER_LEN];
	size_t at = 0;

	if (s->total < lead + sizeof field || !stream_captured(s, lead, sizeof field))
		return false;
	for (unsigned i = 0; i + 1 < s->n; i++) {
		at += s->v[i].len - (i == 0 ? s->off : 0);
		if (at >= len)
			return false;
		if (!s->meta[i + 1].first || !stream_begins_good(s, at))
			continue;
		mpa_cursor_pass(&c, lead);
		mpa_cursor_copy(&c, field, sizeof field);
		if (s->c->ops->misframed)
			s->c->ops->misframed(s->c->user, s->c, s, &s->meta[0], load_be16(field), at,
				s->meta[i + 1].frame);
		s->need = 0;
		s->doubtful = false;
		stream_drop(s, at);
		return true;
	}
	return false;
}

/* Behind a wrong CRC: what looks like no FPDU is none, as that one's length was wrong. */
static bool stream_follows(
	struct stream *s, enum mpa_deframe_result result, const struct mpa_fpdu *f)
{
	if (result == MPA_DEFRAME_GOOD || result == MPA_DEFRAME_MARKER ||
		(result == MPA_DEFRAME_CRC && stream_plausible(f)) ||
		(result == MPA_DEFRAME_MORE && (s->total < STREAM_HEADERS || stream_may_begin(s))))
		return true;
	s->doubtful = false;
	stream_lose(s, &s->meta[0], "no FPDU begins behind the one with the wrong CRC");
	stream_drop(s, 1);
	return false;
}

/**
 * The first FPDU has markers although nobody asked for them, or none although somebody did: with a
 * good CRC, and only so. All the others will be the same.
 */
static void stream_turn_markers(struct stream *s)
{
	struct mpa_deframe d = s->deframe;
	struct mpa_cursor c = stream_cursor(s);
	struct mpa_fpdu f;

	if (s->guess || s->joined || !s->start.seen || s->deframe.at != 0)
		return;
	d.crc = true;
	if (mpa_deframe_look(&d, &c, s->total, &f) == MPA_DEFRAME_GOOD)
		return;
	d.markers = !d.markers;
	if (mpa_deframe_look(&d, &c, s->total, &f) != MPA_DEFRAME_GOOD || !stream_plausible(&f) ||
		!stream_captured(s, 0, f.len))
		return;
	s->deframe.markers = d.markers;
	s->need = 0;
	if (s->c->ops->markers)
		s->c->ops->markers(s->c->user, s->c, s, &s->meta[0]);
}

/** One FPDU. @return false: there is none yet, or its beginning is not known. */
static bool stream_take_fpdu(struct stream *s)
{
	struct mpa_deframe d;
	struct mpa_cursor c = stream_cursor(s);
	struct stream_fpdu f = {.header = true};
	size_t lead;

	if (s->fpdus == 0)
		stream_turn_markers(s);
	d = s->deframe;
	lead = d.markers ? (size_t)(mpa_fpdu_header_at(d.at) - d.at) : 0;
	if (s->total < lead + MPA_FPDU_HEADER_LEN || s->total < s->need)
		return false;
	if (!stream_captured(s, lead, MPA_FPDU_HEADER_LEN)) {
		stream_lose(s, &s->meta[0], "the length of an FPDU is not in the capture");
		stream_drop(s, 1); /* it begins elsewhere, whatever it looks like */
		return true;
	}
	f.result = mpa_deframe_look(&d, &c, s->total, &f.fpdu);
	s->need = f.result == MPA_DEFRAME_MORE ? f.fpdu.len : 0;
	if (s->doubtful && !stream_follows(s, f.result, &f.fpdu))
		return true;
	if (f.result == MPA_DEFRAME_MORE)
		return false;
	if (!stream_captured(s, 0, f.fpdu.len)) {
		f.unseen = true;
		f.result = MPA_DEFRAME_GOOD;
		f.header = stream_captured(s, lead, stream_headers_len(s, &f.fpdu));
	}
	if (s->unproved != 0 && !stream_prove(s, &f)) {
		stream_lose(s, &s->meta[0], "what begins here is no FPDU");
		stream_drop(s, 1);
		return true;
	}
	if (f.result == MPA_DEFRAME_CRC && stream_skip_misframed(s, f.fpdu.len))
		return true;
	s->doubtful = f.result == MPA_DEFRAME_CRC;
	stream_tell_fpdu(s, &f);
	stream_drop(s, f.fpdu.len);
	return true;
}

static void stream_take_fpdus(struct stream *s)
{
	while (s->total != 0) {
		if (s->phase == STREAM_FPDU) {
			if (s->guess && !stream_guess(s))
				return;
			if (s->joined && !stream_seek_marker(s))
				return;
			if (s->phase == STREAM_FPDU && !stream_take_fpdu(s))
				return;
		} else {
			if (!stream_find(s))
				return;
			s->phase = STREAM_FPDU;
			s->found = s->deframe.at;
			if (s->c->ops->found)
				s->c->ops->found(s->c->user, s->c, s, s->meta[0].frame);
		}
	}
}

void stream_finish(struct stream *s)
{
	while (s->phase == STREAM_FPDU && s->deframe.crc && !s->guess && s->unproved == 0 &&
		s->total != 0 && stream_skip_misframed(s, s->total))
		stream_take_fpdus(s);
}

/* ---- text ----------------------------------------------------------------------------------- */

void stream_resume(struct stream *s)
{
	const struct stream *peer = stream_peer(s);

	if (s->phase == STREAM_START && s->total != 0)
		stream_take_start(s);
	/* Without the peer's half of the capture there will be no frame of it. */
	if (s->phase == STREAM_WAIT && s->total != 0 &&
		(!peer->tcp.known || s->total > WAIT_MAX || peer->phase > STREAM_WAIT))
		stream_begin_operation(s);
	if (s->c->id != 0 && (s->phase == STREAM_FPDU || s->phase == STREAM_LOST))
		stream_take_fpdus(s);
	else if (s->c->id == 0 && s->total > WAIT_MAX)
		s->c->not_mpa = true;
}

void stream_take_text(struct stream *s, const struct piece *p)
{
	if (s->c->id != 0 && !p->bytes && s->c->ops->missing)
		s->c->ops->missing(s->c->user, s->c, s, p);
	if (s->phase == STREAM_OVER) {
		stream_look_for_stray(s, p);
		return;
	}
	if (s->phase == STREAM_LOST && !p->bytes) {
		stream_clear(s);
		s->deframe.at += p->len;
		return;
	}
	/* It may be a ticket, which servers send before anything of ours. */
	if (p->unmeasured && s->phase == STREAM_START && s->total == 0) {
		s->whole = false;
		return;
	}
	if (p->unmeasured || !stream_push(s, p)) {
		s->c->not_mpa = s->c->id == 0;
		if (s->c->id != 0 && s->phase < STREAM_FPDU)
			stream_begin_unstarted(s);
		stream_lose(s, p,
			!p->bytes ? "too much is not in the capture"
				  : "an FPDU in too many segments");
		stream_clear(s);
		s->deframe.at += p->len;
		return;
	}
	stream_resume(s);
}

/** Does TLS begin here, whose secrets may be known? */
static bool stream_begins_sealed(const struct stream *s, const struct piece *p)
{
	const struct stream *peer = stream_peer(s);

	return s->whole && s->phase == STREAM_START && s->total == 0 &&
	       peer->phase == STREAM_START && peer->total == 0 && sealed_begins(p);
}

/** Is it inside of TLS, and its beginning not in the capture? A start-up frame may look like it. */
static bool stream_is_headless(const struct stream *s, const struct piece *p)
{
	return p->first && p->bytes && (s->phase != STREAM_START || s->total == 0) &&
	       sealed_seems(p->bytes, p->len);
}

static void stream_look_for_tls(struct stream *s, const struct piece *p)
{
	struct connection *c = s->c;

	if (stream_begins_sealed(s, p)) {
		c->sealed = sealed_new(c, s, c->shared->keylog);
		c->not_mpa = !c->sealed;
	} else if (stream_is_headless(s, p)) {
		c->headless = c->not_mpa = true;
	}
}

static void stream_on_text(void *user, const struct piece *p)
{
	struct stream *s = user;
	struct connection *c = s->c;

	if (!c->sealed && c->id == 0 && c->shared->keylog)
		stream_look_for_tls(s, p);
	if (c->sealed)
		sealed_text(c->sealed, s, p);
	else
		stream_take_text(s, p);
}

static void stream_on_conflict(void *user, const struct piece *now, const struct piece *before)
{
	struct stream *s = user;

	if (s->c->id != 0 && s->c->ops->conflict)
		s->c->ops->conflict(s->c->user, s->c, s, now, before);
}

void stream_init(struct stream *s, struct connection *c)
{
	static const struct cap_reassembly_ops ops = {stream_on_text, stream_on_conflict};

	*s = (struct stream){.c = c};
	cap_reassembly_init(&s->tcp, &ops, s, &c->shared->budget);
}
