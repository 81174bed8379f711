/* SPDX-License-Identifier: BSD-2-Clause */
/** Requests: what is posted, and where it reads and writes. */
#include "vopr/world_place.h"

#include <string.h>

#define TRIES 8

static const uint8_t wire_op[] = {[MODEL_SEND] = RDMAP_WR_SEND,
	[MODEL_WRITE] = RDMAP_WR_WRITE,
	[MODEL_WRITE_IMM] = RDMAP_WR_WRITE_IMM,
	[MODEL_READ] = RDMAP_WR_READ,
	[MODEL_ADD] = RDMAP_WR_FETCH_ADD,
	[MODEL_SWAP] = RDMAP_WR_CMP_SWAP,
	[MODEL_INVALIDATE] = RDMAP_WR_LOCAL_INV,
	[MODEL_BIND] = RDMAP_WR_BIND_MW};
static const char *const op_name[] = {"Send", "Write", "Write with Immediate", "Read", "FetchAdd",
	"CmpSwap", "Invalidate", "Bind", "Receive"};

static uint32_t any_length(struct world *w)
{
	switch (world_below(w, 10)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return 1 + (uint32_t)world_below(w, 64);
	case 4:
	case 5:
		return 1 + (uint32_t)world_below(w, 1500);
	case 6:
		return 1 + (uint32_t)world_below(w, 20000);
	default:
		return 1 + (uint32_t)world_below(w, 4096);
	}
}

static void overlay_wqe(struct rdmap_wqe *e, const struct model_wr *r, const uint8_t *memory)
{
	uint8_t *to = rdmap_wqe_inline(e);

	if (r->copied) {
		for (unsigned i = 0; i < r->n; to += r->piece[i++].len)
			memcpy(to, memory + r->piece[i].off, r->piece[i].len);
		return;
	}
	e->num_sge = (uint8_t)r->n;
	for (unsigned i = 0; i < r->n; i++)
		e->sge[i] = (struct rdmap_sge){r->local->base + (r->piece[i].off - r->local->off),
			r->piece[i].len, r->local->stag};
}

static void fill_wqe(struct rdmap_wqe *e, const struct model_wr *r, const uint8_t *memory)
{
	e->wr_id = r->id;
	e->op = wire_op[r->op];
	if (r->op == MODEL_SEND && r->change)
		e->op = RDMAP_WR_SEND_INV;
	e->flags =
		(uint8_t)((r->signalled ? RDMAP_WR_SIGNALED : 0) | (r->fence ? RDMAP_WR_FENCE : 0) |
			  (r->solicited ? RDMAP_WR_SOLICITED : 0) |
			  (r->copied ? RDMAP_WR_INLINE : 0));
	e->length = r->length;
	if (r->remote) {
		e->remote_stag = r->remote->stag;
		e->remote_to = r->remote->base + (r->at - r->remote->off);
	}
	if (r->op == MODEL_ADD || r->op == MODEL_SWAP)
		e->atomic = (struct rdmap_atomic){r->operand, r->mask, r->compare, r->compare_mask};
	if (r->op == MODEL_SEND && r->with_imm)
		e->op = RDMAP_WR_SEND_IMM;
	if (r->op == MODEL_WRITE_IMM || r->with_imm)
		e->imm = r->imm;
	else if (r->change && r->op != MODEL_BIND)
		e->inv_stag = r->change->stag;
	if (r->op != MODEL_BIND) {
		overlay_wqe(e, r, memory);
		return;
	}
	e->length = 0;
	e->inv_stag = r->remote->stag;
	e->remote_stag = r->change->stag;
	e->local_arg[0] = e->remote_to;
	e->local_arg[1] = r->length;
	e->local_arg[2] = (r->bind_rights & MODEL_REMOTE_WRITE ? RNIC_ACCESS_REMOTE_WRITE : 0) |
			  (r->bind_rights & MODEL_REMOTE_READ ? RNIC_ACCESS_REMOTE_READ : 0) |
			  (r->bind_rights & MODEL_REMOTE_ATOMIC ? RNIC_ACCESS_REMOTE_ATOMIC : 0) |
			  (r->change->base ? 0 : RNIC_ACCESS_ZERO_BASED);
	e->remote_to = 0;
}

