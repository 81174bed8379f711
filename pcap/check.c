/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/check.h"

#include <stdlib.h>

uint16_t *check_told(const struct stream *s, unsigned id)
{
	static uint16_t none; /* without memory all is told */
	struct check_connection *own = s->c->own;
	struct check_count *more;

	for (unsigned i = 0; i < own->num_counts; i++)
		if (own->counts[i].id == id && own->counts[i].side == stream_side(s))
			return &own->counts[i].told;
	more = realloc(own->counts, (own->num_counts + 1) * sizeof *more);
	if (!more) {
		none = 0;
		return &none;
	}
	own->counts = more;
	more[own->num_counts] = (struct check_count){(uint16_t)id, (uint16_t)stream_side(s), 0};
	return &more[own->num_counts++].told;
}

static void check_note_line(struct check *k, struct stream *s, uint64_t frame, const struct line *l)
{
	struct report_place at = {.s = s, .frame = frame, .time = s->c->time};

	report_note(&k->report, &at, "%s", l->text);
}

/* A remark that may come often. */
static void check_remark(struct check *k, struct stream *s, enum check_remark what, uint64_t frame,
	const struct line *l)
{
	uint16_t *told = check_told(s, REQUIREMENTS + what);

	if (*told < UINT16_MAX)
		++*told;
	if (*told <= REPORT_TOLD_MAX || k->report.all)
		check_note_line(k, s, frame, l);
}

/* What is not seen is not judged: numbers and Reads are taken up anew. */
static void check_forget(struct stream *s)
{
	struct check_side *me = check_side_of(s);

	me->gap = true;
	for (unsigned i = 0; i < DDP_QUEUES; i++) {
		me->queue_known[i] = false;
		me->untagged[i].open = false;
	}
	me->tagged.open = false;
	check_forget_reads(s);
}

bool check_has_all(const struct stream *s)
{
	return s->start.seen && s->phase == STREAM_FPDU && !check_side_of(s)->gap &&
	       !cap_reassembly_behind(&s->tcp);
}

bool check_has_parsed(const struct check_fpdu *x)
{
	const struct stream *peer = stream_peer(x->s);

	return peer->phase == STREAM_FPDU && !cap_reassembly_behind(&peer->tcp) &&
	       (int32_t)(x->f->ack - stream_next_seq(peer)) <= 0;
}

static void check_on_opened(void *user, struct connection *c)
{
	struct check_connection *own = calloc(1, sizeof *own);

	c->own = own;
	if (!own)
		return;
	for (unsigned i = 0; i < 2; i++) {
		ddp_init(&own->side[i].ddp);
		own->side[i].requests_counted = true;
		for (unsigned q = 0; q < DDP_QUEUES; q++)
			own->side[i].queue_known[q] = true;
		if (c->stream[i].phase == STREAM_LOST) {
			own->side[i].requests_counted = false;
			check_forget(&c->stream[i]);
		}
	}
}

/* What was sent is not known: nothing is said against its sender. */
static void check_remark_damaged(
	struct check *k, struct stream *s, uint64_t frame, const char *consequence)
{
	struct line l = {0};

	line_add(&l, "the TCP checksum is wrong: damaged on its way or in the capture; %s",
		consequence);
	check_remark(k, s, CHECK_DAMAGED, frame, &l);
}

static void check_on_start(void *user, struct connection *c, struct stream *s)
{
	if (!c->own)
		return;
	if (s->start.damaged)
		check_remark_damaged(user, s, s->start.frame, "the start-up frame is not judged");
	else
		check_start(user, s);
}

static void check_on_damaged(void *user, struct connection *c, struct stream *s,
	const struct packet *p, const struct cap_frame *f)
{
	if (c->own)
		check_remark_damaged(user, s, f->number,
			p->more ? "left out; its fragments may be of different packets"
				: "left out, as its receiver does");
}

/* Mostly they lie in one piece, and need no copy. */
static void check_take_first_bytes(struct check_fpdu *x, uint8_t *copy)
{
	const struct stream_fpdu *f = x->f;
	struct mpa_cursor raw;

	x->len = f->fpdu.len < CHECK_BYTES ? f->fpdu.len : CHECK_BYTES;
	x->bytes = mpa_cursor_at(&f->raw);
	if (x->len <= mpa_cursor_run(&f->raw))
		return;
	raw = f->raw;
	mpa_cursor_copy(&raw, copy, x->len);
	x->bytes = copy;
}

