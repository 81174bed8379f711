/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include <stdlib.h>

struct connection *connection_new(const struct connection_ops *ops, void *user,
	const struct ip_endpoint end[2], struct connection_shared *shared)
{
	struct connection *c = malloc(sizeof *c);

	if (!c)
		return NULL;
	*c = (struct connection){
		.ops = ops,
		.user = user,
		.end = {end[0], end[1]},
		.initiator = -1,
		.shared = shared,
	};
	stream_init(&c->stream[0], c);
	stream_init(&c->stream[1], c);
	return c;
}

void connection_join(struct connection *c)
{
	c->id = ++c->shared->connections;
	c->stream[0].phase = c->stream[1].phase = STREAM_LOST;
	c->stream[0].joined = c->stream[1].joined = true;
	c->ops->opened(c->user, c);
}

/* ---- the end of a direction ----------------------------------------------------------------- */

/* Octets before FIN that belong to no whole FPDU or start-up frame. */
static size_t connection_rest(struct stream *s)
{
	if (s->joined) {
		s->joined = false; /* nothing comes that could tell of markers */
		stream_resume(s);
	}
	stream_finish(s);
	return s->phase == STREAM_LOST || s->guess || s->unproved != 0 ? 0 : s->total;
}

/* FIN counts when all text before it has been seen, and what that is does not hang on the peer. */
static void connection_tell_fin(struct stream *s)
{
	struct connection *c = s->c;
	size_t rest;

	if (c->id == 0 || !s->tcp.fin || s->fin_told || s->tcp.next != s->tcp.fin_seq)
		return;
	if (s->phase == STREAM_WAIT && s->total != 0)
		return;
	rest = connection_rest(s);
	s->fin_told = true;
	if (c->ops->fin)
		c->ops->fin(c->user, c, s, rest);
}

/* ---- segments, in the order in which they were sent ----------------------------------------- */

/* True if @p p acknowledges what the capture has not shown yet. */
static bool connection_is_early(const struct connection *c, unsigned side, const struct packet *p)
{
	return p->flags & PACKET_ACK && cap_reassembly_lacks(&c->stream[!side].tcp, p->ack);
}

static void connection_take(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	uint64_t frame = c->frame, time = c->time;

	c->frame = f->number;
	c->time = f->time;
	cap_reassembly_segment(&c->stream[side].tcp, p, f);
	connection_tell_fin(&c->stream[side]);
	c->frame = frame;
	c->time = time;
}

static void connection_take_held(struct connection *c, unsigned i)
{
	struct order_segment next = order_take(&c->order, i);

	c->stream[next.side].tcp.held = c->order.of[next.side] != 0;
	connection_take(c, next.side, &next.p, &next.f);
}

/* The first of each side that waits, if it needs to no more. @return false: none. */
static bool connection_take_next(struct connection *c)
{
	bool seen[2] = {false, false};

	for (unsigned i = 0; i < c->order.n && !(seen[0] && seen[1]); i++) {
		const struct order_segment *o = &c->order.list[i];

		if (!seen[o->side] && !connection_is_early(c, o->side, &o->p)) {
			connection_take_held(c, i);
			return true;
		}
		seen[o->side] = true;
	}
	return false;
}

/* True if what comes next of a side is among what waits. */
static bool connection_holds_next(const struct connection *c, unsigned side)
{
	const struct order_segment *o = order_first(&c->order, side);
	uint32_t next = c->stream[side].tcp.next;

	return o && (next - o->p.seq < o->p.len || (o->p.len == 0 && next == o->p.seq));
}

/* The side whose text is missing, and not only waits itself; -1: none of that is to be seen. */
static int connection_missing(const struct connection *c)
{
	unsigned side = !c->order.list[0].side;

	for (unsigned i = 0; i < 2; i++, side = !side)
		if (c->order.of[!side] != 0 && !connection_holds_next(c, side))
			return (int)side;
	return -1;
}

