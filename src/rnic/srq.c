/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/srq.h"

#include "base/container_of.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** As many look again as there are elements: the others need not, however many they are. */
static void srq_serve(struct engine_doorbell *d)
{
	struct rnic_srq *srq = container_of(d, struct rnic_srq, doorbell);

	recv_wait_tell(srq, recv_queue_count(&srq->rq));
}

int rnic_srq_create(struct rnic_pd *pd, uint32_t max_wr, uint32_t max_sge, uint32_t limit,
	void *context, struct rnic_srq **out)
{
	struct rnic *r = pd->rnic;
	struct rnic_srq *srq;
	int rc;

	if (!max_wr || max_wr > r->limits.max_srq_wr || max_sge > r->limits.max_sge ||
		limit > max_wr)
		return -EINVAL;
	srq = calloc(1, sizeof *srq);
	if (!srq)
		return -ENOMEM;
	srq->pd = pd;
	srq->context = context;
	srq->limit = limit;
	srq->doorbell.serve = srq_serve;
	TAILQ_INIT(&srq->waiting);
	rc = recv_queue_init(&srq->rq, max_wr, max_sge);
	if (!rc) {
		engine_lock(r->engine);
		if (r->srq_count < r->limits.max_srq) {
			r->srq_count++;
			pd->users++;
			LIST_INSERT_HEAD(&r->srqs, srq, link);
		} else {
			rc = -ENOMEM;
		}
		engine_unlock(r->engine);
	}
	if (rc) {
		recv_queue_fini(&srq->rq);
		free(srq);
	} else {
		*out = srq;
	}
	return rc;
}

int rnic_srq_retire(struct rnic_srq *srq)
{
	struct rnic *r = srq->pd->rnic;
	bool busy;

	engine_lock(r->engine);
	busy = srq->users != 0;
	if (!busy) {
		/* A post in progress ends first. */
		recv_queue_begin(&srq->rq);
		srq->retired = true;
		pthread_spin_unlock(&srq->rq.lock);
		r->srq_count--;
		srq->pd->users--;
		LIST_REMOVE(srq, link);
		engine_doorbell_cancel(r->engine, &srq->doorbell);
	}
	engine_unlock(r->engine);
	return busy ? -EBUSY : 0;
}

void rnic_srq_free(struct rnic_srq *srq)
{
	recv_queue_fini(&srq->rq);
	free(srq);
}

int rnic_srq_destroy(struct rnic_srq *srq)
{
	int rc = rnic_srq_retire(srq);

	if (!rc)
		rnic_srq_free(srq);
	return rc;
}

/** Verbs: once, when there are fewer elements than the limit; then it is disarmed. */
static void srq_watch(struct rnic_srq *srq)
{
	if (!srq->limit || recv_queue_count(&srq->rq) >= srq->limit)
		return;
	srq->limit = 0;
	rnic_raise(srq->pd->rnic, RNIC_EVENT_SRQ_LIMIT, srq->context);
}

int rnic_srq_set_limit(struct rnic_srq *srq, uint32_t limit)
{
	struct engine *e = srq->pd->rnic->engine;
	int rc = 0;

	if (limit > srq->rq.size)
		return -EINVAL;
	engine_lock(e);
	if (srq->retired) {
		rc = -EINVAL;
	} else {
		srq->limit = limit;
		/* Not by the next message: there may be no element for it. */
		srq_watch(srq);
	}
	engine_unlock(e);
	return rc;
}

void rnic_srq_get(const struct rnic_srq *srq, uint32_t *max_wr, uint32_t *max_sge, uint32_t *limit)
{
	struct engine *e = srq->pd->rnic->engine;

	*max_wr = srq->rq.size;
	*max_sge = srq->rq.max_sge;
	engine_lock(e);
	*limit = srq->limit;
	engine_unlock(e);
}

int rnic_srq_begin(struct rnic_srq *srq)
{
	recv_queue_begin(&srq->rq);
	if (!srq->retired)
		return 0;
	pthread_spin_unlock(&srq->rq.lock);
	return -EINVAL;
}

struct rdmap_rqe *rnic_srq_next(struct rnic_srq *srq)
{
	return recv_queue_next(&srq->rq);
}

void rnic_srq_commit(struct rnic_srq *srq)
{
	recv_queue_commit(&srq->rq);
}

void rnic_srq_end(struct rnic_srq *srq)
{
	recv_queue_publish(&srq->rq);
	recv_queue_end(
		&srq->rq, srq->pd->rnic->engine, atomic_load(&srq->hungry) ? &srq->doorbell : NULL);
}

bool srq_take(struct rnic_srq *srq, struct rdmap_rqe *to)
{
	const struct rdmap_rqe *e = recv_queue_first(&srq->rq);

	if (!e)
		return false;
	memcpy(to, e, sizeof *e + e->num_sge * sizeof e->sge[0]);
	recv_queue_pop(&srq->rq);
	srq_watch(srq);
	return true;
}
