/* SPDX-License-Identifier: BSD-2-Clause */
/** UD queue pairs: what their programs do. */
#include "vopr/world.h"

#include "vopr/arena.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERROR"};

struct world_ud *world_ud_find(struct world_host *h, uint32_t num)
{
	for (unsigned i = 0; i < WORLD_UDS; i++)
		if (h->uds.qp[i].qp && rnic_qp_num(h->uds.qp[i].qp) == num)
			return &h->uds.qp[i];
	return NULL;
}

/* ---- life -------------------------------------------------------------------------------- */

void world_uds_begin(struct world_host *h)
{
	struct world_uds *s = &h->uds;
	size_t size = (size_t)WORLD_UDS * 2 * WORLD_UD_DEPTH * WORLD_UD_PLACE;

	if (!h->w->program->profile.ud)
		return;
	s->memory = model_need(calloc(1, size));
	world_must(h->w, rnic_pd_alloc(h->rnic, &s->pd), "pd_alloc");
	world_must(h->w,
		rnic_mr_reg(s->pd, s->memory, size, (uintptr_t)s->memory, RNIC_ACCESS_LOCAL_WRITE,
			&s->mr),
		"mr_reg");
	for (unsigned i = 0; i < WORLD_UDS; i++)
		s->qp[i].slot = i;
}

static void ud_modify(struct world_host *h, struct world_ud *u, enum rnic_qp_state state)
{
	const struct rnic_qp_attr a = {.state = state, .qkey = u->model.qkey};

	world_trace(h->w, "host %u: UD qp %u to %s", h->index, u->slot, states[state]);
	if (state == RNIC_QP_ERROR)
		u->model.doomed = true;
	world_must(h->w,
		rnic_qp_modify(
			u->qp, RNIC_QP_STATE | (state == RNIC_QP_INIT ? RNIC_QP_QKEY : 0), &a),
		states[state]);
}

/** It takes messages, and most often sends some. */
static void ud_begin(struct world_host *h, struct world_ud *u)
{
	u->model.qkey = (uint32_t)world_below(h->w, 4);
	ud_modify(h, u, RNIC_QP_INIT);
	ud_modify(h, u, RNIC_QP_RTR);
	if (world_chance(h->w, 0.8))
		ud_modify(h, u, RNIC_QP_RTS);
}

static void ud_create(struct world_host *h, struct world_ud *u)
{
	struct world *w = h->w;
	struct rnic_qp_init init = {.context = u,
		.max_send_wr = WORLD_UD_DEPTH,
		.max_recv_wr = WORLD_UD_DEPTH,
		.max_send_sge = MODEL_PIECES,
		.max_recv_sge = MODEL_PIECES,
		.max_inline = 256,
		.ud = true};

	/* None of them overflows. */
	u->send_cq = &h->cq[world_below(w, WORLD_CQS - 1)];
	u->recv_cq = &h->cq[world_below(w, WORLD_CQS - 1)];
	init.send_cq = u->send_cq->cq;
	init.recv_cq = u->recv_cq->cq;
	if (!world_must(w, rnic_qp_create(h->uds.pd, &init, &u->qp), "qp_create"))
		return;
	model_ud_init(&w->m, &u->model, h->index, rnic_qp_num(u->qp), 0);
	world_trace(w, "host %u: UD qp %u is number %u", h->index, u->slot, u->model.num);
	ud_begin(h, u);
}

/** Completions that the program has not taken are gone with it. */
static void ud_forget(struct world_ud *u)
{
	model_ud_clear(&u->model);
	model_cq_lose(&u->send_cq->model, false);
	model_cq_lose(&u->recv_cq->model, false);
}

static void ud_destroy(struct world_host *h, struct world_ud *u)
{
	world_trace(h->w, "host %u: UD qp %u ends", h->index, u->slot);
	world_must(h->w, rnic_qp_destroy(u->qp), "qp_destroy");
	ud_forget(u);
	u->qp = NULL;
}