/* What the first one waits for is not in the capture. */
static void connection_give_up(struct connection *c)
{
	int side = connection_missing(c);
	const struct order_segment *own;
	struct cap_reassembly *r;
	uint32_t end, next;

	if (side < 0) {
		connection_take_held(c, 0); /* they wait for each other */
		return;
	}
	end = order_first(&c->order, (unsigned)!side)->p.ack;
	own = order_first(&c->order, (unsigned)side);
	if (own && (int32_t)(end - own->p.seq) > 0)
		end = own->p.seq;
	r = &c->stream[side].tcp;
	next = r->next;
	c->order.silent[side] = !own;
	c->order.waits = 0;
	cap_reassembly_give_up_to(r, end);
	if (r->next == next)
		connection_take_held(c, 0); /* what it acknowledges cannot be */
}

static bool connection_has_waited(const struct connection *c)
{
	int side = connection_missing(c);

	return c->order.n > ORDER_MAX || c->order.waits > REASSEMBLY_PATIENCE ||
	       (side >= 0 && c->order.silent[side]);
}

/** Take what need not wait; @p all: the rest too. */
static void connection_take_waiting(struct connection *c, bool all)
{
	while (c->order.n != 0)
		if (!connection_take_next(c)) {
			if (!all && !connection_has_waited(c))
				return;
			connection_give_up(c);
		}
}

/* What was acknowledged before it was captured comes now, or was not captured at all. */
static void connection_settle_ahead(
	struct stream *s, const struct packet *p, const struct cap_frame *f)
{
	struct connection_ahead *most = &s->c->shared->ahead;
	const struct stream_ahead *a = &s->ahead;
	uint64_t ns;

	if (!a->set || (int32_t)(a->ack - s->sent) > 0)
		return;
	s->ahead.set = false;
	if ((int32_t)(a->ack - p->seq) <= 0 || a->file == f->file || a->unit == 0 || f->unit == 0 ||
		f->time <= a->time)
		return;
	ns = f->time - a->time;
	if (ns > most->ns && ns > (uint64_t)a->unit + f->unit)
		*most = (struct connection_ahead){
			.answer = a->frame, .question = f->number, .ns = ns};
}

static void connection_note_sent(
	struct stream *s, const struct packet *p, const struct cap_frame *f)
{
	uint32_t end = p->seq + p->len + (p->flags & PACKET_FIN ? 1 : 0);

	if (s->sent_known && (int32_t)(end - s->sent) <= 0)
		return;
	s->sent = end;
	s->sent_known = true;
	connection_settle_ahead(s, p, f);
}

static void connection_note_ahead(
	struct stream *s, const struct packet *p, const struct cap_frame *f)
{
	uint32_t sent = s->sent_known ? s->sent : s->tcp.next;
	int32_t n = (int32_t)(p->ack - sent);

	if (!s->ahead.set && (s->sent_known || s->tcp.known) && n > 0 && n < REASSEMBLY_WINDOW_MAX)
		s->ahead =
			(struct stream_ahead){true, p->ack, f->file, f->unit, f->number, f->time};
}

/*
 * RFC 5961 section 3.2: only at the very number that comes next. That is the first octet which is
 * not here, where the capture has all; or what the peer acknowledged last; or what is behind all
 * that was sent, and an end that resets takes it from there.
 */
bool connection_is_reset(const struct connection *c, unsigned side, const struct packet *p)
{
	const struct stream *s = &c->stream[side];
	const struct cap_reassembly *r = &s->tcp;

	if (!(p->flags & PACKET_RST))
		return false;
	if (!r->known && !r->acked_set && !s->sent_known)
		return true;
	return (r->known && p->seq == r->next) || (r->fin && p->seq == r->fin_seq + 1) ||
	       (r->acked_set && p->seq == r->acked) || (s->sent_known && p->seq == s->sent);
}

void connection_foreign(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	c->frame = f->number;
	c->time = f->time;
	if (c->id != 0 && c->ops->foreign)
		c->ops->foreign(c->user, c, &c->stream[side], p, f);
}

/* ---- holes of more than a window ------------------------------------------------------------- */

static void connection_jump(struct stream *s, uint32_t seq)
{
	if (cap_reassembly_far(&s->tcp, seq) == 0)
		return;
	cap_reassembly_jump(&s->tcp, seq);
	s->sent_known = false;
	s->ahead.set = false;
}

/*
 * What is further off than any window is behind a hole as large, as between two captures of one
 * connection. One segment like that may be anybody's; a row of them, with none of the others
 * between, is not.
 * @return false: leave it out.
 */
