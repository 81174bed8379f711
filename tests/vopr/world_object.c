/* SPDX-License-Identifier: BSD-2-Clause */
/** Objects that come and go. */
#include "vopr/reason.h"
#include "vopr/world.h"

#include <errno.h>

#define IOVA UINT64_C(0x100000000)

static unsigned model_rights(unsigned access)
{
	return (access & RNIC_ACCESS_LOCAL_WRITE ? MODEL_LOCAL_WRITE : 0) |
	       (access & RNIC_ACCESS_REMOTE_WRITE ? MODEL_REMOTE_WRITE : 0) |
	       (access & RNIC_ACCESS_REMOTE_READ ? MODEL_REMOTE_READ : 0) |
	       (access & RNIC_ACCESS_REMOTE_ATOMIC ? MODEL_REMOTE_ATOMIC : 0) |
	       (access & RNIC_ACCESS_MW_BIND ? MODEL_BINDS : 0);
}

/* ---- memory ------------------------------------------------------------------------------ */

static unsigned any_kind(struct world *w)
{
	return (world_chance_since(w, 10, 0.25) ? RNIC_ACCESS_ZERO_BASED : 0) |
	       (world_chance_since(w, 10, 0.3) ? RNIC_ACCESS_ON_DEMAND : 0);
}

static void mr_reg(struct world_host *h, unsigned i)
{
	struct world *w = h->w;
	unsigned access = RNIC_ACCESS_LOCAL_WRITE | WORLD_REMOTE | RNIC_ACCESS_MW_BIND;
	uint32_t off = 0, len = MODEL_ARENA;
	struct world_mr *mr = &h->mr[i];

	if (mr->mr)
		return;
	mr->pd = i % WORLD_PDS;
	if (i >= WORLD_PDS) {
		off = (uint32_t)world_below(w, MODEL_ARENA / 2) & ~7u;
		len = 1 + (uint32_t)world_below(w, MODEL_ARENA - off);
		access &= (unsigned)world_below(w, 32);
		/* What receives must not use. */
		if (world_chance_since(w, 10, 0.2))
			access &= RNIC_ACCESS_REMOTE_READ;
		if (access & (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC))
			access |= RNIC_ACCESS_LOCAL_WRITE;
	}
	mr->kind = any_kind(w);
	if (!world_must(w,
		    rnic_mr_reg(h->pd[mr->pd], h->memory + off, len, IOVA * (i + 1) + off,
			    access | mr->kind, &mr->mr),
		    "mr_reg"))
		return;
	mr->key = model_key_new(&w->m, h->index, mr->pd, off, len, model_rights(access));
	mr->key->stag = rnic_mr_stag(mr->mr);
	mr->key->base = mr->kind & RNIC_ACCESS_ZERO_BASED ? 0 : IOVA * (i + 1) + off;
	mr->key->on_demand = mr->kind & RNIC_ACCESS_ON_DEMAND;
	world_trace(w, "host %u: mr %u of %u at %u+%u, rights %#x, stag %#x", h->index, i, mr->pd,
		off, len, access | mr->kind, mr->key->stag);
}

void world_mr_reg(struct world_host *h)
{
	unsigned i = (unsigned)world_below(h->w, WORLD_MRS);

	/* The first of each PD is all of the arena with all rights: requests shall find memory. */
	for (unsigned p = WORLD_PDS; p--;)
		i = h->mr[p].mr ? i : p;
	mr_reg(h, i);
}

void world_mr_ensure(struct world_host *h)
{
	for (unsigned p = 0; p < WORLD_PDS; p++)
		mr_reg(h, p);
}

static void mr_end(struct world_host *h, struct world_mr *mr)
{
	enum model_verdict was = mr->key->valid;
	int r;

	/* Before, as what comes of it may be told from inside of the call. */
	model_key_doubt(mr->key);
	r = rnic_mr_dereg(mr->mr);
	if (r == -EBUSY && mr->windows) {
		mr->key->valid = was;
		return;
	}
	if (!world_must(h->w, r, "mr_dereg"))
		return;
	world_trace(h->w, "host %u: mr %u ends", h->index, (unsigned)(mr - h->mr));
	model_key_end(mr->key);
	*mr = (struct world_mr){0};
}

