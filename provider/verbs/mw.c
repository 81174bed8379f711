/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. Binding one is a work request: post.c, wr_api.c. */
#include "provider/verbs/objects.h"

#include <stdlib.h>

struct ibv_mw *mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct mw *mw;
	int rc;

	if (context_is_closed(pd->context))
		return fail_null(ENODEV);
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return fail_null(EINVAL);
	mw = calloc(1, sizeof *mw);
	if (!mw)
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
	context_add(pd->context, &mw->object, OBJECT_MW);
	return &mw->ibv;
}

int mw_dealloc(struct ibv_mw *ibv)
{
	struct ibv_context *context = ibv->context;
	struct mw *mw = OBJECT_OF(mw, ibv);

	/* Programs come here by our table, not by a name, where the preloaded library stands. */
	if (device_of(context)->host->is_leaving())
		return 0;
	context_withdraw(context, &mw->object);
	rnic_mw_dealloc(mw->rnic);
	pd_put(ibv->pd);
	free(mw);
	context_put(context);
	return 0;
}