void world_uds_end(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_UDS; i++)
		if (h->uds.qp[i].qp)
			ud_destroy(h, &h->uds.qp[i]);
	if (!h->uds.mr)
		return;
	world_must(h->w, rnic_mr_dereg(h->uds.mr), "mr_dereg");
	world_must(h->w, rnic_pd_dealloc(h->uds.pd), "pd_dealloc");
}

void world_uds_free(struct world_host *h)
{
	free(h->uds.memory);
}

/* ---- requests ---------------------------------------------------------------------------- */

/** Elements for @p len octets at @p at, in a few pieces. */
static unsigned cut(struct world_host *h, struct rdmap_sge *sge, const uint8_t *at, uint32_t len)
{
	unsigned n = 1 + (unsigned)world_below(h->w, MODEL_PIECES);

	for (unsigned i = 0; i < n; i++) {
		uint32_t part = i + 1 < n ? (uint32_t)world_below(h->w, len + 1) : len;

		sge[i] = (struct rdmap_sge){(uintptr_t)at, part, rnic_mr_stag(h->uds.mr)};
		at += part;
		len -= part;
	}
	return n;
}

static uint8_t *ud_place(
	const struct world_host *h, const struct world_ud *u, uint64_t n, bool recv)
{
	size_t i = (size_t)u->slot * 2 * WORLD_UD_DEPTH + recv * WORLD_UD_DEPTH +
		   (size_t)(n % WORLD_UD_DEPTH);

	return h->uds.memory + i * WORLD_UD_PLACE;
}

static void ud_recv(struct world_host *h, struct world_ud *u)
{
	struct world *w = h->w;
	struct model_ud_wr r = {.id = ++w->next_id,
		.at = ud_place(h, u, u->receives, true),
		.room = world_chance(w, 0.03)
				? (uint32_t)world_below(w, WORLD_UD_PLACE + 1)
				: MODEL_UD_GRH + (world_chance(w, 0.3) ? MODEL_UD_MOST / 4
								       : MODEL_UD_MOST)};
	struct rdmap_rqe *e;

	if (u->model.receives >= WORLD_UD_DEPTH ||
		!world_must(w, rnic_rq_begin(u->qp), "post_recv"))
		return;
	e = rnic_rq_next(u->qp);
	if (!e) {
		model_fail(&w->m, "host %u: %u fill a receive queue of UD", h->index,
			u->model.receives);
	} else {
		e->wr_id = r.id;
		e->length = r.room;
		e->num_sge = cut(h, e->sge, r.at, r.room);
		world_trace(w, "host %u: UD qp %u posts receive %#jx of %u", h->index, u->slot,
			(uintmax_t)r.id, r.room);
		model_ud_post_recv(&u->model, &r);
		u->receives++;
		rnic_rq_commit(u->qp);
		w->operations++;
	}
	rnic_rq_end(u->qp);
}

/** A receiver, or nobody. */
static void aim(struct world_host *h, struct world_ud *u, struct model_ud_wr *r)
{
	struct world *w = h->w;
	struct world_host *to = &w->host[world_below(w, w->n)];
	const struct world_ud *at = &to->uds.qp[world_below(w, WORLD_UDS)];
	struct ip_addr gid = sim_host_address(h->host);

	memcpy(r->message.gid[0], gid.b, 16);
	gid = sim_host_address(to->host);
	r->message.to = at->qp && !world_chance(w, 0.02) ? at->model.num
							 : (uint32_t)world_below(w, 0xffffff);
	r->message.qkey = world_chance(w, 0.05) ? (uint32_t)world_below(w, 4) : at->model.qkey;
	if (r->message.qkey == u->model.qkey && world_chance(w, 0.3))
		r->message.qkey |= 0x80000000u;
	r->nowhere = world_chance(w, 0.02);
	if (r->nowhere)
		gid.b[15] = 0x99;
	memcpy(r->message.gid[1], gid.b, 16);
}

