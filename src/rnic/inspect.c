/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/inspect.h"

#include "rnic/conn.h"
#include "rnic/cq.h"
#include "rnic/mr.h"
#include "rnic/qp.h"

static struct rnic_term_count *rnic_term_count(
	struct rnic_term_counts *t, const struct rdmap_end *e)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct rnic_term_count *c = &t->code[i];

		if (c->layer == e->layer && c->etype == e->etype && c->code == e->code)
			return c;
	}
	if (t->n == RNIC_TERM_COUNTS)
		return NULL;
	t->code[t->n] =
		(struct rnic_term_count){.layer = e->layer, .etype = e->etype, .code = e->code};
	return &t->code[t->n++];
}

void rnic_count_end(struct rnic_term_counts *t, const struct rdmap_end *e)
{
	struct rnic_term_count *c;

	if (e->kind == RDMAP_END_CLOSED) {
		t->closed++;
		return;
	}
	if (e->kind == RDMAP_END_LOST) {
		t->lost++;
		return;
	}
	/* Peers choose the codes that come: there is no more room for them than for the RFCs'. */
	c = rnic_term_count(t, e);
	if (e->kind == RDMAP_END_TERMINATE_TX)
		++*(c ? &c->sent : &t->others_sent);
	else
		++*(c ? &c->received : &t->others_received);
}

void rnic_inspect(const struct rnic *r, struct rnic_inspection *out)
{
	*out = (struct rnic_inspection){
		.qps = r->qps.count,
		.cqs = r->cq_count,
		.mrs = r->mr_count,
		.mws = r->mw_count,
		.srqs = r->srq_count,
		.pds = r->pd_count,
		.startups_replaced = r->startups_replaced,
		.port_up = atomic_load(&r->port_up),
		.lost = r->lost,
		.terminates = r->terminates,
	};
}

/* ---- QPs --------------------------------------------------------------------------------- */

static void rnic_inspect_stream(const struct rnic_qp *qp, struct rnic_qp_item *item)
{
	const struct rdmap *s = &qp->rdmap;
	const struct mpa *m = s->mpa;

	if (!m || !mpa_llp(m))
		return;
	item->connected = true;
	item->responder = mpa_is_responder(m);
	llp_endpoints(mpa_llp(m), &item->local, &item->remote);
	item->reads_out = s->reads_out;
	item->reads_in = s->irq_count;
	/* MSNs begin with one, and tell of the next message. */
	item->sends_sent = s->ddp.tx_msn[0] - 1;
	item->requests_sent = s->ddp.tx_msn[1] - 1;
	item->sends_received = s->ddp.rx[0].msn - 1;
	item->requests_received = s->ddp.rx[1].msn - 1;
}

static void rnic_inspect_qp(const struct rnic_qp *qp, struct rnic_qp_item *item)
{
	*item = (struct rnic_qp_item){
		.num = qp->num,
		.state = qp_state(qp),
		.paired = qp->pairing != NULL,
		.shared_recv = qp->srq != NULL,
		.recv_waits = atomic_load_explicit(&qp->recv_waits, memory_order_relaxed),
		.send_cq = qp->send_cq->num,
		.recv_cq = qp->recv_cq->num,
		.send_size = qp->sq.size,
		.recv_size = qp->srq ? 0 : qp->rq.size,
		.send_posted = atomic_load_explicit(&qp->sq.head, memory_order_relaxed),
		.send_started = qp->sq.next,
		.send_completed = atomic_load_explicit(&qp->sq.tail, memory_order_relaxed),
		.recv_posted = atomic_load_explicit(&qp->rq.head, memory_order_relaxed),
		.recv_completed = atomic_load_explicit(&qp->rq.tail, memory_order_relaxed),
		.ord = qp->ord,
		.ird = qp->ird,
		.ended = qp->has_ended,
		.end = qp->last_end,
	};
	rnic_inspect_stream(qp, item);
}

enum walk rnic_qp_walk(const struct rnic *r, struct rnic_qp_walk *w, struct rnic_qp_item *item)
{
	const struct rnic_qp *qp;

	if (w->next >= r->qps.size)
		return WALK_END;
	qp = id_table_get(&r->qps, w->next++);
	if (!qp)
		return WALK_NONE;
	rnic_inspect_qp(qp, item);
	return WALK_ITEM;
}

/* ---- CQs and MRs ------------------------------------------------------------------------- */

void rnic_cq_walk_begin(struct rnic *r)
{
	r->walk_cq = LIST_FIRST(&r->cqs);
}

enum walk rnic_cq_walk(struct rnic *r, struct rnic_cq_item *item)
{
	const struct rnic_cq *cq = r->walk_cq;

	if (!cq)
		return WALK_END;
	r->walk_cq = LIST_NEXT(cq, link);
	*item = (struct rnic_cq_item){
		.num = cq->num,
		.size = cq->mask + 1,
		.depth = atomic_load_explicit(&cq->head, memory_order_relaxed) -
			 atomic_load_explicit(&cq->tail, memory_order_relaxed),
		.armed = atomic_load_explicit(&cq->armed, memory_order_relaxed) != CQ_ARM_NONE,
		.overflowed = atomic_load_explicit(&cq->overflowed, memory_order_relaxed),
		.withheld = cq->withheld,
	};
	return WALK_ITEM;
}

void rnic_mr_walk_begin(struct rnic *r)
{
	r->walk_mr = LIST_FIRST(&r->mrs);
}

enum walk rnic_mr_walk(struct rnic *r, struct rnic_mr_item *item)
{
	const struct rnic_mr *mr = r->walk_mr;

	if (!mr)
		return WALK_END;
	r->walk_mr = LIST_NEXT(mr, link);
	*item = (struct rnic_mr_item){
		.stag = mr->stag,
		.iova = mr->iova,
		.length = mr->len,
		.access = mr->access,
		.valid = mr->valid,
		.windows = mr->windows,
	};
	return WALK_ITEM;
}

const char *rnic_qp_state_name(enum rnic_qp_state state)
{
	static const char *const name[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERROR"};

	return name[state];
}