static void check_on_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct check_fpdu x = {.k = user, .s = s, .f = f};
	uint8_t copy[CHECK_BYTES];

	if (!c->own)
		return;
	x.me = check_side_of(s);
	x.peer = check_side_of(stream_peer(s));
	if (f->header && f->ddp != DDP_ERROR_SHORT)
		x.opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;
	check_take_first_bytes(&x, copy);
	if (f->damaged && (f->result != MPA_DEFRAME_GOOD || !f->crc)) {
		check_count(&x);
		check_forget(s);
		check_remark_damaged(user, s, f->frame, "the FPDU is not judged");
		return;
	}
	if (f->unproved) {
		check_count(&x);
		check_forget(s);
		return;
	}
	check_framing(&x);
	check_remember(&x);
	if (f->result == MPA_DEFRAME_CRC || !f->header) {
		check_forget(s); /* whatever its fields say */
		return;
	}
	if (!check_segment(&x)) {
		check_forget(s);
	} else if (!check_message(&x)) {
		/* What it was meant to be is not known. */
		if (!f->segment.tagged && f->segment.qn == RDMAP_QN_READ && f->segment.last)
			check_unknown_request(&x);
		check_forget(s);
	}
}

static void check_on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	struct line l = {0};

	if (!c->own)
		return;
	check_forget(s);
	line_add(&l, "FPDUs cannot be followed from here: %s", why);
	check_remark(user, s, CHECK_LOST, p->frame, &l);
}

static void check_on_found(void *user, struct connection *c, struct stream *s, uint64_t frame)
{
	struct line l = {0};

	if (!c->own)
		return;
	check_forget(s); /* the beginning of a direction may have been lost without a word */
	line_add(&l, "an FPDU begins here; checked from here on");
	check_remark(user, s, CHECK_FOUND, frame, &l);
}

static void check_on_misframed(void *user, struct connection *c, struct stream *s,
	const struct piece *p, uint32_t ulpdu_len, size_t skipped, uint64_t frame)
{
	struct check *k = user;
	struct report_place at = {s, p->frame, p->time, NULL, 0};
	uint32_t swapped = (ulpdu_len & 0xff) << 8 | ulpdu_len >> 8;
	/* The largest that fits: what follows begins behind pad and CRC. */
	bool little = swapped != ulpdu_len && mpa_fpdu_body(swapped) + MPA_CRC_LEN == skipped;

	if (!c->own)
		return;
	check_forget(s);
	if (p->damaged) {
		check_remark_damaged(k, s, p->frame, "the FPDU is not judged");
		return;
	}
	if (p->bytes)
		at.bytes = p->bytes, at.len = p->len < CHECK_BYTES ? p->len : CHECK_BYTES;
	report_violation(&k->report, &at, REQ_MPA_4_1_1, check_told(s, REQ_MPA_4_1_1),
		"ULPDU Length is %u; an FPDU with a good CRC begins %zu octets on, in frame %s%s",
		ulpdu_len, skipped, report_frame(&k->report, frame).text,
		little ? ": it looks little-endian" : "");
}

static void check_on_markers(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	struct check *k = user;
	struct report_place at = {
		s, p->frame, p->time, p->bytes, p->len < CHECK_BYTES ? p->len : CHECK_BYTES};
	enum requirement_id id = s->deframe.markers ? REQ_MPA_7_1_1_6 : REQ_MPA_7_1_1_7;

	if (c->own)
		report_violation(&k->report, &at, id, check_told(s, id),
			s->deframe.markers ? "FPDUs have markers, which its peer has not asked for"
					   : "FPDUs have no markers, which its peer has asked for");
}

static void check_on_stray(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	struct check *k = user;
	struct report_place at = {
		s, p->frame, p->time, p->bytes, p->len < CHECK_BYTES ? p->len : CHECK_BYTES};
	enum requirement_id id = stream_is_initiator(s) ? REQ_MPA_7_1_2_10 : REQ_MPA_7_1_2_5;

	if (c->own)
		report_violation(&k->report, &at, id, check_told(s, id),
			"an FPDU, although the Reply has rejected the connection");
}

static void check_on_conflict(void *user, struct connection *c, struct stream *s,
	const struct piece *now, const struct piece *before)
{
	struct check *k = user;
	struct line l = {0};

	if (!c->own)
		return;
	line_add(&l, "TCP sends octets again that frame %s had with other values; the first count",
		report_frame(&k->report, before->frame).text);
	check_remark(k, s, CHECK_CONFLICT, now->frame, &l);
}

static void check_on_missing(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	struct check_side *me;

	if (!c->own)
		return;
	me = check_side_of(s);
	if (p->lost) {
		struct line l = {0};

		line_add(&l, "%u octets before here are in no frame of the capture", p->len);
		check_remark(user, s, CHECK_MISSING, p->frame, &l);
	} else if (p->closed) {
		if (me->closed++ == 0)
			me->closed_frame = p->frame;
	} else if (me->missing++ == 0) {
		me->missing_frame = p->frame;
	}
}

