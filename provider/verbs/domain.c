/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread domains, and the parent domains that bring them to objects. They only count their users: a
 * queue's lock is a spinlock, which has no contention with one thread, so there is nothing to save.
 */
#include "provider/verbs/objects.h"

#include <stdlib.h>

struct ibv_td *td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int rc = context_use(context);
	struct td *td;

	if (rc != 0)
		return fail_null(-rc);
	if (attr->comp_mask != 0)
		return fail_null(EINVAL);
	td = calloc(1, sizeof *td);
	if (!td)
		return fail_null(ENOMEM);
	td->ibv.context = context;
	context_add(context, &td->object, OBJECT_OTHER);
	return &td->ibv;
}

int td_dealloc(struct ibv_td *ibv)
{
	struct ibv_context *context = ibv->context;
	struct td *td = OBJECT_OF(td, ibv);

	if (atomic_load_explicit(&td->users, memory_order_acquire) != 0)
		return fail_errno(-EBUSY);
	context_withdraw(context, &td->object);
	free(td);
	context_put(context);
	return 0;
}

/*
 * IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC of rdma-core 65 allows memory that a
 * device outside of a confidential guest can reach. Only this process reaches ours.
 */
#define PARENT_ALLOW_UNPROTECTED (1 << 2)

static int parent_verify(
	const struct ibv_context *context, const struct ibv_parent_domain_init_attr *a)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT | PARENT_ALLOW_UNPROTECTED;

	if (!a->pd || a->pd->context != context || (a->td && a->td->context != context) ||
		(a->comp_mask & ~known) != 0)
		return -EINVAL;
	/* The rings are the RNIC's own. A program that gives no such functions is well served. */
	return (a->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0 ? -EOPNOTSUPP : 0;
}

struct ibv_pd *parent_domain_alloc(
	struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	int rc = context_is_closed(context) ? -ENODEV : parent_verify(context, attr);
	struct pd *pd;

	if (rc != 0)
		return fail_null(-rc);
	pd = calloc(1, sizeof *pd);
	if (!pd)
		return fail_null(ENOMEM);
	pd->ibv.context = context;
	pd->rnic = OBJECT_OF(pd, attr->pd)->rnic;
	pd->base = OBJECT_OF(pd, attr->pd);
	pd->td = !attr->td ? NULL : OBJECT_OF(td, attr->td);
	pd_hold(&pd->base->ibv);
	if (pd->td)
		atomic_fetch_add_explicit(&pd->td->users, 1, memory_order_relaxed);
	context_add(context, &pd->object, OBJECT_OTHER);
	return &pd->ibv;
}

void parent_domain_leave(struct pd *pd)
{
	if (pd->td)
		atomic_fetch_sub_explicit(&pd->td->users, 1, memory_order_release);
	pd_put(&pd->base->ibv);
}
