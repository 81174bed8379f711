/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_fail(struct model *m, const char *fmt, ...)
{
	va_list ap;

	if (m->wrong[0])
		return;
	va_start(ap, fmt);
	vsnprintf(m->wrong, sizeof m->wrong, fmt, ap);
	va_end(ap);
}

/* ---- keys -------------------------------------------------------------------------------- */

struct model_key *model_key_new(
	struct model *m, unsigned host, unsigned pd, uint32_t off, uint32_t len, unsigned rights)
{
	struct model_key *k = model_need(calloc(1, sizeof *k));

	*k = (struct model_key){
		.m = m, .host = host, .pd = pd, .rights = rights, .off = off, .len = len};
	LIST_INSERT_HEAD(&m->keys, k, link);
	return k;
}

enum model_verdict model_judge(const struct model_key *k, const struct model_qp *qp, uint32_t off,
	uint32_t len, unsigned rights)
{
	if (!k || k->valid == MODEL_NO || k->host != qp->host || k->pd != qp->pd ||
		(k->only && k->only != qp) || (k->rights & rights) != rights || off < k->off ||
		off + len > k->off + k->len)
		return MODEL_NO;
	return k->valid;
}

enum model_verdict model_judge_end(const struct model_key *k, const struct model_qp *qp)
{
	const unsigned remote = MODEL_REMOTE_WRITE | MODEL_REMOTE_READ | MODEL_REMOTE_ATOMIC;

	/* RFC 5040 section 5.3: only of what peers may reach. */
	return k->rights & remote ? model_judge(k, qp, k->off, 0, 0) : MODEL_NO;
}

/** Whether it holds, nobody knows: a request that changes it is under way. */
static void key_doubt(struct model_key *k)
{
	struct model_host *h;

	if (!k || k->valid == MODEL_NO)
		return;
	k->valid = MODEL_MAYBE;
	h = &k->m->host[k->host];
	for (unsigned i = 0; i < h->n; i++) {
		struct model_wr *w = h->claim[i].wr;

		if (h->claim[i].key != k)
			continue;
		if (h->claim[i].incoming)
			w->verdict_remote = MODEL_MAYBE;
		else
			w->verdict_local = MODEL_MAYBE;
		if (w->op == MODEL_RECV)
			w->rq->spoiled = true;
		else
			model_excuse(h->claim[i].via);
	}
}

void model_key_end(struct model_key *k)
{
	struct model_host *h = &k->m->host[k->host];

	key_doubt(k);
	k->valid = MODEL_NO;
	for (unsigned i = h->n; i--;) {
		if (h->claim[i].key != k)
			continue;
		if (!h->claim[i].incoming)
			h->claim[i].wr->unchecked = true;
		arena_release(k->m, k->host, i, "a key of it was ended");
	}
}

/* ---- queue pairs ------------------------------------------------------------------------- */

void model_init(struct model *m, uint8_t *const memory[MODEL_HOSTS])
{
	*m = (struct model){.waits = false};
	LIST_INIT(&m->keys);
	for (unsigned i = 0; i < MODEL_HOSTS; i++) {
		m->host[i].memory = memory[i];
		if (memory[i])
			m->host[i].known = model_need(calloc(1, MODEL_ARENA));
	}
}

void model_fini(struct model *m)
{
	struct model_key *k;

	for (unsigned i = 0; i < MODEL_HOSTS; i++) {
		while (m->host[i].n)
			arena_forget(&m->host[i], m->host[i].n - 1);
		free(m->host[i].claim);
		free(m->host[i].known);
	}
	while ((k = LIST_FIRST(&m->keys))) {
		LIST_REMOVE(k, link);
		free(k);
	}
}

void model_rq_init(struct model *m, struct model_rq *rq, unsigned host, bool shared, uint32_t least)
{
	*rq = (struct model_rq){.m = m, .host = host, .shared = shared, .least = least};
	TAILQ_INIT(&rq->wrs);
	LIST_INIT(&rq->users);
}

