/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/effect.h"
#include "vopr/model_rq.h"
#include "vopr/reason.h"

#include <stdlib.h>

/* ---- streams ----------------------------------------------------------------------------- */

void model_qp_init(struct model *m, struct model_qp *qp, unsigned host, unsigned pd,
	unsigned rights, struct model_rq *rq)
{
	*qp = (struct model_qp){.m = m, .host = host, .pd = pd, .rights = rights, .rq = rq};
	TAILQ_INIT(&qp->sq);
	TAILQ_INIT(&qp->inbox);
	LIST_INSERT_HEAD(&rq->users, qp, user);
	m->host[host].qps[pd]++;
	model_pd_doubt(m, host, pd);
}

void model_qp_fini(struct model_qp *qp)
{
	LIST_REMOVE(qp, user);
	qp->m->host[qp->host].qps[qp->pd]--;
	model_pd_doubt(qp->m, qp->host, qp->pd);
}

void model_connect(struct model_qp *a, struct model_qp *b)
{
	a->up = b->up = true;
	a->peer = b;
	b->peer = a;
}

void model_pair(struct model_qp *a, struct model_qp *b)
{
	model_connect(a, b);
	a->paired = b->paired = true;
	a->told = b->told = true;
}

/** Something has come from the other side. */
static void stream_is_proven(struct model_qp *qp)
{
	qp->made = true;
	if (qp->peer)
		qp->peer->made = true;
}

void model_established(struct model_qp *qp)
{
	qp->told = true;
	if (qp->peer && qp->peer->told)
		qp->made = qp->peer->made = true;
}

/**
 * One side may have closed in good order: by its program's wish; as a stream cut off seems to have;
 * or for its own queue, where it may not say so, as the initiator has not spoken yet (RFC 5044
 * section 7.1.2). The other then sends what was posted, in SQD too, and closes as well.
 */
static bool may_have_closed(const struct model_qp *qp)
{
	return reason_all(qp) & (MODEL_BY_PROGRAM | MODEL_BY_NETWORK | MODEL_BY_QUEUE);
}

void model_disconnected(struct model_qp *qp, bool in_order)
{
	/* The end of all that was posted, by its program's wish or the peer's. */
	if (in_order && qp->peer && !may_have_closed(qp))
		model_fail(qp->m, "host %u: a stream ended in good order for no reason", qp->host);
}

static void inbox_pop(struct model_qp *qp)
{
	struct model_wr *s = TAILQ_FIRST(&qp->inbox);

	TAILQ_REMOVE(&qp->inbox, s, inbox_link);
	qp->rq->expected--;
	model_wr_unref(s);
}

void model_dead(struct model_qp *qp)
{
	if (qp->dead || !qp->up)
		return;
	if (!reason_may_end(qp))
		model_fail(qp->m, "host %u: a stream ended for no reason", qp->host);
	reason_check_event(qp);
	qp->dead = true;
	effect_end_stream(qp, false, "its stream is dead");
	/* Of a shared queue it takes no more; what it took has come back. */
	for (; qp->rq->shared && TAILQ_FIRST(&qp->inbox); inbox_pop(qp))
		model_rq_lose(qp->rq, qp->rq_lost);
}

void model_gone(struct model_qp *qp)
{
	struct model_wr *w;

	if (qp->peer)
		model_end(qp->peer);
	if (!qp->rq->shared)
		model_rq_clear(qp->rq, qp);
	effect_end_stream(qp, true, "its QP is gone");
	while (TAILQ_FIRST(&qp->inbox)) {
		inbox_pop(qp);
		model_rq_lose(qp->rq, qp->rq->shared);
	}
	while ((w = TAILQ_FIRST(&qp->sq))) {
		TAILQ_REMOVE(&qp->sq, w, link);
		model_wr_unref(w);
	}
	if (qp->peer) {
		qp->peer->left_why = qp->why;
		qp->peer->peer = NULL;
	}
	model_rq_watch(qp->rq);
	model_qp_fini(qp);
	model_qp_init(qp->m, qp, qp->host, qp->pd, qp->rights, qp->rq);
}

static bool owes_requests(const struct model_qp *qp)
{
	const struct model_wr *w;

	TAILQ_FOREACH (w, &qp->sq, link)
		if (w->signalled || qp->sq_failed)
			return true;
	return false;
}

