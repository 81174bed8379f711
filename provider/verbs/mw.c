/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. Binding one is a work request: post.c, wr_api.c. */
#include "provider/verbs/objects.h"

#include <stdlib.h>

struct ibv_mw *mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct mw *mw;
	int rc;

	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return fail_null(EINVAL);
	mw = calloc(1, sizeof *mw);
	if (mw == NULL)
		return fail_null(ENOMEM);
	rc = rnic_mw_alloc(OBJECT_OF(pd, pd)->rnic,
		type == IBV_MW_TYPE_1 ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2, &mw->rnic);
	if (rc != 0) {
		free(mw);
		return fail_null(-rc);
	}
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	mw->ibv.rkey = rnic_mw_stag(mw->rnic);
	pd_hold(pd);
	return &mw->ibv;
}

int mw_dealloc(struct ibv_mw *ibv)
{
	struct mw *mw = OBJECT_OF(mw, ibv);
	int rc = rnic_mw_dealloc(mw->rnic);

	if (rc != 0)
		return fail_errno(rc);
	pd_put(ibv->pd);
	free(mw);
	return 0;
}
