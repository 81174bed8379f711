/* SPDX-License-Identifier: BSD-2-Clause */
/** Queue pairs that connect without rdma_cm, by RTR and RTS: docs/connect.md. */
#include "vopr/world.h"

#include <errno.h>
#include <stdlib.h>

/** Reads and Atomics at a time, at most. */
#define DEPTH_MOST 16
/** What is posted waits for its peer for as long, at least: docs/connect.md. */
#define PATIENCE_LEAST (10 * SIM_S)
/** One that ends in the middle looks so often in a round trip whether to do so. */
#define LOOKS 8
/** When there was no memory, its program asks again. */
#define AGAIN (10 * SIM_MS)

/** What the program of one side does: to RTR, and later to RTS. */
struct pair_side {
	struct world_qp *q;
	uint64_t attempt;
	struct rnic_qp_attr attr;
	uint64_t pause; /**< ns between the two */
	bool leaves;    /**< it ends in place of the latter */
	unsigned looks; /**< whether to end now, at most */
	bool hurries;   /**< it posts all that there is room for at once */
};

static void pair_side_run(void *ctx);

static uint64_t round_trip(const struct world *w)
{
	return 4 * w->program->profile.delay * SIM_US;
}

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
	s->q->patience = s->attr.patience;
	world_trace(w, "host %u: qp %u to RTS", s->q->h->index, s->q->slot);
	s->attr.state = RNIC_QP_RTS;
	world_must(w,
		rnic_qp_modify(s->q->qp,
			RNIC_QP_STATE | RNIC_QP_SQ_PSN | RNIC_QP_PATIENCE | RNIC_QP_ORD, &s->attr),
		"RTS");
	/* Not where no program posts the receives that this needs. */
	if (s->hurries && !w->ending && !w->still)
		world_post_all(s->q);
}

/**
 * Its program ends in the middle, most often between the other's first request and its own first
 * word. @return false: look again.
 */
static bool pair_side_leaves(struct pair_side *s)
{
	const struct model_qp *peer = s->q->model.peer;

	if (s->looks && peer && !peer->count) {
		s->looks--;
		return false;
	}
	world_trace(s->q->h->w, "host %u: qp %u to RESET", s->q->h->index, s->q->slot);
	world_qp_reset(s->q);
	return true;
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
	if (now == RNIC_QP_RTR && s->leaves && !pair_side_leaves(s)) {
		pair_side_later(s, round_trip(s->q->h->w) / LOOKS);
		return;
	}
	if (now == RNIC_QP_RTR && !s->leaves)
		pair_side_rts(s);
	free(s);
}

static uint64_t any_pause(struct world *w)
{
	unsigned usual = w->program->profile.hasty ? 24 + (unsigned)world_below(w, 4) : 24;

	return world_below(w, UINT64_C(1) << (world_chance(w, 0.1) ? 33 : usual));
}

static void pair_side_hasten(struct pair_side *s)
{
	struct world *w = s->q->h->w;

	if (world_chance(w, 0.5))
		s->pause = world_below(w, 4 * round_trip(w));
	s->hurries = world_chance(w, 0.5);
	s->leaves = world_chance(w, 0.5);
	if (s->leaves) {
		/* One for TCP; the peer has the stream half a round trip later, for one. */
		s->looks = LOOKS;
		s->pause = round_trip(w) + world_below(w, round_trip(w));
	}
}

static void pair_side_new(
	struct world_qp *q, const struct world_qp *to, uint32_t sq_psn, uint32_t rq_psn)
{
	struct world *w = q->h->w;
	struct pair_side *s = calloc(1, sizeof *s);
	double endless = w->program->profile.hasty ? 0.1 : 0.5;

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
			.patience = world_chance(w, endless) ? 0 : world_below(w, 30 * SIM_S)}};
	s->pause = any_pause(w);
	pair_side_later(s, any_pause(w));
	if (w->program->profile.hasty)
		pair_side_hasten(s);
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

/** Where nothing stands still, what is due when @p q has lost patience. */
static bool pair_is_overdue(struct world_qp *q)
{
	const struct world *w = q->h->w;
	uint64_t patience = RTE_MAX(q->patience, PATIENCE_LEAST), now = sim_now(w->s);

	if (!w->m.faultless || !world_pair_is_left(q) || q->endless || q->drained ||
		!model_owes(&q->model) || rnic_qp_get_state(q->qp) != RNIC_QP_RTS) {
		q->left_at = 0;
		return false;
	}
	/* One that was done, but not polled, has not waited. */
	if (!q->left_at || q->left_wr != model_oldest(&q->model))
		q->left_at = now;
	q->left_wr = model_oldest(&q->model);
	return now > q->left_at + patience + SIM_S;
}

void world_pair_notice(struct world_qp *q)
{
	if (!pair_is_overdue(q))
		return;
	world_poll(q->send_cq, UINT32_MAX);
	if (pair_is_overdue(q))
		model_fail(&q->h->w->m, "host %u: qp %u waits for a peer that has ended",
			q->h->index, q->slot);
}

bool world_pair_is_forgotten(const struct world_qp *q)
{
	/* What is to be sent finds it. */
	return world_pair_is_left(q) && (q->endless || !model_owes(&q->model));
}
