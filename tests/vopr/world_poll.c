/* SPDX-License-Identifier: BSD-2-Clause */
/** Completions, translated for the model; and what is seen of streams that end. */
#include "vopr/world.h"

#include <errno.h>

static enum model_status translate(const struct rdmap_wc *wc)
{
	switch (wc->status) {
	case RDMAP_WC_SUCCESS:
		return MODEL_GOOD;
	case RDMAP_WC_WR_FLUSH_ERR:
		return MODEL_FLUSHED;
	case RDMAP_WC_LOC_PROT_ERR:
		return MODEL_LOCAL_ERROR;
	case RDMAP_WC_LOC_LEN_ERR:
		return MODEL_LENGTH_ERROR;
	case RDMAP_WC_REM_ACCESS_ERR:
		return MODEL_REMOTE_ACCESS_ERROR;
	case RDMAP_WC_REM_INV_REQ_ERR:
		return MODEL_REMOTE_REQUEST_ERROR;
	case RDMAP_WC_REM_OP_ERR:
		return MODEL_REMOTE_ERROR;
	case RDMAP_WC_RETRY_EXC_ERR:
		return MODEL_RETRY_ERROR;
	case RDMAP_WC_MW_BIND_ERR:
		return MODEL_BIND_ERROR;
	default:
		return MODEL_OTHER_ERROR;
	}
}

static const enum model_op ops[] = {[RDMAP_WC_SEND] = MODEL_SEND,
	[RDMAP_WC_WRITE] = MODEL_WRITE,
	[RDMAP_WC_READ] = MODEL_READ,
	[RDMAP_WC_LOCAL_INV] = MODEL_INVALIDATE,
	[RDMAP_WC_BIND_MW] = MODEL_BIND,
	[RDMAP_WC_FETCH_ADD] = MODEL_ADD,
	[RDMAP_WC_CMP_SWAP] = MODEL_SWAP,
	[RDMAP_WC_RECV] = MODEL_RECV,
	[RDMAP_WC_RECV_IMM] = MODEL_RECV};

static struct world_qp *find_qp(struct world_host *h, uint32_t num)
{
	for (unsigned i = 0; i < WORLD_QPS; i++)
		if (h->qp[i].qp && rnic_qp_num(h->qp[i].qp) == num)
			return &h->qp[i];
	return NULL;
}

/** A bind that has ended leaves its window bound, or not. */
static void note_bind(struct world_qp *q, bool good)
{
	for (unsigned i = 0; i < WORLD_MWS; i++) {
		struct world_mw *mw = &q->h->mw[i];

		if (mw->by != q || (good && mw->key->valid != MODEL_YES))
			continue;
		mw->stale = !good;
		mw->binding = false;
		mw->by = NULL;
	}
}

static void handle(struct world_cq *cq, const struct rnic_wc *wc)
{
	struct world_host *h = cq->h;
	struct world *w = h->w;
	struct world_qp *q = find_qp(h, wc->qp_num);
	struct world_ud *u = world_ud_find(h, wc->qp_num);
	struct model_completion c = {.id = wc->wc.wr_id,
		.status = translate(&wc->wc),
		.op = ops[wc->wc.op],
		.immediate = wc->wc.flags & RDMAP_WC_WITH_IMM,
		.solicited = wc->wc.flags & RDMAP_WC_SOLICITED,
		.of_write = wc->wc.op == RDMAP_WC_RECV_IMM,
		.ends = wc->wc.flags & RDMAP_WC_WITH_INV,
		.length = wc->wc.byte_len,
		.imm = wc->wc.imm,
		.stag = wc->wc.inv_stag};
	enum model_arm asked;

	asked = model_cq_polled(&cq->model, &c);
	if (asked != MODEL_ARM_NONE)
		tally_event(&w->told, asked, &wc->wc);
	if (w->deliberate && c.id % 16 == 7)
		return;
	world_trace(w, "host %u: completion of %#jx, status %u, %u bytes", h->index,
		(uintmax_t)c.id, wc->wc.status, c.length);
	if (u) {
		world_ud_complete(h, u, cq, wc, &c);
		return;
	}
	if (!q) {
		model_fail(&w->m, "host %u: a completion of QP %u, which is not there", h->index,
			wc->qp_num);
		return;
	}
	if ((c.op == MODEL_RECV ? q->recv_cq : q->send_cq) != cq)
		model_fail(&w->m, "host %u: a completion in the wrong CQ", h->index);
	w->completions++;
	w->told.n[wc->wc.op][wc->wc.status]++;
	model_complete(&q->model, &c);
	note_bind(q, c.status == MODEL_GOOD || c.op == MODEL_RECV);
}

