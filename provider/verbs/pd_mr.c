/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>

struct ibv_pd *pd_alloc(struct ibv_context *context)
{
	int rc = context_use(context);
	struct pd *pd;

	if (rc != 0)
		return fail_null(-rc);
	pd = calloc(1, sizeof *pd);
	rc = !pd ? -ENOMEM : rnic_pd_alloc(device_of(context)->rnic, &pd->rnic);
	if (rc != 0) {
		free(pd);
		return fail_null(-rc);
	}
	pd->ibv.context = context;
	context_add(context, &pd->object, OBJECT_OTHER);
	return &pd->ibv;
}

int pd_dealloc(struct ibv_pd *ibv)
{
	struct ibv_context *context = ibv->context;
	struct pd *pd = OBJECT_OF(pd, ibv);
	int rc = 0;

	if (atomic_load_explicit(&pd->users, memory_order_acquire) != 0)
		return fail_errno(-EBUSY);
	if (pd->base)
		parent_domain_leave(pd);
	else
		rc = rnic_pd_dealloc(pd->rnic);
	if (rc != 0)
		return fail_errno(rc);
	context_withdraw(context, &pd->object);
	free(pd);
	context_put(context);
	return 0;
}

/* ---- memory regions ------------------------------------------------------------------------ */

_Static_assert((int)IBV_ACCESS_LOCAL_WRITE == RNIC_ACCESS_LOCAL_WRITE &&
		       (int)IBV_ACCESS_REMOTE_WRITE == RNIC_ACCESS_REMOTE_WRITE &&
		       (int)IBV_ACCESS_REMOTE_READ == RNIC_ACCESS_REMOTE_READ &&
		       (int)IBV_ACCESS_REMOTE_ATOMIC == RNIC_ACCESS_REMOTE_ATOMIC &&
		       (int)IBV_ACCESS_MW_BIND == RNIC_ACCESS_MW_BIND &&
		       (int)IBV_ACCESS_ZERO_BASED == RNIC_ACCESS_ZERO_BASED &&
		       (int)IBV_ACCESS_ON_DEMAND == RNIC_ACCESS_ON_DEMAND,
	"access flags are passed through");

#define ACCESS_KNOWN                                                                    \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |    \
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
		IBV_ACCESS_ON_DEMAND)

/* Flags that ask for nothing here, or that may be ignored by definition. */
#define ACCESS_IGNORED (IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

static int pd_mr_translate_access(unsigned access, unsigned *out)
{
	if ((access & ~(unsigned)(ACCESS_KNOWN | ACCESS_IGNORED)) != 0)
		return -EOPNOTSUPP;
	*out = access & ACCESS_KNOWN;
	return 0;
}

/* What is registered on demand is looked at when it is used. */
static int pd_mr_look_at(void *addr, size_t length, unsigned rights)
{
	if ((rights & RNIC_ACCESS_ON_DEMAND) != 0)
		return 0;
	return memory_verify(addr, length, (rights & RNIC_ACCESS_LOCAL_WRITE) != 0);
}

/** Fill what programs see of @p mr. The RNIC's part is there. */
static struct ibv_mr *pd_mr_publish(struct mr *mr, struct ibv_pd *pd, void *addr, size_t length)
{
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	mr->ibv.lkey = mr->ibv.rkey = rnic_mr_stag(mr->rnic);
	pd_hold(pd);
	context_add(pd->context, &mr->object, OBJECT_MR);
	return &mr->ibv;
}

struct ibv_mr *mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	struct mr *mr;
	unsigned rights;
	int rc = context_is_closed(pd->context) ? -ENODEV : pd_mr_translate_access(access, &rights);

	if (rc == 0)
		rc = pd_mr_look_at(addr, length, rights);
	if (rc != 0)
		return fail_null(-rc);
	mr = calloc(1, sizeof *mr);
	if (!mr)
		return fail_null(ENOMEM);
	rc = rnic_mr_reg(OBJECT_OF(pd, pd)->rnic, addr, length, iova, rights, &mr->rnic);
	if (rc != 0) {
		free(mr);
		return fail_null(-rc);
	}
	mr->rights = rights;
	return pd_mr_publish(mr, pd, addr, length);
}

struct ibv_mr *mr_alloc_null(struct ibv_pd *pd)
{
	struct mr *mr;
	int rc;