void model_qp_init(struct model *m, struct model_qp *qp, unsigned host, unsigned pd,
	unsigned rights, struct model_rq *rq)
{
	*qp = (struct model_qp){.m = m, .host = host, .pd = pd, .rights = rights, .rq = rq};
	TAILQ_INIT(&qp->sq);
	TAILQ_INIT(&qp->inbox);
	LIST_INSERT_HEAD(&rq->users, qp, user);
}

void model_qp_fini(struct model_qp *qp)
{
	LIST_REMOVE(qp, user);
}

void model_connect(struct model_qp *a, struct model_qp *b)
{
	a->up = b->up = true;
	a->peer = b;
	b->peer = a;
	/* What was wrong with one of them before. */
	a->excused = b->excused = a->excused || b->excused;
	a->excuses = b->excuses = a->excuses + b->excuses;
}

void model_connected(struct model_qp *qp)
{
	qp->made = true;
	if (qp->peer)
		qp->peer->made = true;
}

static bool may_end(const struct model_qp *qp)
{
	return qp->excused || !qp->made || qp->rq->spoiled || (qp->peer && qp->peer->rq->spoiled);
}

static void excuse(struct model_qp *qp)
{
	qp->excused = true;
	if (qp->peer)
		qp->peer->excused = true;
}

void model_excuse(struct model_qp *qp)
{
	excuse(qp);
	qp->excuses++;
	if (qp->peer)
		qp->peer->excuses++;
}

/** Give up the claims of a stream: those of the peer, or all. */
static void release_stream(struct model_qp *qp, bool all, const char *when)
{
	struct model_host *h = &qp->m->host[qp->host];

	for (unsigned i = h->n; i--;) {
		if (h->claim[i].via == qp && (all || h->claim[i].incoming))
			arena_release(qp->m, qp->host, i, when);
	}
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
	if (!may_end(qp))
		model_fail(qp->m, "host %u: a stream ended for no reason", qp->host);
	excuse(qp);
	qp->dead = true;
	release_stream(qp, false, "its stream is dead");
	/* Of a shared queue it takes no more; what it took has come back. */
	while (qp->rq->shared && TAILQ_FIRST(&qp->inbox))
		inbox_pop(qp);
}

static void rq_take(struct model_rq *rq, struct model_wr *w)
{
	TAILQ_REMOVE(&rq->wrs, w, link);
	rq->count--;
	model_wr_unref(w);
}

/** What a receive holds when @p s, or nothing, has come into it; known to its claims. */
static void recv_foresee(struct model_rq *rq, struct model_wr *w, const struct model_wr *s)
{
	struct model_host *h = &rq->m->host[rq->host];
	uint32_t at = 0, end = s && s->op == MODEL_SEND && s->data ? s->length : 0;

	w->data = model_need(malloc(w->length + 1));
	for (unsigned i = 0; i < w->n; at += w->piece[i++].len) {
		uint32_t len = w->piece[i].len, n = end < at ? 0 : end - at < len ? end - at : len;

		memcpy(w->data + at, h->known + w->piece[i].off, len);
		if (n)
			memcpy(w->data + at, s->data + at, n);
		for (unsigned c = 0; c < h->n; c++) {
			if (h->claim[c].wr == w && h->claim[c].off == w->piece[i].off)
				h->claim[c].data = w->data + at;
		}
	}
}

/** Its own memory is the program's again: as it must be, or done in part. */
static void own_memory(struct model *m, unsigned host, struct model_wr *w, bool good)
{
	for (unsigned i = 0; i < m->host[host].n;) {
		const struct model_claim *c = &m->host[host].claim[i];

		if (c->wr != w || c->incoming)
			i++;
		else if (good && c->write)
			arena_resolve(m, host, i);
		else
			arena_release(m, host, i, "its request has failed");
	}
}

/** Give up a receive: untouched, or with something of @p s, the message that was to come. */
static void recv_give_up(struct model_rq *rq, struct model_wr *w, const struct model_wr *s)
{
	if (s || !rq->holes)
		recv_foresee(rq, w, s);
	own_memory(rq->m, rq->host, w, false);
}

