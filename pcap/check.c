/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/check.h"

#include <stdlib.h>

static void check_note_line(struct check *k, struct stream *s, uint64_t frame, const struct line *l)
{
	struct report_place at = {.s = s, .frame = frame, .time = s->c->time};

	report_note(&k->report, &at, "%s", l->text);
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

static void check_on_start(void *user, struct connection *c, struct stream *s)
{
	if (c->own)
		check_start(user, s);
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
	if (check_segment(&x))
		check_message(&x);
}

static void check_on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	struct line l = {0};

	if (!c->own)
		return;
	check_forget(s);
	line_add(&l, "FPDUs cannot be followed from here: %s", why);
	check_note_line(user, s, p->frame, &l);
}

static void check_on_found(void *user, struct connection *c, struct stream *s, uint64_t frame)
{
	struct line l = {0};

	if (!c->own)
		return;
	check_forget(s); /* the beginning of a direction may have been lost without a word */
	line_add(&l, "an FPDU begins here; checked from here on");
	check_note_line(user, s, frame, &l);
}

static void check_on_conflict(void *user, struct connection *c, struct stream *s,
	const struct piece *now, const struct piece *before)
{
	struct line l = {0};

	if (!c->own)
		return;
	line_add(&l,
		"TCP sends octets again that frame %llu had with other values; the first count",
		(unsigned long long)before->frame);
	check_note_line(user, s, now->frame, &l);
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
		check_note_line(user, s, p->frame, &l);
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
	if (c->own && p->flags & PACKET_RST)
		check_note_reset(user, s, f->number);
}

/* ---- the end -------------------------------------------------------------------------------- */

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
			"the snap length cut %llu segments, from frame %llu on; %llu FPDUs are "
			"not judged by their CRC",
			(unsigned long long)me->missing, (unsigned long long)me->missing_frame,
			(unsigned long long)me->unseen);
		check_note_line(k, s, frame, &l);
	}
	if (s->start.seen && s->start.kind == MPA_FRAME_REQUEST && !stream_peer(s)->start.seen) {
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

static void check_on_closed(
	void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct check_connection *own = c->own;
	struct check *k = user;

	if (!own)
		return;
	for (unsigned i = 0; i < 2; i++)
		check_sum_up(k, &c->stream[i], frame);
	if (how == CONNECTION_EVICTED) {
		struct line l = {0};

		line_add(&l, "idle for longest of too many connections: not followed any more");
		check_note_line(k, &c->stream[0], frame, &l);
	}
	reads_free(&own->side[0].reads);
	reads_free(&own->side[1].reads);
	free(own);
	c->own = NULL;
}

const struct connection_ops check_ops = {
	.opened = check_on_opened,
	.start = check_on_start,
	.fpdu = check_on_fpdu,
	.lost = check_on_lost,
	.found = check_on_found,
	.conflict = check_on_conflict,
	.missing = check_on_missing,
	.fin = check_on_fin,
	.segment = check_on_segment,
	.closed = check_on_closed,
};