static void check_on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	struct check *k = user;
	struct report_place at = {.s = s, .frame = s->tcp.fin_frame, .time = c->time};

	if (!c->own || rest == 0)
		return;
	report_violation(&k->report, &at, REQ_DDP_6_2_1_1, check_told(s, REQ_DDP_6_2_1_1),
		"FIN after %zu octets of an unfinished %s", rest,
		s->phase == STREAM_FPDU ? "FPDU" : "start-up frame");
}

static void check_note_reset(struct check *k, struct stream *s, uint64_t frame)
{
	struct line l = {0};

	line_add(&l, "the connection is reset");
	check_note_line(k, s, frame, &l);
}

static void check_on_segment(void *user, struct connection *c, struct stream *s,
	const struct packet *p, const struct cap_frame *f)
{
	if (c->own && connection_is_reset(c, stream_side(s), p))
		check_note_reset(user, s, f->number);
}

static void check_on_foreign(void *user, struct connection *c, struct stream *s,
	const struct packet *p, const struct cap_frame *f)
{
	struct line l = {0};

	if (!c->own)
		return;
	if (p->flags & PACKET_RST)
		line_add(&l, "a RST at %u, where %u is next: its receiver does not take it", p->seq,
			s->tcp.known ? s->tcp.next : s->tcp.acked);
	else
		line_add(&l, "a SYN within the connection, which goes on unless that is answered");
	check_remark(user, s, CHECK_FOREIGN, f->number, &l);
}

/* ---- the end -------------------------------------------------------------------------------- */

static bool check_is_open(const struct stream *s)
{
	return !s->c->sealed || sealed_has_opened(s->c->sealed, s);
}

static void check_sum_up(struct check *k, struct stream *s, uint64_t frame)
{
	const struct check_side *me = check_side_of(s);
	struct line l = {0};

	if (me->unaligned != 0) {
		line_add(&l, "%llu of %llu FPDUs do not begin with a TCP segment",
			(unsigned long long)me->unaligned, (unsigned long long)me->fpdus);
		check_note_line(k, s, frame, &l);
	}
	if (me->cut != 0) {
		l.len = 0;
		line_add(&l, "%llu of %llu FPDUs lie in more than one TCP segment",
			(unsigned long long)me->cut, (unsigned long long)me->fpdus);
		check_note_line(k, s, frame, &l);
	}
	if (me->missing != 0) {
		l.len = 0;
		line_add(&l,
			"the snap length cut %llu segments, from frame %s on; %llu FPDUs are "
			"not judged by their CRC",
			(unsigned long long)me->missing,
			report_frame(&k->report, me->missing_frame).text,
			(unsigned long long)me->unseen);
		check_note_line(k, s, frame, &l);
	}
	if (me->closed != 0) {
		l.len = 0;
		line_add(&l, "no key opens %llu TLS records, from frame %s on",
			(unsigned long long)me->closed,
			report_frame(&k->report, me->closed_frame).text);
		check_note_line(k, s, frame, &l);
	}
	if (!check_is_open(s)) {
		l.len = 0;
		line_add(&l, "none of its TLS records could be opened");
		check_note_line(k, s, frame, &l);
	}
	if (s->start.seen && s->start.kind == MPA_FRAME_REQUEST && !stream_peer(s)->start.seen &&
		check_is_open(stream_peer(s))) {
		l.len = 0;
		line_add(&l, "no Reply was seen");
		check_note_line(k, s, frame, &l);
	}
	if (cap_reassembly_behind(&s->tcp)) {
		l.len = 0;
		line_add(
			&l, "the peer has acknowledged octets that are in no frame of the capture");
		check_note_line(k, s, frame, &l);
	}
}

/* Followed for its port alone, it may be anything. */
static void check_note_nothing(struct check *k, struct connection *c, uint64_t frame)
{
	struct line l = {0};

	for (unsigned i = 0; i < 2; i++)
		if (c->stream[i].start.seen || c->stream[i].fpdus != 0)
			return;
	line_add(&l, "neither start-up frames nor FPDUs were found: nothing is judged");
	check_note_line(k, &c->stream[0], frame, &l);
}

/* A hole of more than a window may be before them, or they are forged, or of a second tap. */
static void check_note_far(struct check *k, struct connection *c, uint64_t frame)
{
	struct line l = {0};

	if (c->left_out == 0)
		return;
	line_add(&l, "%llu segments are not judged: they are far from what was before them",
		(unsigned long long)c->left_out);
	check_note_line(k, &c->stream[0], frame, &l);
}