static void rq_clear(struct model_rq *rq, struct model_qp *qp)
{
	struct model_wr *w, *s = qp ? TAILQ_FIRST(&qp->inbox) : NULL;

	while ((w = TAILQ_FIRST(&rq->wrs))) {
		recv_give_up(rq, w, s);
		s = s ? TAILQ_NEXT(s, inbox_link) : NULL;
		rq_take(rq, w);
	}
	rq->spoiled = false;
}

void model_rq_fini(struct model_rq *rq)
{
	rq_clear(rq, NULL);
}

void model_gone(struct model_qp *qp)
{
	struct model_wr *w;

	if (qp->up)
		model_excuse(qp);
	qp->dead = qp->up;
	if (!qp->rq->shared)
		rq_clear(qp->rq, qp);
	release_stream(qp, true, "its QP is gone");
	while (TAILQ_FIRST(&qp->inbox)) {
		inbox_pop(qp);
		qp->rq->holes += qp->rq->shared;
	}
	while ((w = TAILQ_FIRST(&qp->sq))) {
		TAILQ_REMOVE(&qp->sq, w, link);
		model_wr_unref(w);
	}
	if (qp->peer)
		qp->peer->peer = NULL;
	model_qp_fini(qp);
	model_qp_init(qp->m, qp, qp->host, qp->pd, qp->rights, qp->rq);
}

bool model_owes(const struct model_qp *qp)
{
	const struct model_wr *w;

	TAILQ_FOREACH (w, &qp->sq, link)
		if (w->signalled || qp->sq_failed)
			return true;
	return qp->dead && !qp->rq->shared && !TAILQ_EMPTY(&qp->rq->wrs);
}

bool model_idle(const struct model_qp *qp)
{
	if (model_owes(qp) || (qp->doomed && !qp->dead))
		return false;
	return qp->dead || TAILQ_EMPTY(&qp->inbox);
}

/* ---- posting ----------------------------------------------------------------------------- */

/** RFC 7306 section 5.1.1: no carry leaves a field, whose highest bit the mask has. */
static uint64_t add(uint64_t value, uint64_t operand, uint64_t mask)
{
	uint64_t sum = 0;
	unsigned carry = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bits = (value >> i & 1) + (operand >> i & 1) + carry;

		sum |= (uint64_t)(bits & 1) << i;
		carry = mask >> i & 1 ? 0 : bits >> 1;
	}
	return sum;
}

static bool is_atomic(const struct model_wr *w)
{
	return w->op == MODEL_ADD || w->op == MODEL_SWAP;
}

static bool is_answered(const struct model_wr *w)
{
	return w->op == MODEL_READ || is_atomic(w);
}

static bool is_message(const struct model_wr *w)
{
	return w->op == MODEL_SEND || w->op == MODEL_WRITE_IMM;
}

/** Data of an Atomic: the value before, then that after. */
static void foresee_atomic(struct model_qp *qp, struct model_wr *w)
{
	uint64_t v[2];

	arena_foresee(qp->m, qp->peer->host, w->at, 8, qp->peer, true, (uint8_t *)v);
	if (w->op == MODEL_ADD)
		v[1] = add(v[0], w->operand, w->mask);
	else if (((v[0] ^ w->compare) & w->compare_mask) == 0)
		v[1] = (v[0] & ~w->mask) | (w->operand & w->mask);
	else
		v[1] = v[0];
	memcpy(w->data, v, sizeof v);
}

static void foresee_data(struct model_qp *qp, struct model_wr *w, bool live)
{
	uint32_t at = 0;

	w->data = model_need(malloc(w->length + 16));
	if (live && is_atomic(w))
		foresee_atomic(qp, w);
	else if (live && w->op == MODEL_READ)
		arena_foresee(qp->m, qp->peer->host, w->at, w->length, qp->peer, true, w->data);
	for (unsigned i = 0; i < w->n && !is_answered(w); at += w->piece[i++].len)
		arena_foresee(
			qp->m, qp->host, w->piece[i].off, w->piece[i].len, qp, false, w->data + at);
}