static void trace_post(const struct world_qp *q, const struct model_wr *r)
{
	struct world *w = q->h->w;

	if (!w->trace)
		return;
	world_trace(w,
		"host %u: qp %u posts %#jx: %s%s%s%s%s of %u in %u pieces from %u to stag %#x at "
		"%u",
		q->h->index, q->slot, (uintmax_t)r->id, r->signalled ? "" : "unsignalled ",
		r->fence ? "fenced " : "", r->copied ? "inline " : "", op_name[r->op],
		r->with_imm                        ? " with Immediate"
		: r->op == MODEL_SEND && r->change ? " with Invalidate"
						   : "",
		r->length, r->n, r->n ? r->piece[0].off : 0,
		r->remote   ? r->remote->stag
		: r->change ? r->change->stag
			    : 0,
		r->at);
	if (r->op == MODEL_BIND)
		world_trace(w, "host %u: window %#x is to be %#x", q->h->index,
			r->change_end ? r->change_end->stag : 0, r->change->stag);
}

static void submit(struct world_qp *q, struct model_wr *r)
{
	struct world *w = q->h->w;
	struct rdmap_wqe *e;

	r->id = ++w->next_id;
	trace_post(q, r);
	if (!world_must(w, rnic_sq_begin(q->qp), "post_send"))
		return;
	e = rnic_sq_next(q->qp);
	if (!e) {
		model_fail(&w->m, "host %u: qp %u: %u requests fill the send queue", q->h->index,
			q->slot, q->model.count);
		rnic_sq_abort(q->qp);
		return;
	}
	fill_wqe(e, r, q->h->memory);
	model_post(&q->model, r);
	rnic_sq_commit(q->qp);
	rnic_sq_end(q->qp);
	w->operations++;
}

/* ---- kinds of requests ------------------------------------------------------------------- */

/** Is there a receive for one more message; or may it wait for one, or fail for want of it? */
static bool is_expected(const struct world_qp *q)
{
	struct world *w = q->h->w;
	const struct model_rq *rq = q->model.peer ? q->model.peer->rq : NULL;

	return !rq || w->m.waits || q->paired || rq->expected + rq->holes < rq->count ||
	       world_chance(w, w->program->profile.starved ? 0.3 : 0) ||
	       world_chance(w, w->program->profile.offences) ||
	       world_chance(w, w->program->profile.wrongs);
}

/** Find the memory that it reads and writes. @return false: there is none. */
static bool make_places(struct world_qp *q, struct model_wr *r, unsigned rights, bool source)
{
	struct world *w = q->h->w;
	bool atomic = r->op == MODEL_ADD || r->op == MODEL_SWAP;

	if (!place_find_missing(q->h, r, !source) &&
		!place_find_own(q->h, source && r->fence && !r->copied ? &q->model : NULL, r,
			r->length, source ? 1 + (unsigned)world_below(w, MODEL_PIECES) : 1,
			!source))
		return false;
	if (r->op != MODEL_READ && !atomic && r->op != MODEL_WRITE && !is_expected(q))
		return false;
	if (!rights)
		return true;
	if (!q->model.peer)
		return false;
	if (!place_find_remote(q, r, rights, atomic))
		return false;
	/* To oneself: the two must be apart. */
	for (unsigned i = 0; i < r->n && q->model.peer->host == q->h->index; i++)
		if (r->at < r->piece[i].off + r->piece[i].len &&
			r->piece[i].off < r->at + r->length)
			return false;
	return true;
}

static bool make_data(struct world_qp *q, struct model_wr *r)
{
	static const unsigned rights[] = {[MODEL_WRITE] = MODEL_REMOTE_WRITE,
		[MODEL_WRITE_IMM] = MODEL_REMOTE_WRITE,
		[MODEL_READ] = MODEL_REMOTE_READ,
		[MODEL_ADD] = MODEL_REMOTE_ATOMIC,
		[MODEL_SWAP] = MODEL_REMOTE_ATOMIC};
	struct world *w = q->h->w;
	bool atomic = r->op == MODEL_ADD || r->op == MODEL_SWAP;
	bool source = !atomic && r->op != MODEL_READ;

	r->length = atomic ? 8 : any_length(w);
	if (r->op == MODEL_SEND && r->length > w->program->profile.least &&
		!world_chance(w, w->program->profile.starved ? 0.1 : w->program->profile.offences))
		r->length %= w->program->profile.least + 1;
	r->copied = source && r->length <= 256 && world_chance(w, 0.3);
	if (!r->copied && world_chance(w, w->program->profile.offences)) {
		r->local = q->h->mr[world_below(w, WORLD_MRS)].key;
		return r->local && make_places(q, r, rights[r->op], source);
	}
	r->local = place_own_key(q->h, q->pd);
	if (!r->local || (!source && !(r->local->rights & MODEL_LOCAL_WRITE)))
		return false;
	return make_places(q, r, rights[r->op], source);
}

