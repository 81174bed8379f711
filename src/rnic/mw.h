/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mw.h Memory windows: STags for parts of regions. All under the engine's lock. */
#ifndef RNIC_MW_H
#define RNIC_MW_H

#include "base/container_of.h"
#include "rnic/mr.h"

struct rdmap_wqe;

struct rnic_mw {
	struct rnic_mr view; /**< the part of the region; valid while it is bound */
	enum rnic_mw_type type;
	struct rnic_mr *mr; /**< the region that it is bound to, or NULL */
	LIST_ENTRY(rnic_mw) link, qp_link;
};

static inline struct rnic_mw *mw_of(struct rnic_mr *view)
{
	return container_of(view, struct rnic_mw, view);
}

/** Execute a RDMAP_WR_BIND_MW; see rnic_mw_alloc(). @return enum rdmap_wc_status. */
int mw_bind(struct rnic_qp *qp, const struct rdmap_wqe *w);

/** Invalidate its STag. */
void mw_unbind(struct rnic_mw *mw);

/** Unbind the windows of type 2 that are bound to @p qp. */
void mw_unbind_all(struct rnic_qp *qp);

#endif