/** Any part of it anew; the first of each PD stays all of the arena, and gets another STag. */
void world_mr_rereg(struct world_host *h)
{
	struct world *w = h->w;
	unsigned i = (unsigned)world_below(w, WORLD_MRS), what = 1 + (unsigned)world_below(w, 7);
	struct world_mr *mr = &h->mr[i], new = *mr;
	uint32_t off = (uint32_t)world_below(w, MODEL_ARENA / 2) & ~7u;
	uint32_t len = 1 + (uint32_t)world_below(w, MODEL_ARENA - off);
	unsigned access = (unsigned)world_below(w, 32);
	enum model_verdict was;
	int r;

	if (!mr->mr)
		return;
	if (i < WORLD_PDS)
		what = RNIC_REREG_ACCESS, access = 31;
	if (access & (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC))
		access |= RNIC_ACCESS_LOCAL_WRITE;
	new.pd = what &RNIC_REREG_PD ? (unsigned)world_below(w, WORLD_PDS) : mr->pd;
	if (what & RNIC_REREG_ACCESS)
		new.kind = any_kind(w);
	was = mr->key->valid;
	model_key_doubt(mr->key);
	r = rnic_mr_rereg(mr->mr, what, h->pd[new.pd], h->memory + off, len, access | new.kind);
	if (r == -EBUSY && mr->windows) {
		mr->key->valid = was;
		return;
	}
	if (!world_must(w, r, "mr_rereg"))
		return;
	new.key = model_key_new(&w->m, h->index, new.pd,
		what & RNIC_REREG_TRANSLATION ? off : mr->key->off,
		what & RNIC_REREG_TRANSLATION ? len : mr->key->len,
		what & RNIC_REREG_ACCESS ? model_rights(access) : mr->key->rights);
	new.key->stag = rnic_mr_stag(mr->mr);
	new.key->base = mr->key->base;
	if (what & RNIC_REREG_TRANSLATION)
		new.key->base = new.kind &RNIC_ACCESS_ZERO_BASED ? 0 : (uintptr_t)h->memory + off;
	new.key->on_demand = new.kind &RNIC_ACCESS_ON_DEMAND;
	new.windows = 0;
	world_trace(w, "host %u: mr %u anew (%u) in %u at %u+%u, rights %#x, stag %#x", h->index, i,
		what, new.pd, new.key->off, new.key->len, new.key->rights, new.key->stag);
	model_key_end(mr->key);
	*mr = new;
}

void world_mr_dereg(struct world_host *h)
{
	struct world_mr *mr = &h->mr[world_below(h->w, WORLD_MRS)];

	if (mr->mr)
		mr_end(h, mr);
}

static void mw_alloc(struct world_host *h, unsigned i)
{
	struct world *w = h->w;
	struct world_mw *mw = &h->mw[i];

	if (mw->mw)
		return;
	*mw = (struct world_mw){.pd = i % WORLD_PDS, .alone = i & 2};
	world_must(w,
		rnic_mw_alloc(h->pd[mw->pd], mw->alone ? RNIC_MW_TYPE_2 : RNIC_MW_TYPE_1, &mw->mw),
		"mw_alloc");
}

void world_mw_alloc(struct world_host *h)
{
	mw_alloc(h, (unsigned)world_below(h->w, WORLD_MWS));
}

static void mw_end(struct world_host *h, struct world_mw *mw)
{
	world_trace(h->w, "host %u: mw %u ends", h->index, (unsigned)(mw - h->mw));
	model_key_doubt(mw->key);
	model_key_doubt(mw->before);
	world_must(h->w, rnic_mw_dealloc(mw->mw), "mw_dealloc");
	if (mw->key)
		model_key_end(mw->key);
	if (mw->before)
		model_key_end(mw->before);
	*mw = (struct world_mw){0};
}