static void judge_request(struct model_qp *qp, struct model_wr *w, bool live)
{
	static const unsigned rights[] = {[MODEL_WRITE] = MODEL_REMOTE_WRITE,
		[MODEL_WRITE_IMM] = MODEL_REMOTE_WRITE,
		[MODEL_READ] = MODEL_REMOTE_READ,
		[MODEL_ADD] = MODEL_REMOTE_ATOMIC,
		[MODEL_SWAP] = MODEL_REMOTE_ATOMIC,
		[MODEL_RECV] = 0};
	enum model_verdict v;

	for (unsigned i = 0; i < w->n && !w->copied && w->op != MODEL_BIND; i++) {
		v = model_judge(w->local, qp, w->piece[i].off, w->piece[i].len,
			is_answered(w) ? MODEL_LOCAL_WRITE : 0);
		w->verdict_local = v > w->verdict_local ? v : w->verdict_local;
	}
	if (w->op == MODEL_INVALIDATE)
		w->verdict_local = model_judge(w->change, qp, w->change->off, 0, 0);
	if (w->op == MODEL_BIND)
		w->verdict_local = model_judge(w->remote, qp, w->at, w->length,
			MODEL_BINDS |
				(w->bind_rights & ~MODEL_REMOTE_READ ? MODEL_LOCAL_WRITE : 0));
	if (!live)
		return;
	if (rights[w->op] && w->length)
		w->verdict_remote =
			(qp->peer->rights & rights[w->op]) == rights[w->op]
				? model_judge(w->remote, qp->peer, w->at, w->length, rights[w->op])
				: MODEL_NO;
	if (w->op == MODEL_SEND && w->change)
		w->verdict_remote = model_judge_end(w->change, qp->peer);
}

/** It needs no memory, but a key that must not end meanwhile. */
static void claim_key(
	struct model_qp *via, struct model_wr *w, const struct model_key *k, bool incoming)
{
	arena_claim(via->m, via->host,
		&(struct model_claim){
			.wr = w, .off = MODEL_NOWHERE, .incoming = incoming, .via = via, .key = k});
}

static void claim_all(struct model_qp *qp, struct model_wr *w, bool live)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < w->n && !w->copied && w->verdict_local != MODEL_NO;
		at += w->piece[i++].len) {
		arena_claim(qp->m, qp->host,
			&(struct model_claim){.wr = w,
				.off = w->piece[i].off,
				.len = w->piece[i].len,
				.write = is_answered(w),
				.via = qp,
				.key = w->local,
				.data = w->data + at});
	}
	if (live && w->op != MODEL_SEND && w->op < MODEL_INVALIDATE &&
		w->verdict_remote != MODEL_NO)
		arena_claim(qp->m, qp->peer->host,
			&(struct model_claim){.wr = w,
				.off = w->at,
				.len = w->length,
				.write = w->op != MODEL_READ,
				.incoming = true,
				.via = qp->peer,
				.key = w->remote,
				.data = w->data + (is_atomic(w) ? 8 : 0)});
	if (w->op >= MODEL_INVALIDATE)
		claim_key(qp, w, w->op == MODEL_BIND ? w->remote : w->change, false);
	else if (live && w->op == MODEL_SEND && w->change)
		claim_key(qp->peer, w, w->change, true);
}

/** A message takes a receive of the peer's, which is there or not, and long enough or not. */
static void expect(struct model_qp *to, struct model_wr *w)
{
	w->refs++;
	TAILQ_INSERT_TAIL(&to->inbox, w, inbox_link);
	to->rq->expected++;
	if (!to->m->waits && (to->rq->expected > to->rq->count || to->rq->holes)) {
		struct model_qp *q;

		/* Of a shared queue, any of its messages may be that which comes too late. */
		LIST_FOREACH (q, &to->rq->users, user)
			if (!TAILQ_EMPTY(&q->inbox))
				model_excuse(q);
	}
	if (w->op == MODEL_SEND && w->length > to->rq->least)
		model_excuse(to);
}

