/* SPDX-License-Identifier: BSD-2-Clause */
/** Queue pairs that connect without rdma_cm, by RTR and RTS: docs/connect.md. */
#include "vopr/world.h"

#include <errno.h>
#include <stdlib.h>

/** Reads and Atomics at a time, at most. */
#define DEPTH_MOST 16
/** When there was no memory, its program asks again. */
#define AGAIN (10 * SIM_MS)

/** What the program of one side does: to RTR, and later to RTS. */
struct pair_side {
	struct world_qp *q;
	uint64_t attempt;
	struct rnic_qp_attr attr;
	uint64_t pause; /**< ns between the two */
};

static void pair_side_run(void *ctx);

static void pair_side_later(struct pair_side *s, uint64_t ns)
{
	const struct world *w = s->q->h->w;

	sim_at(w->s, sim_now(w->s) + ns, pair_side_run, s);
}

static bool pair_side_is_current(const struct pair_side *s)
{
	return !s->q->h->w->over && s->q->qp && s->q->paired == s->attempt;
}

/** @return false: try again. */
static bool pair_side_rtr(struct pair_side *s)
{
	struct world *w = s->q->h->w;

	s->attr.state = RNIC_QP_RTR;
	if (!world_must(w,
		    rnic_qp_modify(s->q->qp, RNIC_QP_STATE | RNIC_QP_PATH | RNIC_QP_IRD, &s->attr),
		    "RTR"))
		return false;
	world_trace(w, "host %u: qp %u to RTR", s->q->h->index, s->q->slot);
	return true;
}

static void pair_side_rts(struct pair_side *s)
{
	struct world *w = s->q->h->w;

	if (s->q->model.made && !s->q->told_joined)
		model_fail(&w->m, "host %u: qp %u in RTR: no event tells of its stream",
			s->q->h->index, s->q->slot);
	s->q->endless = !s->attr.patience;
	world_trace(w, "host %u: qp %u to RTS", s->q->h->index, s->q->slot);
	s->attr.state = RNIC_QP_RTS;
	world_must(w,
		rnic_qp_modify(s->q->qp,
			RNIC_QP_STATE | RNIC_QP_SQ_PSN | RNIC_QP_PATIENCE | RNIC_QP_ORD, &s->attr),
		"RTS");
}

static void pair_side_run(void *ctx)
{
	struct pair_side *s = ctx;
	enum rnic_qp_state now =
		pair_side_is_current(s) ? rnic_qp_get_state(s->q->qp) : RNIC_QP_ERROR;

	if (now == RNIC_QP_INIT) {
		pair_side_later(s, pair_side_rtr(s) ? s->pause : AGAIN);
		return;
	}
	if (now == RNIC_QP_RTR)
		pair_side_rts(s);
	free(s);
}

static uint64_t any_pause(struct world *w)
{
	return world_below(w, UINT64_C(1) << (world_chance(w, 0.1) ? 33 : 24));
}

static void pair_side_new(
	struct world_qp *q, const struct world_qp *to, uint32_t sq_psn, uint32_t rq_psn)
{
	struct world *w = q->h->w;
	struct pair_side *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	*s = (struct pair_side){.q = q,
		.attempt = q->paired,
		.attr = {.ird = (uint16_t)(1 + world_below(w, DEPTH_MOST)),
			.ord = (uint16_t)(1 + world_below(w, DEPTH_MOST)),
			.path = {.local = sim_host_address(q->h->host),
				.remote = sim_host_address(to->h->host),
				.remote_qp = rnic_qp_num(to->qp),
				.rq_psn = rq_psn},
			.sq_psn = sq_psn,
			.patience = world_chance(w, 0.5) ? 0 : world_below(w, 30 * SIM_S)}};
	s->pause = any_pause(w);
	pair_side_later(s, any_pause(w));
}

void world_pair(struct world_qp *q, struct world_qp *to)
{
	struct world *w = q->h->w;
	uint32_t psn = (uint32_t)world_below(w, 1u << 24),
		 other = (uint32_t)world_below(w, 1u << 24);

	world_trace(w, "host %u: qp %u and qp %u of host %u know of each other", q->h->index,
		q->slot, to->slot, to->h->index);
	q->paired = to->paired = ++w->attempts;
	q->linked = to->linked = true;
	q->far = to->h->index;
	to->far = q->h->index;
	model_pair(&q->model, &to->model);
	world_excuse_paired(q);
	pair_side_new(q, to, psn, other);
	pair_side_new(to, q, other, psn);
}

void world_pair_joined(struct world_qp *q)
{
	if (!q->paired || q->told_joined || rnic_qp_get_state(q->qp) != RNIC_QP_RTR)
		model_fail(&q->h->w->m, "host %u: qp %u: an event tells of a stream, for no reason",
			q->h->index, q->slot);
	q->told_joined = true;
}

bool world_pair_is_left(const struct world_qp *q)
{
	return q->paired && (!q->model.peer || q->model.peer->dead);
}

bool world_pair_is_forgotten(const struct world_qp *q)
{
	/* What is to be sent finds it. */
	return world_pair_is_left(q) && (q->endless || !model_owes(&q->model));
}