/* What the connection ends in the middle of: its ends may have meant to. */
static void check_note_unfinished(struct check *k, struct stream *s, uint64_t frame)
{
	const struct check_side *me = check_side_of(s);
	const struct reads *r = &me->reads;
	struct line l = {0};

	if (!check_has_all(s) || me->terminated || check_side_of(stream_peer(s))->terminated)
		return;
	if (check_reads_known(s) && r->n != 0) {
		line_add(&l,
			"%u Reads and Atomic Operations have no answer; the first is of frame %s",
			r->n, report_frame(&k->report, r->list[0].frame).text);
		if (r->list[0].placed != 0)
			line_add(&l, ", with %u of %u octets", r->list[0].placed, r->list[0].size);
		check_note_line(k, s, frame, &l);
	}
	for (unsigned q = 0; q <= DDP_QUEUES; q++) {
		const struct check_message *m = q == DDP_QUEUES ? &me->tagged : &me->untagged[q];

		l.len = 0;
		if (!m->open)
			continue;
		if (q == DDP_QUEUES)
			line_add(&l, "the last tagged message has no segment with L");
		else
			line_add(&l, "the last message of queue %u has no segment with L", q);
		check_note_line(k, s, frame, &l);
	}
}

/* What was found more often than it was told. */
static void check_sum_repeated(struct check *k, struct connection *c, uint64_t frame)
{
	static const char *const remarks[] = {
		[CHECK_LOST] = "FPDUs cannot be followed",
		[CHECK_FOUND] = "an FPDU is found again",
		[CHECK_MISSING] = "octets are in no frame of the capture",
		[CHECK_CONFLICT] = "TCP sends octets again with other values",
		[CHECK_DAMAGED] = "the TCP checksum is wrong",
		[CHECK_FOREIGN] = "a RST or SYN that its receiver does not take",
	};
	struct check_connection *own = c->own;

	for (unsigned i = 0; i < own->num_counts && !k->report.all; i++) {
		const struct check_count *n = &own->counts[i];
		struct line l = {0};

		if (n->told <= REPORT_TOLD_MAX)
			continue;
		line_add(&l, "%u times in all%s: %s", n->told,
			n->told == UINT16_MAX ? ", or more" : "",
			n->id < REQUIREMENTS ? requirement(n->id)->id
					     : remarks[n->id - REQUIREMENTS]);
		check_note_line(k, &c->stream[n->side], frame, &l);
	}
}

static void check_on_closed(
	void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct check_connection *own = c->own;
	struct check *k = user;

	if (!own)
		return;
	if (how == CONNECTION_EVICTED && k->report.evicted++ == 0) {
		struct line l = {0};

		line_add(&l, "not followed any more: idle for longest of too many connections");
		check_note_line(k, &c->stream[0], frame, &l);
	}
	for (unsigned i = 0; i < 2 && how != CONNECTION_EVICTED; i++) {
		check_sum_up(k, &c->stream[i], frame);
		if (how == CONNECTION_CLOSED || how == CONNECTION_RESET)
			check_note_unfinished(k, &c->stream[i], frame);
	}
	if (how != CONNECTION_EVICTED) {
		check_note_nothing(k, c, frame);
		check_note_far(k, c, frame);
	}
	check_sum_repeated(k, c, frame);
	reads_free(&own->side[0].reads);
	reads_free(&own->side[1].reads);
	check_forget_quotable(&own->side[0]);
	check_forget_quotable(&own->side[1]);
	free(own->counts);
	free(own);
	c->own = NULL;
}

static size_t check_memory(const struct connection *c)
{
	const struct check_connection *own = c->own;
	size_t n = 0;

	if (!own)
		return 0;
	for (unsigned i = 0; i < 2; i++)
		n += own->side[i].cap_quotable * sizeof *own->side[i].quotable +
		     own->side[i].reads.cap * sizeof *own->side[i].reads.list;
	return n + sizeof *own + own->num_counts * sizeof *own->counts;
}

const struct connection_ops check_ops = {
	.opened = check_on_opened,
	.start = check_on_start,
	.fpdu = check_on_fpdu,
	.lost = check_on_lost,
	.found = check_on_found,
	.misframed = check_on_misframed,
	.markers = check_on_markers,
	.stray = check_on_stray,
	.conflict = check_on_conflict,
	.foreign = check_on_foreign,
	.damaged = check_on_damaged,
	.missing = check_on_missing,
	.fin = check_on_fin,
	.segment = check_on_segment,
	.closed = check_on_closed,
	.memory = check_memory,
};