void world_mw_dealloc(struct world_host *h)
{
	struct world_mw *mw = &h->mw[world_below(h->w, WORLD_MWS)];

	/* A bind under way would be one of no window. */
	if (mw->mw && !mw->binding)
		mw_end(h, mw);
}

/** Of which nobody knows whether they are bound. */
static void mw_renew(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_MWS; i++) {
		if (!h->mw[i].mw || !h->mw[i].stale || h->mw[i].binding)
			continue;
		mw_end(h, &h->mw[i]);
		mw_alloc(h, i);
	}
}

/* ---- queues ------------------------------------------------------------------------------ */

void world_cq_create(struct world_cq *q)
{
	struct world_host *h = q->h;
	bool small = q == &h->cq[WORLD_CQS - 1];

	if (!world_must(h->w,
		    rnic_cq_create(h->rnic, small ? WORLD_SMALL : 1024, world_cq_notify, q, &q->cq),
		    "cq_create"))
		return;
	q->overflowed = false;
	model_cq_init(&h->w->m, &q->model, h->index);
	if (q->by_notification)
		world_arm(q);
}

/** What it would have told of @p qp is not known any more. */
static void cq_lose(const struct world_cq *q, struct world_qp *qp)
{
	if (q->overflowed)
		model_lose(&qp->model, qp->send_cq == q, qp->recv_cq == q);
}

void world_cq_failed(struct world_cq *q)
{
	struct world_host *h = q->h;
	unsigned most = 0;

	if (q->overflowed)
		model_fail(&h->w->m, "host %u: a CQ overflowed twice", h->index);
	q->overflowed = true;
	model_cq_lose(&q->model, true);
	for (unsigned i = 0; i < WORLD_SRQS; i++)
		most += h->srq[i].srq ? h->srq[i].rq.count : 0;
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *qp = &h->qp[i];

		if (!qp->qp)
			continue;
		/* One that is destroyed or reset makes no completions. */
		if (!qp->leaving)
			most += (qp->send_cq == q ? qp->model.count : 0) +
				(qp->recv_cq == q ? qp->rq.count : 0);
		cq_lose(q, qp);
	}
	if (most <= rnic_cq_size(q->cq))
		model_fail(&h->w->m, "host %u: a CQ of %u overflowed by %u requests", h->index,
			rnic_cq_size(q->cq), most);
}

/** One that has overflowed stays so: its program makes another one, and the QPs anew. */
static void cq_renew(struct world_cq *q)
{
	struct rnic_cq *old;

	if (!q->overflowed)
		return;
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *qp = &q->h->qp[i];

		if (qp->qp && (qp->send_cq == q || qp->recv_cq == q))
			world_qp_end(qp);
	}
	old = q->cq;
	world_cq_create(q);
	if (!q->overflowed)
		world_must(q->h->w, rnic_cq_destroy(old), "cq_destroy");
}

void world_cq_resize(struct world_host *h)
{
	struct world_cq *q = &h->cq[world_below(h->w, h->w->cqs)];
	bool small = q == &h->cq[WORLD_CQS - 1];
	uint32_t size =
		(small ? WORLD_SMALL : 1024) + (uint32_t)world_below(h->w, small ? 64 : 2048);
	int r = rnic_cq_resize(q->cq, size);

	/* A small one may have more in it. */
	if (r != -EINVAL || !small)
		world_must(h->w, r, "cq_resize");
}

void world_srq_create(struct world_host *h)
{
	struct world *w = h->w;
	unsigned i = (unsigned)world_below(w, WORLD_SRQS);
	struct world_srq *q = &h->srq[i];

	if (q->srq)
		return;
	q->pd = i % WORLD_PDS;
	if (!world_must(w, rnic_srq_create(h->pd[q->pd], WORLD_DEPTH, MODEL_PIECES, 0, q, &q->srq),
		    "srq_create"))
		return;
	model_rq_init(&w->m, &q->rq, h->index, true, w->program->profile.least);
}