static bool connection_is_near(struct connection *c, unsigned side, const struct packet *p)
{
	struct stream *s = &c->stream[side], *peer = &c->stream[!side];
	unsigned own = cap_reassembly_far(&s->tcp, p->seq), row = own;
	unsigned acked = p->flags & PACKET_ACK ? cap_reassembly_far(&peer->tcp, p->ack) : 0;

	if (own == 0 || (acked != 0 && acked < own))
		row = acked;
	c->far = row != 0 && row != REASSEMBLY_FAR_OLD ? c->far + 1 : 0;
	if (row == 0)
		return true;
	if (c->far < row) {
		c->left_out++;
		return false;
	}
	connection_take_waiting(c, true);
	connection_jump(s, p->seq);
	if (p->flags & PACKET_ACK)
		connection_jump(peer, p->ack);
	c->far = 0;
	return true;
}

void connection_segment(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	struct stream *s = &c->stream[side], *peer = &c->stream[!side];
	bool text = p->len != 0 || p->flags & PACKET_FIN;

	c->frame = s->tcp.frame = peer->tcp.frame = f->number;
	c->time = s->tcp.time = peer->tcp.time = f->time;
	if (c->id != 0 && c->ops->segment)
		c->ops->segment(c->user, c, s, p, f);
	if (p->flags & PACKET_RST) {
		if (!connection_is_reset(c, side, p))
			connection_foreign(c, side, p, f);
		connection_tell_fin(s);
		return;
	}
	if (!connection_is_near(c, side, p))
		return;
	connection_note_sent(s, p, f);
	if (p->flags & PACKET_ACK) {
		connection_note_ahead(peer, p, f);
		cap_reassembly_ack(&peer->tcp, p->ack);
		connection_tell_fin(peer);
	}
	if (text)
		c->order.silent[side] = false;
	c->order.waits++;
	if (!text || (c->order.of[side] == 0 && !connection_is_early(c, side, p)) ||
		!order_add(&c->order, side, p, f))
		connection_take(c, side, p, f);
	s->tcp.held = c->order.of[side] != 0;
	connection_take_waiting(c, false);
}

void connection_damaged(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	c->frame = f->number;
	c->time = f->time;
	if (c->id != 0 && c->ops->damaged)
		c->ops->damaged(c->user, c, &c->stream[side], p, f);
}

size_t connection_memory(const struct connection *c)
{
	size_t n = sizeof *c + c->order.cap * sizeof *c->order.list;

	for (unsigned i = 0; i < 2; i++) {
		const struct stream *s = &c->stream[i];

		n += s->tcp.early.n * cap_early_piece_size + s->tcp.cap_old * sizeof(struct piece) +
		     s->cap * (sizeof *s->v + sizeof *s->meta);
	}
	if (c->sealed)
		n += sealed_memory(c->sealed);
	return c->ops->memory ? n + c->ops->memory(c) : n;
}

/** @return true: what is inside of TLS, and not read, is counted. */
static bool connection_count_unjudged(const struct connection *c)
{
	enum sealed_why why = sealed_why(c);

	if (why == SEALED_NOT)
		return false;
	c->shared->unjudged[why]++;
	return true;
}

bool connection_end(struct connection *c, enum connection_end how, uint64_t frame)
{
	bool known;

	connection_take_waiting(c, true);
	for (unsigned i = 0; i < 2; i++) {
		struct stream *s = &c->stream[i];

		cap_reassembly_flush(&s->tcp);
		if (s->joined) {
			s->joined = false; /* nothing comes that could tell of markers */
			stream_resume(s);
		}
		if (s->phase == STREAM_WAIT && s->total != 0 && c->id != 0) {
			/* What follows a request without a reply is looked at all the same. */
			stream_peer(s)->tcp.known = false;
			stream_resume(s);
		}
		if (c->id != 0)
			stream_finish(s);
		connection_tell_fin(s);
	}
	known = c->id != 0 || connection_count_unjudged(c);
	if (c->id != 0 && c->ops->closed)
		c->ops->closed(c->user, c, how, frame);
	stream_free(&c->stream[0]);
	stream_free(&c->stream[1]);
	sealed_free(c->sealed);
	order_free(&c->order);
	free(c);
	return known;
}
