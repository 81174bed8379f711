/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/run.h"
#include "tcp/rto.h"

#include <string.h>

/**
 * Once all faults are over, nothing is lost any more. What was lost before is sent again after a
 * timeout at the latest, which may have backed off as far as RFC 6298 section 2.5 lets it; and what
 * follows from that goes by ACKs. One such wait may end when the next begins: for a request, for
 * what the peer had sent in answer before, and for the end of the stream. The rest are round trips.
 */
#define PATIENCE (3 * TCP_RTO_MAX + 20 * SIM_S)
#define PACE     (200 * SIM_MS)

/** Programs that wait for completions look at their queues all the time, and so drive their hosts.
 */
static void drive(struct world *w, uint64_t time)
{
	while (time) {
		uint64_t slice = 1 + world_below(w, SIM_MS);

		slice = slice < time ? slice : time;
		sim_run(w->s, slice, NULL, NULL);
		time -= slice;
		for (unsigned h = 0; h < w->n; h++)
			world_poll_all(&w->host[h]);
	}
}

static void wait_some(struct world *w)
{
	uint64_t scale = UINT64_C(1) << world_below(w, world_chance(w, 0.05) ? 34 : 24);
	uint64_t time = 1 + world_below(w, scale);

	if (w->program->profile.driven && time < 20 * SIM_MS)
		drive(w, time);
	else
		sim_run(w->s, time, NULL, NULL);
}

static void step_run(struct world *w, const struct step *s)
{
	struct world_host *h = &w->host[s->host % w->n];

	w->r.state = s->random;
	switch (s->kind) {
	case STEP_WAIT:
		wait_some(w);
		break;
	case STEP_POST:
		world_post(h);
		break;
	case STEP_RECV:
		world_recv(h);
		break;
	case STEP_POLL:
		world_poll(&h->cq[1 + world_below(w, w->cqs - 1)], (unsigned)world_below(w, 20));
		break;
	case STEP_SCRIBBLE:
		world_scribble(h);
		break;
	case STEP_MR_REG:
		world_mr_reg(h);
		break;
	case STEP_MR_DEREG:
		world_mr_dereg(h);
		break;
	case STEP_MW_ALLOC:
		world_mw_alloc(h);
		break;
	case STEP_MW_DEALLOC:
		world_mw_dealloc(h);
		break;
	case STEP_CQ_RESIZE:
		world_cq_resize(h);
		break;
	case STEP_CQ_ARM:
		world_arm(&h->cq[world_below(w, w->cqs)]);
		break;
	case STEP_SRQ_LIMIT:
		world_srq_limit(h);
		break;
	case STEP_MR_REREG:
		world_mr_rereg(h);
		break;
	case STEP_SRQ_CREATE:
		world_srq_create(h);
		break;
	case STEP_SRQ_DESTROY:
		world_srq_destroy(h);
		break;
	case STEP_QP_CREATE:
		world_qp_create(h);
		break;
	case STEP_QP_DESTROY:
		world_qp_destroy(h);
		break;
	case STEP_QP_RESET:
		world_qp_reset_any(h);
		break;
	case STEP_QP_ERROR:
		world_qp_modify(h, RNIC_QP_ERROR);
		break;
	case STEP_QP_DRAIN:
		world_qp_modify(h, RNIC_QP_SQD);
		break;
	case STEP_QP_RESUME:
		world_qp_modify(h, RNIC_QP_RTS);
		break;
	case STEP_CONNECT:
		world_connect(h);
		break;
	case STEP_DISCONNECT:
		world_disconnect(h);
		break;
	case STEP_EP_DESTROY:
		world_end_destroy(h);
		break;
	case STEP_RENEW:
		world_renew(h);
		break;
	case STEP_UD:
		world_ud_step(h);
		break;
	default:
		world_fault(h, s);
	}
	world_resplit(w);
	world_notice(w);
}

/* ---- the end of a program ---------------------------------------------------------------- */

/** What holds a stream back by its program's will goes on. */
static void let_go(struct world_qp *q)
{
	if (q->asked && !q->model.dead)
		return;
	q->model.held = false;
	if (q->drained && rnic_qp_get_state(q->qp) == RNIC_QP_SQD)
		rnic_qp_modify(q->qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_RTS});
	q->drained = false;
}

