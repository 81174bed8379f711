/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/mw.h"

#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

#define ACCESS_WINDOW                                                                     \
	(RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC | \
		RNIC_ACCESS_ZERO_BASED)

int rnic_mw_alloc(struct rnic_pd *pd, enum rnic_mw_type type, struct rnic_mw **out)
{
	struct rnic *r = pd->rnic;
	struct rnic_mw *mw = calloc(1, sizeof *mw);
	int rc;

	if (!mw)
		return -ENOMEM;
	mw->view = (struct rnic_mr){.pd = pd, .window = true};
	mw->type = type;
	engine_lock(r->engine);
	rc = r->mw_count < r->limits.max_mw ? stag_table_add(&r->stags, &mw->view, &mw->view.stag)
					    : -ENOMEM;
	if (!rc) {
		LIST_INSERT_HEAD(&r->mws, mw, link);
		r->mw_count++;
		pd->users++;
	}
	engine_unlock(r->engine);
	if (rc)
		free(mw);
	else
		*out = mw;
	return rc;
}

int rnic_mw_dealloc(struct rnic_mw *mw)
{
	struct rnic *r = mw->view.pd->rnic;

	engine_lock(r->engine);
	mw_unbind(mw);
	stag_table_remove(&r->stags, mw->view.stag);
	LIST_REMOVE(mw, link);
	r->mw_count--;
	mw->view.pd->users--;
	engine_unlock(r->engine);
	free(mw);
	return 0;
}

void rnic_mw_revoke(struct rnic_mw *mw)
{
	struct engine *e = mw->view.pd->rnic->engine;

	engine_lock(e);
	mw_unbind(mw);
	engine_unlock(e);
}

uint32_t rnic_mw_stag(const struct rnic_mw *mw)
{
	struct engine *e = mw->view.pd->rnic->engine;
	uint32_t stag;

	engine_lock(e);
	stag = mw->view.stag;
	engine_unlock(e);
	return stag;
}

void mw_unbind(struct rnic_mw *mw)
{
	if (!mw->mr)
		return;
	mw->mr->windows--;
	mw->mr = NULL;
	if (mw->view.only)
		LIST_REMOVE(mw, qp_link);
	mw->view.only = NULL;
	mw->view.valid = false;
}

void mw_unbind_all(struct rnic_qp *qp)
{
	while (!LIST_EMPTY(&qp->windows))
		mw_unbind(LIST_FIRST(&qp->windows));
}

/** @return false: the region is not there, not of this PD, or allows less than what is wanted. */
static bool mw_range_ok(const struct rnic_mr *mr, const struct rnic_qp *qp, uint64_t addr,
	uint64_t len, unsigned access)
{
	if (!mr || !mr->valid || mr->window || mr->pd != qp->pd ||
		!(mr->access & RNIC_ACCESS_MW_BIND))
		return false;
	if (access & ~ACCESS_WINDOW ||
		mr_access_verify(access | (mr->access & RNIC_ACCESS_LOCAL_WRITE)))
		return false;
	return addr >= mr->iova && addr - mr->iova <= mr->len && len <= mr->len - (addr - mr->iova);
}

static void mw_bind_to(
	struct rnic_mw *mw, struct rnic_mr *mr, uint64_t addr, uint64_t len, unsigned access)
{
	mw->mr = mr;
	mr->windows++;
	/* By number: what is on demand may begin at no address at all. */
	mw->view.mem = (uint8_t *)((uintptr_t)mr->mem + (addr - mr->iova));
	mw->view.iova = access & RNIC_ACCESS_ZERO_BASED ? 0 : addr;
	mw->view.len = len;
	/* What the region's memory needs before it is touched, it needs through a window too. */
	mw->view.access = access | (mr->access & RNIC_ACCESS_ON_DEMAND);
	mw->view.valid = true;
}

int mw_bind(struct rnic_qp *qp, const struct rdmap_wqe *w)
{
	struct stag_table *t = &qp->rnic->stags;
	uint64_t addr = w->local_arg[0], len = w->local_arg[1];
	unsigned access = (unsigned)w->local_arg[2];
	struct stag_slot *slot = stag_table_find(t, w->remote_stag);
	struct rnic_mr *view = slot ? slot->object : NULL, *mr = NULL;
	struct rnic_mw *mw;

	if (!view || !view->window || view->pd != qp->pd)
		return RDMAP_WC_MW_BIND_ERR;
	mw = mw_of(view);
	if (mw->type == RNIC_MW_TYPE_2 && (mw->mr || !len))
		return RDMAP_WC_MW_BIND_ERR;
	if (len) {
		mr = stag_table_get(t, w->inv_stag);
		if (!mw_range_ok(mr, qp, addr, len, access))
			return RDMAP_WC_MW_BIND_ERR;
	}
	mw_unbind(mw);
	slot->stag = view->stag = w->remote_stag;
	if (len)
		mw_bind_to(mw, mr, addr, len, access);
	if (mw->type == RNIC_MW_TYPE_2) {
		view->only = qp;
		LIST_INSERT_HEAD(&qp->windows, mw, qp_link);
	}
	return RDMAP_WC_SUCCESS;
}