void model_post(struct model_qp *qp, const struct model_wr *wr)
{
	struct model_wr *w = model_need(malloc(sizeof *w));
	bool live = qp->up && !qp->dead && qp->peer && !qp->peer->dead;

	*w = *wr;
	w->qp = qp;
	w->seq = ++qp->posted;
	w->refs = 1;
	TAILQ_INSERT_TAIL(&qp->sq, w, link);
	qp->count++;
	judge_request(qp, w, live);
	if (w->verdict_local != MODEL_YES || w->verdict_remote != MODEL_YES)
		model_excuse(qp);
	if (!qp->doomed && (w->verdict_local == MODEL_NO || w->verdict_remote == MODEL_NO))
		qp->doomed = w->seq;
	foresee_data(qp, w, live);
	claim_all(qp, w, live);
	key_doubt(w->change_end);
	if (w->op == MODEL_BIND)
		w->change->valid = MODEL_MAYBE;
	else
		key_doubt(w->change);
	if (live && is_message(w))
		expect(qp->peer, w);
}

void model_post_recv(struct model_rq *rq, struct model_qp *qp, const struct model_wr *wr)
{
	struct model_wr *w = model_need(malloc(sizeof *w));

	*w = *wr;
	w->op = MODEL_RECV;
	w->rq = rq;
	w->refs = 1;
	TAILQ_INSERT_TAIL(&rq->wrs, w, link);
	rq->count++;
	for (unsigned i = 0; i < w->n; i++)
		arena_claim(rq->m, rq->host,
			&(struct model_claim){.wr = w,
				.off = w->piece[i].off,
				.len = w->piece[i].len,
				.write = true,
				.via = qp,
				.key = w->local});
}

/* ---- completions ------------------------------------------------------------------------- */

/**
 * All that came to @p qp up to number @p seq has been placed; Atomics only if number @p seq is
 * answered, as messages may overtake them (RFC 7306 section 5.4 rule 6).
 */
static void delivered(struct model_qp *qp, uint64_t seq, bool answered)
{
	struct model_host *h = &qp->m->host[qp->host];

	for (unsigned i = 0; i < h->n;) {
		const struct model_claim *c = &h->claim[i];

		if (c->via == qp && c->incoming && c->write && c->wr->seq <= seq &&
			(answered || !is_atomic(c->wr)))
			arena_resolve(qp->m, qp->host, i);
		else
			i++;
	}
}

/** Is it the only reason for which the stream ended? Then it must be told so. */
static bool is_to_blame(const struct model_qp *qp, const struct model_wr *w)
{
	return w->seq && w->seq == qp->doomed && qp->excuses == 1 && qp->made && !qp->rq->spoiled &&
	       qp->peer && !qp->peer->rq->spoiled &&
	       (w->verdict_local == MODEL_NO || (is_answered(w) && w->verdict_remote == MODEL_NO));
}

static bool status_is_true(
	const struct model_qp *qp, const struct model_wr *w, enum model_status status)
{
	switch (status) {
	case MODEL_FLUSHED:
		return may_end(qp) && !is_to_blame(qp, w);
	case MODEL_LOCAL_ERROR:
		return w->op != MODEL_BIND && w->verdict_local != MODEL_YES;
	case MODEL_REMOTE_ERROR:
		return w->verdict_remote != MODEL_YES || (is_message(w) && may_end(qp));
	case MODEL_BIND_ERROR:
		return w->op == MODEL_BIND && w->verdict_local != MODEL_YES;
	default:
		return false;
	}
}

static void sq_good(struct model_qp *qp, struct model_wr *w)
{
	struct model *m = qp->m;

	m->good++;
	if (qp->sq_failed)
		model_fail(m, "host %u: request %#jx succeeded behind one that failed", qp->host,
			(uintmax_t)w->id);
	if (w->verdict_local == MODEL_NO || (is_answered(w) && w->verdict_remote == MODEL_NO))
		model_fail(m, "host %u: request %#jx succeeded, which cannot be", qp->host,
			(uintmax_t)w->id);
	if (is_answered(w) && qp->doomed && w->seq > qp->doomed)
		model_fail(m, "host %u: request %#jx was answered behind one that must end all",
			qp->host, (uintmax_t)w->id);
	if (is_answered(w) && qp->peer)
		delivered(qp->peer, w->seq, true);
	if (w->op == MODEL_BIND) {
		if (w->change_end)
			model_key_end(w->change_end);
		w->change->valid = MODEL_YES;
	} else if (w->op == MODEL_INVALIDATE) {
		model_key_end(w->change);
	}
}