/** Something of @p p's which @p qp, or its peer, must not end; NULL: none was found. */
static struct model_key *forbidden_key(struct world_host *p, const struct model_qp *qp, bool remote)
{
	for (unsigned i = 0; i < TRIES; i++) {
		unsigned n = (unsigned)world_below(p->w, WORLD_MRS - WORLD_PDS + WORLD_MWS);
		const struct world_mw *mw = &p->mw[n % WORLD_MWS];
		struct model_key *k =
			n < WORLD_MWS ? mw->key : p->mr[n - WORLD_MWS + WORLD_PDS].key;

		if (k && (n >= WORLD_MWS || !mw->binding) &&
			model_judge_end(k, qp, remote) == MODEL_NO)
			return k;
	}
	return NULL;
}

/** Is there a stream, as far as the model knows? */
static bool is_live(const struct world_qp *q)
{
	const struct model_qp *m = &q->model;

	return m->up && !m->dead && m->peer && !m->peer->dead;
}

/** A region of the peer's, of whose PD it is the only QP. */
static struct model_key *only_region(struct world_host *p, const struct model_qp *qp)
{
	const struct world_mr *mr = &p->mr[WORLD_PDS + world_below(p->w, WORLD_MRS - WORLD_PDS)];

	return mr->mr && !mr->windows && !model_key_is_used(mr->key) &&
			       model_judge_end(mr->key, qp, true) == MODEL_YES
		       ? mr->key
		       : NULL;
}

/** A window of the peer's that ends by the message. */
static void may_invalidate(struct world_qp *q, struct model_wr *r)
{
	struct world *w = q->h->w;
	struct world_host *p;
	struct world_mw *mw;

	if (r->op != MODEL_SEND || !q->model.peer || !world_chance(w, 0.3))
		return;
	p = &w->host[q->model.peer->host];
	if (world_chance(w, w->program->profile.wrongs)) {
		r->change = is_live(q) ? forbidden_key(p, q->model.peer, true) : NULL;
		return;
	}
	if (world_chance_since(w, 9, 0.2)) {
		r->change = is_live(q) ? only_region(p, q->model.peer) : NULL;
		return;
	}
	mw = &p->mw[world_below(w, WORLD_MWS)];
	if (mw->mw && mw->alone && !mw->binding && mw->key &&
		model_judge_end(mw->key, q->model.peer, true) == MODEL_YES)
		r->change = mw->key;
}

static bool make_invalidate(struct world_qp *q, struct model_wr *r)
{
	struct world *w = q->h->w;
	struct world_mr *mr;
	struct world_mw *mw;

	if (world_chance(w, w->program->profile.wrongs)) {
		r->change = forbidden_key(q->h, &q->model, false);
		return r->change;
	}
	if (world_chance_since(w, 2, 0.4)) {
		mr = &q->h->mr[WORLD_PDS + world_below(w, WORLD_MRS - WORLD_PDS)];
		if (!mr->mr || mr->windows || model_judge(mr->key, &q->model, mr->key->off, 0, 0) ||
			(model_key_is_used(mr->key) && !world_chance(w, 0.02)))
			return false;
		r->change = mr->key;
		return true;
	}
	mw = &q->h->mw[world_below(w, WORLD_MWS)];
	if (!mw->mw || !mw->alone || mw->binding || !mw->key ||
		model_judge(mw->key, &q->model, mw->key->off, 0, 0) != MODEL_YES)
		return false;
	r->change = mw->key;
	return true;
}