uint64_t model_oldest(const struct model_qp *qp)
{
	const struct model_wr *w = TAILQ_FIRST(&qp->sq);

	return w ? w->id : 0;
}

bool model_owes(const struct model_qp *qp)
{
	if (!qp->sq_lost && owes_requests(qp))
		return true;
	return qp->dead && !qp->rq->shared && !qp->rq_lost && !TAILQ_EMPTY(&qp->rq->wrs);
}

bool model_idle(const struct model_qp *qp)
{
	if (model_owes(qp) ||
		(!qp->dead && (qp->doomed || qp->must_end || (qp->sq_lost && owes_requests(qp)))))
		return false;
	return qp->dead || TAILQ_EMPTY(&qp->inbox);
}

/* ---- posting ----------------------------------------------------------------------------- */

static void judge_own(struct model_qp *qp, struct model_wr *w)
{
	enum model_verdict v;

	for (unsigned i = 0; i < w->n && !w->copied && w->op != MODEL_BIND; i++) {
		v = model_judge(w->local, qp, w->piece[i].off, w->piece[i].len,
			model_is_answered(w) ? MODEL_LOCAL_WRITE : 0);
		w->verdict_local = v > w->verdict_local ? v : w->verdict_local;
	}
	if (w->op == MODEL_INVALIDATE)
		w->verdict_local = model_judge_end(w->change, qp, false);
	if (w->op == MODEL_BIND)
		w->verdict_local = model_judge_bind(qp, w);
	if (w->verdict_local != MODEL_YES)
		reason_add(qp, reason_own_memory(w), w);
}

static void judge_peers(struct model_qp *qp, struct model_wr *w)
{
	static const unsigned rights[] = {[MODEL_WRITE] = MODEL_REMOTE_WRITE,
		[MODEL_WRITE_IMM] = MODEL_REMOTE_WRITE,
		[MODEL_READ] = MODEL_REMOTE_READ,
		[MODEL_ADD] = MODEL_REMOTE_ATOMIC,
		[MODEL_SWAP] = MODEL_REMOTE_ATOMIC,
		[MODEL_RECV] = 0};
	unsigned need = rights[w->op];

	if (need && w->length)
		w->verdict_remote =
			(qp->peer->rights & need) == need
				? model_judge(w->remote, qp->peer, w->at, w->length, need)
				: MODEL_NO;
	if (w->op == MODEL_SEND && w->change)
		w->verdict_remote = model_judge_end(w->change, qp->peer, true);
	if (w->verdict_remote != MODEL_YES)
		reason_add(qp, MODEL_BY_REFUSAL, w);
}

/** A message takes a receive of the peer's, which is there or not, and long enough or not. */
static void expect(struct model_qp *to, struct model_wr *w)
{
	w->refs++;
	TAILQ_INSERT_TAIL(&to->inbox, w, inbox_link);
	to->rq->expected++;
	model_rq_watch(to->rq);
	w->too_long = w->op == MODEL_SEND && w->length > to->rq->least;
	if (w->too_long)
		reason_add(to->peer, MODEL_BY_RECEIVE, w);
}

void model_post(struct model_qp *qp, const struct model_wr *wr)
{
	struct model_wr *w = model_need(malloc(sizeof *w));
	bool live = qp->up && !qp->dead && qp->peer && !qp->peer->dead;

	*w = *wr;
	w->signalled = w->signalled || qp->all_signalled;
	w->seq = ++qp->posted;
	w->refs = 1;
	TAILQ_INSERT_TAIL(&qp->sq, w, link);
	qp->count++;
	judge_own(qp, w);
	if (live)
		judge_peers(qp, w);
	if (!qp->doomed && (w->verdict_local == MODEL_NO || w->verdict_remote == MODEL_NO))
		qp->doomed = w->seq;
	effect_of_request(qp, w, live);
	/* What must fail changes nothing. */
	if (w->verdict_local != MODEL_NO && w->verdict_remote != MODEL_NO) {
		model_key_doubt(w->change_end);
		model_key_doubt(w->op == MODEL_BIND ? NULL : w->change);
	}
	if (w->op == MODEL_BIND)
		w->change->valid = w->verdict_local == MODEL_NO ? MODEL_NO : MODEL_MAYBE;
	if (live && model_is_message(w->op))
		expect(qp->peer, w);
}