/** Is there nothing that must still happen? */
static bool settled(struct world *w, bool say)
{
	for (unsigned h = 0; h < w->n; h++) {
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			struct world_qp *q = &w->host[h].qp[i];

			if (!q->qp || !q->linked ||
				(model_idle(&q->model) && (q->model.dead || !q->drained) &&
					(!q->end || q->end->established)))
				continue;
			if (say)
				model_fail(&w->m,
					"host %u: qp %u (state %u) does not come to an end: %u "
					"requests, %u receives, messages under way: %s",
					h, i, rnic_qp_get_state(q->qp), q->model.count,
					q->model.rq->count,
					TAILQ_EMPTY(&q->model.inbox) ? "no" : "yes");
			return false;
		}
		if (!world_uds_are_idle(&w->host[h])) {
			if (say)
				model_fail(&w->m, "host %u: messages of UD are not sent", h);
			return false;
		}
		for (struct world_end *e = w->host[h].ends; e; e = e->next) {
			bool dead = !e->qp || e->qp->model.dead;

			if (e->over || (e->established && !dead && !e->closing))
				continue;
			if (say)
				model_fail(&w->m, "host %u: qp %d: no CM event tells of the end", h,
					e->qp ? (int)e->qp->slot : -1);
			return false;
		}
	}
	return true;
}

/**
 * A receiver that was told of a longer FPDU than was sent waits for its end, and RFC 5044 knows no
 * other way; and nobody need notice that the peer of a pair without rdma_cm has ended. Its program
 * loses patience.
 */
static void give_up(struct world_qp *q)
{
	struct world *w = q->h->w;

	if ((!q->garbled && !world_pair_is_forgotten(q)) ||
		sim_now(w->s) < w->calm_since + 45 * SIM_S || model_idle(&q->model))
		return;
	model_end(&q->model);
	world_must(w,
		rnic_qp_modify(
			q->qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		"ERROR");
}

static void calm_round(struct world *w)
{
	for (unsigned h = 0; h < w->n; h++) {
		world_mr_ensure(&w->host[h]);
		world_feed(&w->host[h]);
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			struct world_qp *q = &w->host[h].qp[i];

			if (!q->qp || !q->linked)
				continue;
			let_go(q);
			world_post_last(q);
			give_up(q);
		}
	}
	sim_run(w->s, PACE, NULL, NULL);
	for (unsigned h = 0; h < w->n; h++)
		world_poll_all(&w->host[h]);
	world_notice(w);
}

static void settle(struct world *w)
{
	uint64_t end;

	world_trace(w, "all faults end");
	world_calm(w);
	w->ending = true;
	w->calm_since = sim_now(w->s);
	end = sim_now(w->s) + PATIENCE;
	do
		calm_round(w);
	while (!w->m.wrong[0] && !settled(w, false) && sim_now(w->s) < end);
	settled(w, true);
}

/** In ERROR all that was posted comes back. */
static void flush(struct world *w)
{
	world_trace(w, "all queue pairs to ERROR");
	for (unsigned h = 0; h < w->n; h++) {
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			struct world_qp *q = &w->host[h].qp[i];

			if (!q->qp)
				continue;
			model_end(&q->model);
			world_must(w,
				rnic_qp_modify(q->qp, RNIC_QP_STATE,
					&(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
				"ERROR");
		}
	}
	sim_run(w->s, SIM_S, NULL, NULL);
	for (unsigned h = 0; h < w->n; h++) {
		world_poll_all(&w->host[h]);
		world_uds_flush(&w->host[h]);
	}
	world_notice(w);
	for (unsigned h = 0; h < w->n && !w->m.wrong[0]; h++) {
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			const struct world_qp *q = &w->host[h].qp[i];

			if (q->qp && model_owes(&q->model))
				model_fail(&w->m,
					"host %u: qp %u in ERROR keeps %u requests, %u receives", h,
					i, q->model.count, q->rq.count);
		}
	}
}

bool run_program(const struct program *p, const struct world_options *o, struct run_result *out)
{
	struct world w;

	world_create(&w, p, o);
	for (unsigned i = 0; i < p->n && !w.m.wrong[0]; i++) {
		step_run(&w, &p->step[i]);
		if (i % 64 == 0)
			model_look(&w.m);
	}
	if (!w.m.wrong[0])
		settle(&w);
	if (!w.m.wrong[0]) {
		model_look(&w.m);
		flush(&w);
	}
	model_look(&w.m);
	*out = (struct run_result){.simulated = sim_now(w.s),
		.operations = w.operations,
		.completions = w.completions,
		.received = w.m.received,
		.failed = w.m.failed,
		.established = w.established,
		.told = w.told};
	world_trace(&w, "%s", w.m.wrong[0] ? w.m.wrong : "all is well");
	world_destroy(&w, out->wrong);
	return !out->wrong[0];
}