static void sq_bad(struct model_qp *qp, struct model_wr *w, enum model_status status)
{
	qp->m->failed++;
	qp->sq_failed = true;
	if (!status_is_true(qp, w, status))
		model_fail(qp->m, "host %u: request %#jx ended with status %u for no reason",
			qp->host, (uintmax_t)w->id, status);
}

static void sq_done(struct model_qp *qp, struct model_wr *w, enum model_status status)
{
	TAILQ_REMOVE(&qp->sq, w, link);
	qp->count--;
	if (status == MODEL_GOOD)
		sq_good(qp, w);
	else
		sq_bad(qp, w, status);
	own_memory(qp->m, qp->host, w, status == MODEL_GOOD);
	if (qp->peer && w->op == MODEL_READ)
		arena_release_of(qp->m, qp->peer->host, w);
	model_wr_unref(w);
}

static void sq_complete(struct model_qp *qp, const struct model_completion *c)
{
	struct model_wr *w;

	while ((w = TAILQ_FIRST(&qp->sq)) && w->id != c->id && !qp->m->wrong[0]) {
		if (w->signalled || qp->sq_failed)
			model_fail(qp->m, "host %u: completion of %#jx, but none of %#jx", qp->host,
				(uintmax_t)c->id, (uintmax_t)w->id);
		sq_done(qp, w, MODEL_GOOD);
	}
	if (!w || w->id != c->id) {
		model_fail(qp->m, "host %u: a completion of %#jx, which is not posted", qp->host,
			(uintmax_t)c->id);
		return;
	}
	if (c->status == MODEL_GOOD && !w->signalled)
		model_fail(qp->m, "host %u: request %#jx is not signalled", qp->host,
			(uintmax_t)c->id);
	sq_done(qp, w, c->status);
}

static void recv_good(struct model_qp *qp, struct model_wr *w, const struct model_completion *c)
{
	struct model_wr *s = TAILQ_FIRST(&qp->inbox);
	bool imm;

	if (!s || qp->rq_failed) {
		model_fail(qp->m, "host %u: receive %#jx of a message that %s", qp->host,
			(uintmax_t)c->id, s ? "is behind an error" : "nobody sent");
		return;
	}
	qp->m->received++;
	imm = s->op == MODEL_WRITE_IMM;
	if (c->length != s->length || c->immediate != imm || (imm && c->imm != s->imm) ||
		c->solicited != s->solicited || c->ends != (s->change != NULL) ||
		(c->ends && c->stag != s->change->stag))
		model_fail(qp->m, "host %u: receive %#jx tells of another message than %#jx",
			qp->host, (uintmax_t)c->id, (uintmax_t)s->id);
	if ((!imm && s->length > w->length) || s->verdict_local == MODEL_NO ||
		s->verdict_remote == MODEL_NO ||
		(qp->peer && qp->peer->doomed && s->seq > qp->peer->doomed))
		model_fail(qp->m, "host %u: receive %#jx of message %#jx, which cannot be",
			qp->host, (uintmax_t)c->id, (uintmax_t)s->id);
	else
		recv_foresee(qp->rq, w, s);
	delivered(qp, s->seq, false);
	arena_release_of(qp->m, qp->host, s);
	own_memory(qp->m, qp->host, w, w->data);
	if (s->change)
		model_key_end(s->change);
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
	recv_give_up(qp->rq, w, s);
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
	rq_take(qp->rq, w);
}

void model_complete(struct model_qp *qp, const struct model_completion *c)
{
	if (c->recv)
		recv_complete(qp, c);
	else
		sq_complete(qp, c);
}