void world_poll(struct world_cq *q, unsigned most)
{
	struct rnic_wc wc[16];
	int n;

	while (most && !q->h->w->m.wrong[0]) {
		n = rnic_cq_poll(q->cq, most < 16 ? (int)most : 16, wc);
		if (n == -EOVERFLOW && q->overflowed)
			return;
		if (!world_must(q->h->w, n, "poll_cq"))
			return;
		if (!n) {
			model_cq_empty(&q->model);
			return;
		}
		most -= (unsigned)n;
		for (int i = 0; i < n && !q->h->w->m.wrong[0]; i++)
			handle(q, &wc[i]);
	}
}

void world_poll_all(struct world_host *h)
{
	for (unsigned i = 0; i < h->w->cqs; i++)
		if (!h->cq[i].by_notification)
			world_poll(&h->cq[i], UINT32_MAX);
}

static void notified(void *ctx)
{
	struct world_cq *q = ctx;

	if (q->h->w->over)
		return;
	q->told = false;
	world_trace(q->h->w, "host %u: cq %u notifies", q->h->index, (unsigned)(q - q->h->cq));
	world_poll(q, UINT32_MAX);
	if (q->by_notification || world_chance_since(q->h->w, 10, 0.5))
		world_arm(q);
}

void world_cq_notify(void *context)
{
	struct world_cq *q = context;

	model_cq_event(&q->model);
	if (!q->told)
		sim_at(q->h->w->s, sim_now(q->h->w->s), notified, q);
	q->told = true;
}

void world_arm(struct world_cq *q)
{
	struct world *w = q->h->w;
	/* Who sleeps until he is told wants to be told of all. */
	bool solicited = !q->by_notification && world_chance_since(w, 10, 0.6);
	bool empty = world_chance_since(w, 10, 0.5);

	/* Then all that it is polled for later has come after it was armed. */
	if (empty)
		world_poll(q, UINT32_MAX);
	world_trace(w, "host %u: cq %u is armed for %s completions", q->h->index,
		(unsigned)(q - q->h->cq), solicited ? "solicited" : "all");
	/* Before: the notification may come from inside of the call. */
	model_cq_arm(&q->model, solicited ? MODEL_ARM_SOLICITED : MODEL_ARM_ANY, empty);
	world_must(w, rnic_cq_arm(q->cq, solicited), "req_notify_cq");
	if (!empty)
		world_poll(q, UINT32_MAX);
}

void world_notice(struct world *w)
{
	for (unsigned h = 0; h < w->n; h++) {
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			struct world_qp *q = &w->host[h].qp[i];

			if (q->qp)
				world_pair_notice(q);
			if (!q->qp || !q->linked || q->model.dead ||
				rnic_qp_get_state(q->qp) != RNIC_QP_ERROR)
				continue;
			world_trace(w, "host %u: qp %u is in ERROR", h, i);
			world_poll(q->send_cq, UINT32_MAX);
			world_poll(q->recv_cq, UINT32_MAX);
			model_in_error(&q->model);
			model_dead(&q->model);
		}
		world_reap(&w->host[h]);
	}
}