/** May it be tried? What must fail is to be known to do so. */
static bool may_bind(
	const struct world_qp *q, const struct world_mw *mw, const struct world_mr *mr, bool wrong)
{
	if (!mw->mw || mw->binding || mw->stale || !mr->mr || mr->key->valid != MODEL_YES)
		return false;
	if (mw->key && mw->key->valid == MODEL_MAYBE)
		return false;
	return wrong || (mw->pd == q->pd && mr->pd == q->pd && mr->key->rights & MODEL_BINDS &&
				mr->key->rights & MODEL_LOCAL_WRITE &&
				!(mw->alone && mw->key && mw->key->valid == MODEL_YES));
}

static bool has_been(const struct world_host *h, uint32_t stag)
{
	const struct model_key *k;

	LIST_FOREACH (k, &h->w->m.keys, link)
		if (k->host == h->index && k->stag == stag)
			return true;
	return false;
}

/** With another key, that no window has had: a Write that is late would find the new one, rightly.
 */
static uint32_t fresh_stag(const struct world_host *h, uint32_t stag, uint32_t step)
{
	uint32_t fresh = stag;

	for (unsigned i = 0; i < 255; i++) {
		fresh = (stag & ~0xffu) | ((stag + step) & 0xff);
		if (!has_been(h, fresh))
			break;
		step = step % 255 + 1;
	}
	return fresh;
}

static bool make_bind(struct world_qp *q, struct model_wr *r)
{
	struct world *w = q->h->w;
	struct world_mw *mw = &q->h->mw[world_below(w, WORLD_MWS)];
	struct world_mr *mr = &q->h->mr[world_below(w, WORLD_MRS)];
	bool wrong = world_chance(w, w->program->profile.wrongs);
	uint32_t stag;

	/* One of type 2 that is bound, to memory that allows all. */
	if (wrong && world_chance(w, 0.5)) {
		mw = &q->h->mw[2 + q->pd];
		mr = &q->h->mr[q->pd];
	}
	if (!may_bind(q, mw, mr, wrong))
		return false;
	r->remote = mr->key;
	r->length = 1 + (uint32_t)world_below(w, mr->key->len);
	if (wrong && mw->alone && world_chance(w, 0.1))
		r->length = 0;
	r->at = place_any(w, mr->key, r->length, 1);
	if (wrong && world_chance(w, 0.1))
		r->at = mr->key->off + mr->key->len - r->length + 1;
	if (!wrong && mr->key->on_demand && place_covers_hole(mr->key) && world_chance(w, 0.5)) {
		r->at = MODEL_HOLE;
		r->length = MODEL_HOLE_LEN;
	}
	r->bind_rights = (unsigned)world_below(w, 16) & ~MODEL_LOCAL_WRITE;
	r->change_end = mw->key && mw->key->valid != MODEL_NO ? mw->key : NULL;
	stag = rnic_mw_stag(mw->mw);
	r->change = model_key_new(
		&w->m, q->h->index, mw->pd, r->at, r->length, r->bind_rights | MODEL_LOCAL_WRITE);
	r->change->window = true;
	r->change->on_demand = mr->key->on_demand;
	r->change->stag = fresh_stag(q->h, stag, 1 + (uint32_t)world_below(w, 255));
	r->change->base = world_chance(w, 0.5) ? 0 : mr->key->base + (r->at - mr->key->off);
	r->change->only = mw->alone ? &q->model : NULL;
	r->change->valid = MODEL_MAYBE;
	if (wrong && model_judge_bind(&q->model, r) != MODEL_NO)
		return false;
	mw->before = r->change_end;
	mw->key = r->change;
	mw->by = q;
	mw->binding = true;
	mw->of = mr;
	mr->windows++;
	return true;
}

static enum model_op any_op(struct world *w)
{
	static const uint8_t old[] = {25, 20, 10, 18, 7, 7, 3, 6};
	static const uint8_t new[] = {24, 16, 8, 14, 8, 8, 8, 10};
	const uint8_t *weight = w->program->profile.version >= 9 ? new : old;
	uint64_t at = world_below(w, 96);
	unsigned op = 0;

	while (at >= weight[op])
		at -= weight[op++];
	return (enum model_op)op;
}

static bool may_post(const struct world_qp *q)
{
	enum rnic_qp_state s = rnic_qp_get_state(q->qp);

	return (s == RNIC_QP_RTS || s == RNIC_QP_SQD || s == RNIC_QP_ERROR ||
		       (s == RNIC_QP_RTR && q->paired)) &&
	       (q->linked || s == RNIC_QP_ERROR) && q->model.count < WORLD_DEPTH - 1 && !q->last;
}

