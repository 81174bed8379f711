/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/model_ud.h"

#include "vopr/arena.h"

#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 0x5a

void model_ud_init(struct model *m, struct model_ud *u, unsigned host, uint32_t num, uint32_t qkey)
{
	*u = (struct model_ud){.m = m, .host = host, .num = num, .qkey = qkey};
	TAILQ_INIT(&u->sq);
	TAILQ_INIT(&u->rq);
}

static void drop(struct model_ud_wrs *wrs, struct model_ud_wr *w, unsigned *n)
{
	TAILQ_REMOVE(wrs, w, link);
	free(w);
	--*n;
}

void model_ud_clear(struct model_ud *u)
{
	while (!TAILQ_EMPTY(&u->sq))
		drop(&u->sq, TAILQ_FIRST(&u->sq), &u->sends);
	while (!TAILQ_EMPTY(&u->rq))
		drop(&u->rq, TAILQ_FIRST(&u->rq), &u->receives);
	u->doomed = u->failed = false;
}

void model_ud_post(struct model_ud *u, const struct model_ud_wr *wr)
{
	struct model_ud_wr *w = model_need(malloc(sizeof *w));

	*w = *wr;
	TAILQ_INSERT_TAIL(&u->sq, w, link);
	u->sends++;
	u->doomed = u->doomed || w->bad;
}

void model_ud_post_recv(struct model_ud *u, const struct model_ud_wr *wr)
{
	struct model_ud_wr *w = model_need(malloc(sizeof *w));

	*w = *wr;
	memset(w->at, UNTOUCHED, w->room);
	TAILQ_INSERT_TAIL(&u->rq, w, link);
	u->receives++;
}

/* ---- messages ---------------------------------------------------------------------------- */

static bool is_alike(const struct model_ud_message *a, const struct model_ud_message *b)
{
	return a->from == b->from && a->to == b->to && a->qkey == b->qkey &&
	       a->with_imm == b->with_imm && (!a->with_imm || a->imm == b->imm) &&
	       a->solicited == b->solicited && a->length == b->length && a->tos == b->tos &&
	       a->ttl == b->ttl && !memcmp(a->gid, b->gid, sizeof a->gid) &&
	       !memcmp(a->data, b->data, a->length);
}

void model_ud_sent(struct model_ud *u, const struct model_ud_message *s)
{
	struct model_ud_wr *w;

	TAILQ_FOREACH (w, &u->sq, link)
		if (!w->done && !w->nowhere)
			break;
	if (!w || w->bad || !is_alike(&w->message, s))
		model_fail(u->m, "host %u: a datagram that is not of %#jx", u->host,
			(uintmax_t)(w ? w->id : 0));
	else
		w->done = true;
}

bool model_ud_arrived(struct model_ud *u, const struct model_ud_message *s)
{
	struct model_ud_wr *w;

	TAILQ_FOREACH (w, &u->rq, link)
		if (!w->done)
			break;
	if (!w || s->qkey != u->qkey || w->room < MODEL_UD_GRH + s->length)
		return false;
	w->done = true;
	w->message = *s;
	return true;
}

/** InfiniBand's header, as RoCE has it. */
static void expect_grh(uint8_t to[MODEL_UD_GRH], const struct model_ud_message *s)
{
	const uint8_t head[8] = {0x60 | s->tos >> 4, (uint8_t)(s->tos << 4), 0, 0,
		(uint8_t)(s->length >> 8), (uint8_t)s->length, 0x1b, s->ttl};

	memcpy(to, head, sizeof head);
	memcpy(to + sizeof head, s->gid, sizeof s->gid);
}

/** Is the message where it belongs, and nothing beside it? */
static bool is_placed(const struct model_ud_wr *w)
{
	uint32_t end = w->done ? MODEL_UD_GRH + w->message.length : 0;
	uint8_t grh[MODEL_UD_GRH];

	for (uint32_t i = end; i < w->room; i++)
		if (w->at[i] != UNTOUCHED)
			return false;
	expect_grh(grh, &w->message);
	return !w->done ||
	       (!memcmp(w->at, grh, MODEL_UD_GRH) &&
		       !memcmp(w->at + MODEL_UD_GRH, w->message.data, w->message.length));
}