/* ---- completions of requests ------------------------------------------------------------- */

/** Is it the only reason for which the stream ended? Then it must be told so. */
static bool is_to_blame(const struct model_qp *qp, const struct model_wr *w)
{
	return w->seq == qp->doomed && reason_is_only_one(qp) &&
	       (w->verdict_local == MODEL_NO ||
		       (model_is_answered(w) && w->verdict_remote == MODEL_NO));
}

static bool status_is_true(
	const struct model_qp *qp, const struct model_wr *w, enum model_status status)
{
	switch (status) {
	case MODEL_FLUSHED:
		return reason_may_end(qp) && !is_to_blame(qp, w);
	case MODEL_LOCAL_ERROR:
		return w->op != MODEL_BIND && w->verdict_local != MODEL_YES;
	case MODEL_BIND_ERROR:
		return w->op == MODEL_BIND && w->verdict_local != MODEL_YES;
	case MODEL_REMOTE_ACCESS_ERROR:
		return w->op != MODEL_SEND && w->verdict_remote != MODEL_YES;
	case MODEL_REMOTE_REQUEST_ERROR: /* its receive is too short, or its key cannot be ended */
		return w->op == MODEL_SEND && (w->verdict_remote != MODEL_YES || w->too_long);
	case MODEL_REMOTE_ERROR: /* there is no receive */
		return model_is_message(w->op) && qp->why & MODEL_BY_RECEIVE;
	case MODEL_RETRY_ERROR: /* the oldest, and no other: the peer has ended, or is not heard */
		return qp->paired && !qp->sq_failed && !qp->held && reason_peer_may_leave(qp);
	default:
		return false;
	}
}

static void request_good(struct model_qp *qp, struct model_wr *w)
{
	struct model *m = qp->m;

	m->good++;
	if (qp->sq_failed)
		model_fail(m, "host %u: request %#jx succeeded behind one that failed", qp->host,
			(uintmax_t)w->id);
	if (qp->held && w->signalled && !may_have_closed(qp))
		model_fail(m, "host %u: request %#jx succeeded in SQD, after its end", qp->host,
			(uintmax_t)w->id);
	if (!qp->told)
		model_fail(m, "host %u: request %#jx succeeded before there was a stream", qp->host,
			(uintmax_t)w->id);
	if (w->verdict_local == MODEL_NO || (model_is_answered(w) && w->verdict_remote == MODEL_NO))
		model_fail(m, "host %u: request %#jx succeeded, which cannot be", qp->host,
			(uintmax_t)w->id);
	if (model_is_answered(w) && qp->doomed && w->seq > qp->doomed)
		model_fail(m, "host %u: request %#jx was answered behind one that must end all",
			qp->host, (uintmax_t)w->id);
	if (model_is_answered(w)) {
		stream_is_proven(qp);
		reason_clear(qp, w->seq, true);
		if (qp->peer)
			effect_delivered(qp->peer, w->seq, true);
	}
	if (w->change_end)
		model_key_end(w->change_end);
	if (w->op == MODEL_BIND)
		w->change->valid = MODEL_YES;
	else if (w->op == MODEL_INVALIDATE)
		model_key_end(w->change);
}

static void request_done(struct model_qp *qp, struct model_wr *w, enum model_status status)
{
	TAILQ_REMOVE(&qp->sq, w, link);
	qp->count--;
	if (status == MODEL_GOOD) {
		request_good(qp, w);
	} else {
		qp->m->failed++;
		if (!status_is_true(qp, w, status))
			model_fail(qp->m,
				"host %u: request %#jx ended with status %u for no reason",
				qp->host, (uintmax_t)w->id, status);
		qp->sq_failed = true;
	}
	effect_own_memory(qp->m, qp->host, w, status == MODEL_GOOD);
	/* One that has failed may reach the peer all the same, late. */
	if (qp->peer && w->op == MODEL_READ && status == MODEL_GOOD)
		arena_release_of(qp->m, qp->peer->host, w);
	model_wr_unref(w);
}

