/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/pd.h"

#include <errno.h>
#include <stdlib.h>

int rnic_pd_alloc(struct rnic *r, struct rnic_pd **out)
{
	struct rnic_pd *pd = calloc(1, sizeof *pd);
	int rc = 0;

	if (!pd)
		return -ENOMEM;
	pd->rnic = r;
	engine_lock(r->engine);
	if (r->pd_count < r->limits.max_pd) {
		r->pd_count++;
		LIST_INSERT_HEAD(&r->pds, pd, link);
	} else {
		rc = -ENOMEM;
	}
	engine_unlock(r->engine);
	if (rc)
		free(pd);
	else
		*out = pd;
	return rc;
}

int rnic_pd_dealloc(struct rnic_pd *pd)
{
	struct rnic *r = pd->rnic;
	bool busy;

	engine_lock(r->engine);
	busy = pd->users != 0;
	if (!busy) {
		r->pd_count--;
		LIST_REMOVE(pd, link);
	}
	engine_unlock(r->engine);
	if (busy)
		return -EBUSY;
	free(pd);
	return 0;
}