/* ---- completions ------------------------------------------------------------------------- */

static bool recv_is_true(const struct model_ud *u, const struct model_ud_wr *w,
	const struct model_completion *c, uint32_t from)
{
	const struct model_ud_message *s = &w->message;

	if (c->status != MODEL_GOOD)
		return c->status == MODEL_FLUSHED && u->doomed && !w->done;
	return w->done && c->length == MODEL_UD_GRH + s->length && c->immediate == s->with_imm &&
	       (!s->with_imm || c->imm == s->imm) && c->solicited == s->solicited && !c->ends &&
	       !c->of_write && from == s->from;
}

static void recv_complete(struct model_ud *u, const struct model_completion *c, uint32_t from)
{
	struct model_ud_wr *w = TAILQ_FIRST(&u->rq);

	if (!w || w->id != c->id) {
		model_fail(u->m, "host %u: receive %#jx of UD completed, which is not the next",
			u->host, (uintmax_t)c->id);
		return;
	}
	if (!recv_is_true(u, w, c, from))
		model_fail(u->m, "host %u: receive %#jx of UD tells of another message, status %u",
			u->host, (uintmax_t)c->id, c->status);
	if (!is_placed(w))
		model_fail(u->m, "host %u: receive %#jx of UD has another message", u->host,
			(uintmax_t)c->id);
	drop(&u->rq, w, &u->receives);
}

static bool send_is_true(
	const struct model_ud *u, const struct model_ud_wr *w, const struct model_completion *c)
{
	switch (c->status) {
	case MODEL_GOOD:
		return w->signalled && !w->bad && !u->failed && (w->done || w->nowhere) &&
		       c->op == MODEL_SEND;
	case MODEL_FLUSHED:
		return u->doomed && !w->done;
	default:
		return c->status == w->bad && !u->failed;
	}
}

static void send_complete(struct model_ud *u, const struct model_completion *c)
{
	struct model_ud_wr *w;

	while ((w = TAILQ_FIRST(&u->sq)) && w->id != c->id) {
		if (w->signalled || u->failed || (!w->done && !w->nowhere))
			model_fail(u->m, "host %u: completion of %#jx of UD, but none of %#jx",
				u->host, (uintmax_t)c->id, (uintmax_t)w->id);
		drop(&u->sq, w, &u->sends);
	}
	if (!w || !send_is_true(u, w, c))
		model_fail(u->m, "host %u: request %#jx of UD ended with status %u for no reason",
			u->host, (uintmax_t)c->id, c->status);
	u->failed = u->failed || c->status != MODEL_GOOD;
	if (w)
		drop(&u->sq, w, &u->sends);
}

void model_ud_complete(struct model_ud *u, const struct model_completion *c, uint32_t from)
{
	if (c->op == MODEL_RECV)
		recv_complete(u, c, from);
	else
		send_complete(u, c);
}

bool model_ud_is_idle(const struct model_ud *u)
{
	const struct model_ud_wr *w;

	TAILQ_FOREACH (w, &u->sq, link)
		if (!w->done && !w->nowhere)
			return false;
	return true;
}

void model_ud_empty(const struct model_ud *u, bool in_error)
{
	const struct model_ud_wr *w;

	TAILQ_FOREACH (w, &u->sq, link)
		if (w->done && w->signalled)
			model_fail(u->m, "host %u: request %#jx of UD does not complete", u->host,
				(uintmax_t)w->id);
	TAILQ_FOREACH (w, &u->rq, link)
		if (w->done)
			model_fail(u->m, "host %u: receive %#jx of UD does not complete", u->host,
				(uintmax_t)w->id);
	if (in_error && (u->receives || !u->doomed))
		model_fail(u->m, "host %u: QP %u of UD in ERROR keeps %u receives", u->host, u->num,
			u->receives);
	TAILQ_FOREACH (w, &u->sq, link)
		if (in_error && !w->done && !(w->nowhere && !w->signalled))
			model_fail(u->m, "host %u: request %#jx of UD in ERROR is not flushed",
				u->host, (uintmax_t)w->id);
}