static void post_one(struct world_qp *q)
{
	struct world *w = q->h->w;
	struct model_wr r = {.op = any_op(w),
		.signalled = world_chance(w, 0.7),
		.fence = world_chance(w, 0.15),
		.imm = (uint32_t)world_below(w, UINT32_MAX),
		.operand = world_below(w, UINT64_MAX),
		.compare = world_below(w, UINT64_MAX)};

	if (model_is_message(r.op))
		r.solicited = world_chance(w, 0.2);
	if (r.op == MODEL_ADD)
		r.mask = world_chance(w, 0.5) ? 0 : world_below(w, UINT64_MAX);
	if (r.op == MODEL_SWAP) {
		r.mask = world_chance(w, 0.5) ? UINT64_MAX : world_below(w, UINT64_MAX);
		r.compare_mask = world_chance(w, 0.5) ? 0 : 1ull << world_below(w, 64);
	}
	switch (r.op) {
	case MODEL_INVALIDATE:
		if (!make_invalidate(q, &r))
			return;
		break;
	case MODEL_BIND:
		if (!make_bind(q, &r))
			return;
		break;
	default:
		if (!make_data(q, &r))
			return;
		may_invalidate(q, &r);
		r.with_imm = r.op == MODEL_SEND && !r.change && rnic_qp_takes_send_imm(q->qp) &&
			     world_chance_since(w, 5, 0.3);
	}
	submit(q, &r);
}

void world_post(struct world_host *h)
{
	struct world_qp *q = world_working_qp(h);
	unsigned n = 1 + (unsigned)world_below(h->w, 6);

	while (q && n-- && may_post(q))
		post_one(q);
}

void world_post_all(struct world_qp *q)
{
	/* A request that finds no memory of its own is none. */
	for (unsigned i = 0; i < 2 * WORLD_DEPTH && may_post(q); i++)
		post_one(q);
}

void world_post_last(struct world_qp *q)
{
	struct world *w = q->h->w;
	struct model_wr r = {.op = MODEL_READ, .signalled = true};
	struct world_host *p;

	if (q->last || !q->model.peer || !may_post(q))
		return;
	/* Of no bytes needs no right. */
	r.length = r.n = q->model.peer->rights & MODEL_REMOTE_READ ? 1 : 0;
	p = &w->host[q->model.peer->host];
	r.local = q->h->mr[q->pd].key;
	for (unsigned i = 0; i < WORLD_MRS && !r.remote; i++)
		if (p->mr[i].mr && model_judge(p->mr[i].key, q->model.peer, MODEL_ARENA - 1, 1,
					   MODEL_REMOTE_READ) == MODEL_YES)
			r.remote = p->mr[i].key;
	/* Bytes of its own: there must be some, whatever the receives take. */
	r.at = MODEL_ARENA - 1;
	r.piece[0] = (struct model_piece){MODEL_ARENA - 2 - q->slot, 1};
	if (!r.local || !r.remote || !model_free_behind(&q->model, r.at, 1, false, NULL) ||
		!model_free(&w->m, q->h->index, r.piece[0].off, 1, true))
		return;
	submit(q, &r);
	q->last = true;
}

/* ---- receives ---------------------------------------------------------------------------- */

/** Something where @p q must not receive, most often for want of a right; NULL: none was found. */
static struct model_key *wrong_key(struct world_qp *q)
{
	struct world *w = q->h->w;
	unsigned first = (unsigned)world_below(w, WORLD_MRS);
	struct model_key *wrong = NULL;

	for (unsigned i = 0; i < WORLD_MRS; i++) {
		struct model_key *k = q->h->mr[(first + i) % WORLD_MRS].key;

		if (!k || model_judge(k, &q->model, k->off, 1, MODEL_LOCAL_WRITE) != MODEL_NO)
			continue;
		wrong = k;
		if (k->valid == MODEL_YES && k->pd == q->pd)
			break;
	}
	return wrong;
}

