/* SPDX-License-Identifier: BSD-2-Clause */
/** Receive queues: which element is there for which message. */
#include "vopr/model_rq.h"
#include "vopr/effect.h"
#include "vopr/reason.h"

#include <stdlib.h>

void model_rq_init(struct model *m, struct model_rq *rq, unsigned host, bool shared, uint32_t least)
{
	*rq = (struct model_rq){.m = m, .host = host, .shared = shared, .least = least};
	TAILQ_INIT(&rq->wrs);
	LIST_INIT(&rq->users);
}

void model_rq_fini(struct model_rq *rq)
{
	model_rq_clear(rq, NULL);
}

void model_post_recv(struct model_rq *rq, struct model_qp *qp, const struct model_wr *wr)
{
	struct model_wr *w = model_need(malloc(sizeof *w));
	const struct model_qp *user = qp ? qp : LIST_FIRST(&rq->users);

	*w = *wr;
	w->op = MODEL_RECV;
	w->refs = 1;
	for (unsigned i = 0; i < w->n && user; i++)
		if (model_judge(w->local, user, w->piece[i].off, w->piece[i].len,
			    MODEL_LOCAL_WRITE) == MODEL_NO)
			w->verdict_local = MODEL_NO;
	TAILQ_INSERT_TAIL(&rq->wrs, w, link);
	rq->count++;
	effect_of_recv(rq, qp, w);
}

void model_rq_take(struct model_rq *rq, struct model_wr *w)
{
	TAILQ_REMOVE(&rq->wrs, w, link);
	rq->count--;
	model_rq_lose(rq, 0);
	model_wr_unref(w);
	model_rq_watch(rq);
}

void model_rq_lose(struct model_rq *rq, unsigned n)
{
	rq->holes = rq->holes + n < rq->count ? rq->holes + n : rq->count;
}

void model_rq_clear(struct model_rq *rq, struct model_qp *qp)
{
	struct model_wr *w, *s = qp ? TAILQ_FIRST(&qp->inbox) : NULL;

	while ((w = TAILQ_FIRST(&rq->wrs))) {
		effect_give_up_recv(rq, w, s);
		s = s ? TAILQ_NEXT(s, inbox_link) : NULL;
		TAILQ_REMOVE(&rq->wrs, w, link);
		rq->count--;
		model_wr_unref(w);
	}
}

bool model_rq_is_spoiled(const struct model_rq *rq)
{
	const struct model_wr *w;

	TAILQ_FOREACH (w, &rq->wrs, link)
		if (w->verdict_local != MODEL_YES)
			return true;
	return false;
}

/** There are fewer than messages on their way to them. */
static bool model_rq_is_short(const struct model_rq *rq)
{
	return rq->expected + rq->holes > rq->count;
}

/** Of a shared queue, any of its messages may be that which comes too late. */
static void model_rq_fear(struct model_rq *rq)
{
	struct model_qp *q;

	LIST_FOREACH (q, &rq->users, user) {
		const struct model_wr *s = TAILQ_LAST(&q->inbox, model_wrs);

		if (q->paired)
			continue;
		if (s && q->peer)
			reason_add(q->peer, MODEL_BY_RECEIVE, s);
		else if (s)
			q->left_why |= MODEL_BY_RECEIVE;
	}
}

void model_rq_watch(struct model_rq *rq)
{
	if (!rq->m->waits && model_rq_is_short(rq))
		model_rq_fear(rq);
}

void model_rq_expire(struct model_rq *rq)
{
	if (model_rq_is_short(rq))
		model_rq_fear(rq);
}

/* ---- the limit --------------------------------------------------------------------------- */

void model_rq_set_limit(struct model_rq *rq, unsigned limit, uint64_t newest)
{
	rq->limit = limit;
	rq->limit_since = newest;
}

void model_rq_limit_is_set(const struct model_rq *rq)
{
	if (rq->limit && rq->count < rq->limit)
		model_fail(rq->m, "host %u: no event tells at once that %u are fewer than %u",
			rq->host, rq->count, rq->limit);
}

void model_rq_limit_event(struct model_rq *rq)
{
	/* What is on its way may have been taken. */
	if (!rq->limit || rq->count >= rq->limit + rq->expected + rq->holes)
		model_fail(rq->m, "host %u: %u shared receives are no fewer than %u", rq->host,
			rq->count, rq->limit);
	rq->limit = 0;
}

void model_rq_took(struct model_rq *rq, const struct model_wr *s)
{
	/* It counts itself still. */
	if (rq->limit && s->id > rq->limit_since && rq->count - 1 < rq->limit)
		model_fail(rq->m,
			"host %u: no event tells that %u shared receives are fewer than %u",
			rq->host, rq->count - 1, rq->limit);
}