static void srq_end(struct world_host *h, struct world_srq *q)
{
	int r = rnic_srq_destroy(q->srq);

	if (q->users) {
		if (r != -EBUSY)
			model_fail(&h->w->m, "srq_destroy: %d, but it is in use", r);
		return;
	}
	world_must(h->w, r, "srq_destroy");
	model_rq_fini(&q->rq);
	*q = (struct world_srq){0};
}

void world_srq_limit(struct world_host *h)
{
	struct world *w = h->w;
	struct world_srq *q = &h->srq[world_below(w, WORLD_SRQS)];
	unsigned limit = (unsigned)world_below(w, WORLD_DEPTH / 2);

	if (!q->srq)
		return;
	world_trace(w, "host %u: srq %u: limit %u", h->index, (unsigned)(q - h->srq), limit);
	model_rq_set_limit(&q->rq, limit, w->next_id);
	world_must(w, rnic_srq_set_limit(q->srq, limit), "modify_srq");
	model_rq_limit_is_set(&q->rq);
}

void world_srq_destroy(struct world_host *h)
{
	struct world_srq *q = &h->srq[world_below(h->w, WORLD_SRQS)];

	if (q->srq)
		srq_end(h, q);
}

/* ---- queue pairs ------------------------------------------------------------------------- */

struct world_qp *world_any_qp(struct world_host *h)
{
	unsigned first = (unsigned)world_below(h->w, WORLD_QPS);

	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &h->qp[(first + i) % WORLD_QPS];

		if (q->qp)
			return q;
	}
	return NULL;
}

static bool is_working(const struct world_qp *q)
{
	return q->qp && q->linked && !q->model.dead && rnic_qp_get_state(q->qp) == RNIC_QP_RTS;
}

struct world_qp *world_working_qp(struct world_host *h)
{
	unsigned first = (unsigned)world_below(h->w, WORLD_QPS);

	for (unsigned i = 0; i < WORLD_QPS && !world_chance(h->w, 0.005); i++) {
		struct world_qp *q = &h->qp[(first + i) % WORLD_QPS];

		if (is_working(q))
			return q;
	}
	return world_any_qp(h);
}

static void qp_init(struct world_qp *q)
{
	struct rnic_qp_attr a = {.state = RNIC_QP_INIT, .access = WORLD_REMOTE};
	struct world *w = q->h->w;

	if (w->program->profile.narrow && world_chance(w, 0.3))
		a.access &= (unsigned)world_below(w, 32);
	q->model.rights = model_rights(a.access);
	q->model.all_signalled = q->sig_all;
	world_must(w, rnic_qp_modify(q->qp, RNIC_QP_STATE | RNIC_QP_ACCESS, &a), "INIT");
	cq_lose(q->send_cq, q);
	cq_lose(q->recv_cq, q);
}

static void qp_create(struct world_qp *q)
{
	struct world_host *h = q->h;
	struct world *w = h->w;
	struct world_srq *srq = &h->srq[world_below(w, WORLD_SRQS)];
	struct rnic_qp_init init = {.context = q,
		.max_send_wr = WORLD_DEPTH,
		.max_recv_wr = WORLD_DEPTH,
		.max_send_sge = MODEL_PIECES,
		.max_recv_sge = MODEL_PIECES,
		.max_inline = 256};

	*q = (struct world_qp){.h = h, .slot = q->slot, .pd = (unsigned)world_below(w, WORLD_PDS)};
	q->send_cq = &h->cq[world_below(w, w->cqs)];
	q->recv_cq = &h->cq[world_below(w, w->cqs)];
	if (srq->srq && srq->pd == q->pd)
		q->srq = srq;
	init.send_cq = q->send_cq->cq;
	init.recv_cq = q->recv_cq->cq;
	init.srq = q->srq ? srq->srq : NULL;
	init.sq_sig_all = q->sig_all = world_chance_since(w, 10, 0.2);
	if (!world_must(w, rnic_qp_create(h->pd[q->pd], &init, &q->qp), "qp_create"))
		return;
	if (q->srq)
		q->srq->users++;
	model_rq_init(&w->m, &q->rq, h->index, false, w->program->profile.least);
	model_qp_init(&w->m, &q->model, h->index, q->pd,
		MODEL_REMOTE_WRITE | MODEL_REMOTE_READ | MODEL_REMOTE_ATOMIC,
		q->srq ? &q->srq->rq : &q->rq);
	world_trace(w, "host %u: qp %u is number %u, pd %u%s%s", h->index, q->slot,
		rnic_qp_num(q->qp), q->pd, q->srq ? ", shared receives" : "",
		q->sig_all ? ", all signalled" : "");
	qp_init(q);
}