static bool recv_one(struct world_host *h, struct world_qp *q, struct world_srq *srq)
{
	struct world *w = h->w;
	struct model_rq *rq = srq ? &srq->rq : &q->rq;
	struct model_wr r = {.length = w->program->profile.least};
	unsigned pd = srq ? srq->pd : q->pd;
	struct rdmap_rqe *e;
	bool wrong;

	if (rq->count >= WORLD_DEPTH + rq->holes)
		return false;
	/* Rarely: while one is there, its streams may end at any time. */
	wrong = !w->ending && world_chance_since(w, 10, w->program->profile.offences / 8);
	r.local = wrong ? wrong_key(q) : place_own_key(h, pd);
	if (!r.local || !(wrong || r.local->rights & MODEL_LOCAL_WRITE) || r.local->len < r.length)
		return false;
	if (!place_find_own(h, NULL, &r, r.length,
		    w->ending ? 1 : 1 + (unsigned)world_below(w, MODEL_PIECES), true))
		return false;
	if (srq ? !world_must(w, rnic_srq_begin(srq->srq), "post_srq_recv")
		: !world_must(w, rnic_rq_begin(q->qp), "post_recv"))
		return false;
	e = srq ? rnic_srq_next(srq->srq) : rnic_rq_next(q->qp);
	if (!e) {
		/* The places of a QP that is gone are free; the model does not know how many. */
		if (!rq->holes)
			model_fail(&w->m, "host %u: %u fill a receive queue", h->index, rq->count);
	} else {
		r.id = ++w->next_id;
		e->wr_id = r.id;
		e->length = r.length;
		e->num_sge = r.n;
		for (unsigned i = 0; i < r.n; i++)
			e->sge[i] =
				(struct rdmap_sge){r.local->base + (r.piece[i].off - r.local->off),
					r.piece[i].len, r.local->stag};
		world_trace(w, "host %u: %s %u posts receive %#jx at %u", h->index,
			srq ? "srq" : "qp", srq ? (unsigned)(srq - h->srq) : q->slot,
			(uintmax_t)r.id, r.piece[0].off);
		model_post_recv(rq, srq ? NULL : &q->model, &r);
		if (srq)
			rnic_srq_commit(srq->srq);
		else
			rnic_rq_commit(q->qp);
		w->operations++;
	}
	if (srq)
		rnic_srq_end(srq->srq);
	else
		rnic_rq_end(q->qp);
	return e;
}

void world_recv(struct world_host *h)
{
	struct world_qp *q = world_working_qp(h);
	unsigned n = 1 + (unsigned)world_below(h->w, 4);

	while (q && n-- && recv_one(h, q, q->srq))
		;
}

/** @return true if a receive was posted to the queue of @p q, because a message may need it. */
static bool feed_one(struct world_host *h, struct world_qp *q)
{
	const struct model_rq *rq = q->srq ? &q->srq->rq : &q->rq;

	return !TAILQ_EMPTY(&q->model.inbox) && rq->count < rq->holes + RTE_MIN(rq->expected, 2u) &&
	       recv_one(h, q, q->srq);
}

/*
 * Few at a time: what one queue pair does not get yet must not be what another waits for. Shared
 * queues come last and get one each time: how many of theirs are left is not known, and what they
 * do not need would be missing elsewhere.
 */
void world_feed(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		while (h->qp[i].qp && !h->qp[i].srq && feed_one(h, &h->qp[i]))
			;
	}
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		if (h->qp[i].qp && h->qp[i].srq)
			feed_one(h, &h->qp[i]);
	}
}

static void scribble_over(struct world_host *h, struct model_place at)
{
	struct world *w = h->w;

	if (model_free(&w->m, h->index, at.off, at.len, true))
		model_fill(&w->m, h->index, at.off, at.len, prng_u64(&w->r));
}

/** A program changes memory that is its own. */
void world_scribble(struct world_host *h)
{
	struct world *w = h->w;
	uint32_t len = 1 + (uint32_t)world_below(w, 4096);
	struct model_place at = {(uint32_t)world_below(w, MODEL_ARENA - len + 1), len};
	const struct model_host *m = &w->m.host[h->index];
	unsigned more = 0;

	/* What a peer has just written: if that is placed once more, it shows. */
	if (m->n_placed && world_chance_since(w, 3, 0.7)) {
		at = m->placed[(m->n_placed - 1) % MODEL_PLACES];
		if (world_chance_since(w, 8, 0.5))
			more = RTE_MIN(m->n_placed, MODEL_PLACES) - 1;
	}
	scribble_over(h, at);
	for (unsigned i = m->n_placed - 1; more; more--)
		scribble_over(h, m->placed[--i % MODEL_PLACES]);
}