static void request_complete(struct model_qp *qp, const struct model_completion *c)
{
	struct model_wr *w;

	while ((w = TAILQ_FIRST(&qp->sq)) && w->id != c->id && !qp->m->wrong[0]) {
		if (w->signalled || qp->sq_failed)
			model_fail(qp->m, "host %u: completion of %#jx, but none of %#jx", qp->host,
				(uintmax_t)c->id, (uintmax_t)w->id);
		request_done(qp, w, MODEL_GOOD);
	}
	if (!w || w->id != c->id) {
		model_fail(qp->m, "host %u: a completion of %#jx, which is not posted", qp->host,
			(uintmax_t)c->id);
		return;
	}
	if (c->status == MODEL_GOOD &&
		(!w->signalled || c->op != (w->op == MODEL_WRITE_IMM ? MODEL_WRITE : w->op) ||
			(model_is_answered(w) && c->length != w->length)))
		model_fail(qp->m, "host %u: the completion of %#jx tells of another request",
			qp->host, (uintmax_t)c->id);
	request_done(qp, w, c->status);
}

/* ---- completions of receives ------------------------------------------------------------- */

static void recv_good(struct model_qp *qp, struct model_wr *w, const struct model_completion *c)
{
	struct model_wr *s = TAILQ_FIRST(&qp->inbox);
	bool imm;

	if (!s || qp->rq_failed || !qp->told) {
		model_fail(qp->m, "host %u: receive %#jx of a message that %s", qp->host,
			(uintmax_t)c->id, s ? "cannot be here" : "nobody sent");
		return;
	}
	qp->m->received++;
	stream_is_proven(qp);
	imm = s->op == MODEL_WRITE_IMM || s->with_imm;
	if (c->length != s->length || c->immediate != imm || (imm && c->imm != s->imm) ||
		c->solicited != s->solicited || c->ends != (s->change != NULL) ||
		c->of_write != (s->op == MODEL_WRITE_IMM) ||
		(c->ends && c->stag != s->change->stag))
		model_fail(qp->m, "host %u: receive %#jx tells of another message than %#jx",
			qp->host, (uintmax_t)c->id, (uintmax_t)s->id);
	if ((s->op == MODEL_SEND && s->length > w->length) || s->verdict_local == MODEL_NO ||
		(s->op == MODEL_SEND && s->length && w->verdict_local == MODEL_NO) ||
		s->verdict_remote == MODEL_NO ||
		(qp->peer && qp->peer->doomed && s->seq > qp->peer->doomed))
		model_fail(qp->m, "host %u: receive %#jx of message %#jx, which cannot be",
			qp->host, (uintmax_t)c->id, (uintmax_t)s->id);
	else
		effect_foresee_recv(qp->rq, w, s);
	if (qp->peer)
		reason_clear(qp->peer, s->seq, false);
	effect_delivered(qp, s->seq, false);
	arena_release_of(qp->m, qp->host, s);
	effect_own_memory(qp->m, qp->host, w, w->data);
	if (s->change)
		model_key_end(s->change);
	model_rq_took(qp->rq, s);
	inbox_pop(qp);
}

static void recv_bad(struct model_qp *qp, struct model_wr *w, enum model_status status)
{
	struct model_wr *s = TAILQ_FIRST(&qp->inbox);
	bool long_one = s && s->op == MODEL_SEND && s->length > w->length;

	qp->rq_failed = true;
	if (!(status == MODEL_LENGTH_ERROR ? long_one : status_is_true(qp, w, status)))
		model_fail(qp->m, "host %u: receive %#jx ended with status %u for no reason",
			qp->host, (uintmax_t)w->id, status);
	if (w->verdict_local != MODEL_YES)
		reason_add(qp, MODEL_BY_OWN_MEMORY, NULL);
	effect_give_up_recv(qp->rq, w, s);
	if (s)
		inbox_pop(qp);
}

static void recv_complete(struct model_qp *qp, const struct model_completion *c)
{
	struct model_wr *w = TAILQ_FIRST(&qp->rq->wrs);

	while (qp->rq->shared && w && w->id != c->id)
		w = TAILQ_NEXT(w, link);
	if (!w || w->id != c->id) {
		model_fail(qp->m, "host %u: receive %#jx completed, which is not the next",
			qp->host, (uintmax_t)c->id);
		return;
	}
	if (c->status == MODEL_GOOD)
		recv_good(qp, w, c);
	else
		recv_bad(qp, w, c->status);
	model_rq_take(qp->rq, w);
}

void model_complete(struct model_qp *qp, const struct model_completion *c)
{
	if (c->op == MODEL_RECV)
		recv_complete(qp, c);
	else
		request_complete(qp, c);
}