void world_qp_create(struct world_host *h)
{
	struct world_qp *q = &h->qp[world_below(h->w, WORLD_QPS)];

	if (!q->qp)
		qp_create(q);
}

/** Windows of type 2 end with the stream of their QP; what was to be bound may be, or not. */
static void windows_end(struct world_qp *q)
{
	for (unsigned i = 0; i < WORLD_MWS; i++) {
		struct world_mw *mw = &q->h->mw[i];

		if (mw->by == q)
			mw->binding = false, mw->stale = true, mw->by = NULL;
		if (mw->key && mw->key->only == &q->model)
			model_key_end(mw->key);
		if (mw->before && mw->before->only == &q->model)
			model_key_end(mw->before);
	}
}

/** Completions that the program has not taken are gone with it. */
static void qp_forget(struct world_qp *q)
{
	struct world_end *e = q->end;

	windows_end(q);
	model_gone(&q->model);
	model_cq_lose(&q->send_cq->model, false);
	model_cq_lose(&q->recv_cq->model, false);
	q->linked = q->drained = q->asked = q->last = q->garbled = q->told_joined = false;
	q->paired = 0, q->endless = false, q->left_at = 0;
	if (e)
		e->qp = NULL;
	q->end = NULL;
}

void world_qp_end(struct world_qp *q)
{
	world_trace(q->h->w, "host %u: qp %u ends", q->h->index, q->slot);
	model_leave(&q->model, rnic_qp_get_state(q->qp) == RNIC_QP_ERROR);
	q->leaving = true;
	world_must(q->h->w, rnic_qp_destroy(q->qp), "qp_destroy");
	q->leaving = false;
	qp_forget(q);
	model_qp_fini(&q->model);
	if (q->srq)
		q->srq->users--;
	model_rq_fini(&q->rq);
	q->qp = NULL;
}

void world_qp_destroy(struct world_host *h)
{
	struct world_qp *q = world_any_qp(h);

	if (q)
		world_qp_end(q);
}

void world_qp_reset(struct world_qp *q)
{
	const struct rnic_qp_attr a = {.state = RNIC_QP_RESET};

	model_leave(&q->model, rnic_qp_get_state(q->qp) == RNIC_QP_ERROR);
	q->leaving = true;
	world_must(q->h->w, rnic_qp_modify(q->qp, RNIC_QP_STATE, &a), "RESET");
	q->leaving = false;
	qp_forget(q);
	qp_init(q);
}

static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERROR"};

/** On, and to SQD once more, and this time nobody is to be told. */
static void drain_again(struct world_qp *q)
{
	if (rnic_qp_modify(q->qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_RTS}) < 0)
		return; /* it is being closed */
	q->asked = q->told_drained = false;
	world_trace(q->h->w, "host %u: qp %u to RTS and SQD again", q->h->index, q->slot);
	rnic_qp_modify(q->qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_SQD});
}