	if (context_is_closed(pd->context))
		return fail_null(ENODEV);
	mr = calloc(1, sizeof *mr);
	rc = !mr ? -ENOMEM : rnic_mr_alloc_null(OBJECT_OF(pd, pd)->rnic, &mr->rnic);
	if (rc != 0) {
		free(mr);
		return fail_null(-rc);
	}
	mr->null = true;
	pd_mr_publish(mr, pd, NULL, SIZE_MAX);
	mr->ibv.rkey = 0; /* ibv_alloc_null_mr(3): only the lkey is valid */
	return &mr->ibv;
}

_Static_assert((int)IBV_REREG_MR_CHANGE_TRANSLATION == RNIC_REREG_TRANSLATION &&
		       (int)IBV_REREG_MR_CHANGE_PD == RNIC_REREG_PD &&
		       (int)IBV_REREG_MR_CHANGE_ACCESS == RNIC_REREG_ACCESS,
	"rereg flags are passed through");

/** As libibverbs and the kernel: what is told must be of use. */
static bool pd_mr_rereg_ok(const struct mr *mr, int flags, const struct ibv_pd *pd,
	const void *addr, size_t length, int access)
{
	if (mr->null || flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0)
		return false;
	if ((flags & IBV_REREG_MR_CHANGE_PD) != 0 && (!pd || pd->context != mr->ibv.context))
		return false;
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (!addr || length == 0))
		return false;
	return access == 0 || (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
}

int mr_rereg(
	struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct mr *mr = OBJECT_OF(mr, ibv);
	struct rnic_pd *new_pd = NULL;
	unsigned rights = mr->rights;
	int rc = 0;

	if (context_is_closed(ibv->context)) {
		errno = ENODEV;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (!pd_mr_rereg_ok(mr, flags, pd, addr, length, access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if ((flags & IBV_REREG_MR_CHANGE_PD) != 0)
		new_pd = OBJECT_OF(pd, pd)->rnic;
	if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
		rc = pd_mr_translate_access((unsigned)access, &rights);
	/* A right to write that is new looks at the memory again, too. */
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) == 0) {
		addr = ibv->addr;
		length = ibv->length;
	}
	if (rc == 0 && flags != IBV_REREG_MR_CHANGE_PD)
		rc = pd_mr_look_at(addr, length, rights);
	if (rc == 0)
		rc = rnic_mr_rereg(mr->rnic, (unsigned)flags, new_pd, addr, length, rights);
	if (rc != 0) {
		errno = -rc;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
		pd_hold(pd);
		pd_put(ibv->pd);
		ibv->pd = pd;
	}
	ibv->addr = addr;
	ibv->length = length;
	mr->rights = rights;
	ibv->lkey = ibv->rkey = rnic_mr_stag(mr->rnic);
	return 0;
}

int mr_dereg(struct ibv_mr *ibv)
{
	struct ibv_context *context = ibv->context;
	struct mr *mr = OBJECT_OF(mr, ibv);
	int rc;

	context_withdraw(context, &mr->object);
	rc = rnic_mr_dereg(mr->rnic);
	if (rc != 0) {
		context_restore(context, &mr->object);
		return fail_errno(rc);
	}
	pd_put(ibv->pd);
	free(mr);
	context_put(context);
	return 0;
}

/* ---- advice ---------------------------------------------------------------------------------- */

/* ibv_advise_mr(3), RETURN VALUE. */
static int pd_mr_advise_one(struct ibv_pd *pd, const struct ibv_sge *sge, bool fault, bool write)
{
	uint8_t *mem;
	int rc = rnic_mr_locate(
		OBJECT_OF(pd, pd)->rnic, sge->lkey, sge->addr, sge->length, write, &mem);

	if (rc != 0)
		return -rc;
	return !fault || sge->length == 0 || memory_page_in(mem, sge->length, write) ? 0 : EFAULT;
}

int mr_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	struct ibv_sge *sg_list, uint32_t num_sge)
{
	const bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const bool fault = advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;

	if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return ENOTSUP;
	if ((flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH) != 0 || num_sge == 0)
		return EINVAL;
	for (uint32_t i = 0; i < num_sge; i++) {
		int rc = pd_mr_advise_one(pd, &sg_list[i], fault, write);

		if (rc != 0)
			return rc;
	}
	return 0;
}