static void ud_fill(
	struct world_host *h, struct rdmap_wqe *e, const struct model_ud_wr *r, bool copied)
{
	struct rnic_ud_to to = {
		.qkey = r->message.qkey, .tos = r->message.tos, .ttl = r->message.ttl};

	memcpy(to.local.b, r->message.gid[0], 16);
	memcpy(to.remote.b, r->message.gid[1], 16);
	e->wr_id = r->id;
	e->op = r->message.with_imm ? RDMAP_WR_SEND_IMM : RDMAP_WR_SEND;
	e->flags = (uint8_t)((r->signalled ? RDMAP_WR_SIGNALED : 0) |
			     (r->message.solicited ? RDMAP_WR_SOLICITED : 0) |
			     (copied ? RDMAP_WR_INLINE : 0));
	e->length = r->message.length;
	e->imm = r->message.with_imm ? r->message.imm : 0;
	e->remote_stag = r->message.to;
	rnic_ud_aim(e, &to);
	if (copied)
		memcpy(rdmap_wqe_inline(e), r->at, e->length);
	else
		e->num_sge = (uint8_t)cut(h, e->sge, r->at, e->length);
	if (r->bad == MODEL_LOCAL_ERROR)
		for (unsigned i = 0; i < e->num_sge; i++)
			e->sge[i].stag ^= 1;
}

static void ud_submit(struct world_host *h, struct world_ud *u, struct model_ud_wr *r)
{
	struct world *w = h->w;
	bool copied = r->message.length <= 256 && world_chance(w, 0.3);
	struct rdmap_wqe *e;

	if (!r->bad && !r->nowhere && r->message.length && !copied &&
		world_chance(w, w->program->profile.offences / 4))
		r->bad = MODEL_LOCAL_ERROR;
	if (!world_must(w, rnic_sq_begin(u->qp), "post_send"))
		return;
	e = rnic_sq_next(u->qp);
	if (!e) {
		model_fail(&w->m, "host %u: %u requests fill the send queue of UD", h->index,
			u->model.sends);
		rnic_sq_abort(u->qp);
		return;
	}
	ud_fill(h, e, r, copied);
	world_trace(w, "host %u: UD qp %u posts %#jx: Send of %u to qp %u%s", h->index, u->slot,
		(uintmax_t)r->id, r->message.length, r->message.to, r->bad ? ", which fails" : "");
	/* The highest bit stands for the sender's own. */
	if (r->message.qkey & 0x80000000u)
		r->message.qkey = u->model.qkey;
	if (copied)
		memset(r->at, 0, WORLD_UD_PLACE);
	model_ud_post(&u->model, r);
	u->sends++;
	rnic_sq_commit(u->qp);
	rnic_sq_end(u->qp);
	w->operations++;
}

static void ud_send(struct world_host *h, struct world_ud *u)
{
	struct world *w = h->w;
	struct model_ud_wr r = {.id = ++w->next_id,
		.signalled = world_chance(w, 0.7),
		.at = ud_place(h, u, u->sends, false),
		.message = {.from = u->model.num,
			.length = (uint32_t)world_below(
				w, world_chance(w, 0.5) ? 65 : MODEL_UD_MOST + 1),
			.imm = (uint32_t)world_below(w, UINT32_MAX),
			.with_imm = world_chance(w, 0.3),
			.solicited = world_chance(w, 0.2),
			.tos = (uint8_t)world_below(w, 256),
			.ttl = (uint8_t)(1 + world_below(w, 255))}};

	if (u->model.sends >= WORLD_UD_DEPTH - 1)
		return;
	aim(h, u, &r);
	for (uint32_t i = 0; i < r.message.length; i += 8) {
		uint64_t word = prng_u64(&w->r);

		memcpy(r.at + i, &word, 8);
	}
	memcpy(r.message.data, r.at, r.message.length);
	if (world_chance(w, w->program->profile.offences / 4)) {
		r.message.length = MODEL_UD_MOST + 1 + (uint32_t)world_below(w, 64);
		r.bad = MODEL_LENGTH_ERROR;
	}
	ud_submit(h, u, &r);
}