void world_qp_modify(struct world_host *h, enum rnic_qp_state state)
{
	struct world_qp *q = world_any_qp(h);
	enum rnic_qp_state now = q ? rnic_qp_get_state(q->qp) : RNIC_QP_RESET;
	bool asked = q && q->asked;
	unsigned mask = RNIC_QP_STATE;
	int r;

	if (!q || (state == RNIC_QP_SQD && now != RNIC_QP_RTS) ||
		(state == RNIC_QP_RTS && (now != RNIC_QP_SQD || !q->drained)))
		return;
	world_trace(h->w, "host %u: qp %u to %s", h->index, q->slot, states[state]);
	if (state == RNIC_QP_ERROR)
		model_end(&q->model);
	if (state == RNIC_QP_RTS || state == RNIC_QP_ERROR)
		q->asked = q->told_drained = q->model.held = false;
	else if (state == RNIC_QP_SQD && world_chance_since(h->w, 2, 0.5))
		mask |= RNIC_QP_DRAIN_NOTIFY, q->asked = true;
	r = rnic_qp_modify(
		q->qp, mask, &(struct rnic_qp_attr){.state = state, .drain_notify = q->asked});
	/* One that is being closed, by its peer too, stays in SQD. */
	if (state != RNIC_QP_RTS || r != -EINVAL || !reason_all(&q->model))
		world_must(h->w, r, "modify");
	if (state == RNIC_QP_RTS && r == -EINVAL)
		q->asked = asked;
	q->drained = state == RNIC_QP_SQD;
	if (q->drained && q->asked && world_chance_since(h->w, 3, 0.5))
		drain_again(q);
}

static void held(void *ctx)
{
	struct world_qp *q = ctx;

	if (!q->qp || !q->told_drained)
		return;
	world_poll(q->send_cq, UINT32_MAX);
	q->model.held = q->drained && !q->model.dead;
	q->told_drained = false;
}

void world_qp_drained(struct world_qp *q)
{
	struct world *w = q->h->w;

	if (!q->asked)
		model_fail(&w->m, "host %u: qp %u has drained, and nobody asked", q->h->index,
			q->slot);
	q->asked = false;
	q->told_drained = true;
	sim_at(w->s, sim_now(w->s), held, q);
}

void world_qp_reset_any(struct world_host *h)
{
	struct world_qp *q = world_any_qp(h);

	if (!q)
		return;
	world_trace(h->w, "host %u: qp %u to RESET", h->index, q->slot);
	world_qp_reset(q);
}

/** The peer has ended. Where that must be noticed, a program of today waits for it. */
static bool is_given_up(const struct world_qp *q)
{
	struct world *w = q->h->w;

	return q->qp && world_pair_is_left(q) &&
	       (world_pair_is_forgotten(q) || w->program->profile.version < 8) &&
	       world_chance(w, 0.3);
}

void world_renew(struct world_host *h)
{
	for (unsigned i = 0; i < h->w->cqs; i++)
		cq_renew(&h->cq[i]);
	if (h->w->program->profile.version >= 9)
		mw_renew(h);
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &h->qp[i];

		if (is_given_up(q)) {
			world_trace(h->w, "host %u: qp %u to RESET, as it is left", h->index, i);
			world_qp_reset(q);
		}
		if (!q->qp || rnic_qp_get_state(q->qp) != RNIC_QP_ERROR)
			continue;
		world_poll(q->send_cq, UINT32_MAX);
		world_poll(q->recv_cq, UINT32_MAX);
		if (model_owes(&q->model))
			model_fail(&h->w->m,
				"host %u: qp %u in ERROR keeps %u requests, %u receives", h->index,
				i, q->model.count, q->rq.count);
		if (world_chance(h->w, 0.7)) {
			world_qp_reset(q);
		} else {
			world_qp_end(q);
			qp_create(q);
		}
	}
	for (unsigned i = 0; i < WORLD_QPS; i++)
		world_connect(h);
}

void world_objects_destroy(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_QPS; i++)
		if (h->qp[i].qp)
			world_qp_end(&h->qp[i]);
	for (unsigned i = 0; i < WORLD_MWS; i++)
		if (h->mw[i].mw)
			mw_end(h, &h->mw[i]);
	for (unsigned i = 0; i < WORLD_MRS; i++)
		if (h->mr[i].mr)
			mr_end(h, &h->mr[i]);
	for (unsigned i = 0; i < WORLD_SRQS; i++)
		if (h->srq[i].srq)
			srq_end(h, &h->srq[i]);
	for (struct world_end *e = h->ends; e; e = e->next)
		e->given_up = true;
	world_reap(h);
}