/* ---- completions ------------------------------------------------------------------------- */

void world_ud_complete(struct world_host *h, struct world_ud *u, const struct world_cq *cq,
	const struct rnic_wc *wc, const struct model_completion *c)
{
	struct world *w = h->w;

	if ((c->op == MODEL_RECV ? u->recv_cq : u->send_cq) != cq)
		model_fail(&w->m, "host %u: a completion of UD in the wrong CQ", h->index);
	if (c->op == MODEL_RECV && c->status == MODEL_GOOD && !(wc->wc.flags & RDMAP_WC_GRH))
		model_fail(&w->m, "host %u: a receive of UD tells of no header", h->index);
	w->completions++;
	if (c->status == MODEL_GOOD)
		w->told.other[c->op == MODEL_RECV ? TALLY_UD_RECEIVED : TALLY_UD_SENT]++;
	else if (c->status != MODEL_FLUSHED)
		w->told.other[TALLY_UD_FAILED]++;
	model_ud_complete(&u->model, c, wc->wc.src_qp);
}

void world_uds_look(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_UDS; i++) {
		struct world_ud *u = &h->uds.qp[i];

		if (!u->qp)
			continue;
		/* In this order: a poll sends what is posted, and takes nothing in. */
		world_poll(u->recv_cq, UINT32_MAX);
		world_poll(u->send_cq, UINT32_MAX);
		model_ud_empty(&u->model, rnic_qp_get_state(u->qp) == RNIC_QP_ERROR);
	}
}

bool world_uds_are_idle(const struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_UDS; i++) {
		const struct world_ud *u = &h->uds.qp[i];

		if (u->qp && rnic_qp_get_state(u->qp) == RNIC_QP_RTS &&
			!model_ud_is_idle(&u->model))
			return false;
	}
	return true;
}

void world_uds_flush(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_UDS; i++)
		if (h->uds.qp[i].qp)
			ud_modify(h, &h->uds.qp[i], RNIC_QP_ERROR);
	world_uds_look(h);
}

/* ---- steps ------------------------------------------------------------------------------- */

static void ud_renew(struct world_host *h, struct world_ud *u)
{
	world_uds_look(h);
	ud_modify(h, u, RNIC_QP_RESET);
	ud_forget(u);
	ud_begin(h, u);
}

static void ud_post(struct world_host *h, struct world_ud *u)
{
	bool sends = world_chance(h->w, 0.5) && rnic_qp_get_state(u->qp) != RNIC_QP_RTR;

	for (unsigned n = 1 + (unsigned)world_below(h->w, 6); n; n--) {
		if (sends)
			ud_send(h, u);
		else
			ud_recv(h, u);
	}
}

void world_ud_step(struct world_host *h)
{
	struct world *w = h->w;
	struct world_ud *u = &h->uds.qp[world_below(w, WORLD_UDS)];
	enum rnic_qp_state state = u->qp ? rnic_qp_get_state(u->qp) : RNIC_QP_RESET;

	if (!u->qp)
		ud_create(h, u);
	else if (state == RNIC_QP_ERROR && world_chance(w, 0.5))
		ud_renew(h, u);
	else if (state == RNIC_QP_RTR && world_chance(w, 0.3))
		ud_modify(h, u, RNIC_QP_RTS);
	else if (world_chance(w, 0.02))
		ud_modify(h, u, RNIC_QP_ERROR);
	else if (world_chance(w, 0.02))
		ud_renew(h, u);
	else if (world_chance(w, 0.01))
		ud_destroy(h, u);
	else
		ud_post(h, u);
	if (world_chance(w, 0.3))
		world_uds_look(h);
}
