/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

struct ibv_pd *pd_alloc(struct ibv_context *context)
{
	struct pd *pd = calloc(1, sizeof *pd);
	int rc = pd == NULL ? -ENOMEM : rnic_pd_alloc(device_of(context)->rnic, &pd->rnic);

	if (rc != 0) {
		free(pd);
		return fail_null(-rc);
	}
	pd->ibv.context = context;
	context_hold(context);
	return &pd->ibv;
}

int pd_dealloc(struct ibv_pd *ibv)
{
	struct pd *pd = OBJECT_OF(pd, ibv);
	int rc = rnic_pd_dealloc(pd->rnic);

	if (rc != 0)
		return fail_errno(rc);
	context_put(ibv->context);
	free(pd);
	return 0;
}

/* ---- memory regions ------------------------------------------------------------------------ */

_Static_assert((int)IBV_ACCESS_LOCAL_WRITE == RNIC_ACCESS_LOCAL_WRITE &&
		       (int)IBV_ACCESS_REMOTE_WRITE == RNIC_ACCESS_REMOTE_WRITE &&
		       (int)IBV_ACCESS_REMOTE_READ == RNIC_ACCESS_REMOTE_READ &&
		       (int)IBV_ACCESS_REMOTE_ATOMIC == RNIC_ACCESS_REMOTE_ATOMIC &&
		       (int)IBV_ACCESS_MW_BIND == RNIC_ACCESS_MW_BIND &&
		       (int)IBV_ACCESS_ZERO_BASED == RNIC_ACCESS_ZERO_BASED,
	"access flags are passed through");

#define ACCESS_KNOWN                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED)

/* Flags that ask for nothing here, or that may be ignored by definition. */
#define ACCESS_IGNORED (IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

static int translate_access(unsigned access, unsigned *out)
{
	if ((access & ~(unsigned)(ACCESS_KNOWN | ACCESS_IGNORED)) != 0)
		return -EOPNOTSUPP;
	*out = access & ACCESS_KNOWN;
	return 0;
}

/* The kernel (5.14) populates on request: it does so with our own stack. */
static bool can_populate(size_t page)
{
	const uintptr_t here = (uintptr_t)&page & ~(page - 1);

	return madvise((void *)here, page, MADV_POPULATE_READ) == 0;
}

/* True when every page of the range is mapped. */
static bool is_mapped(uintptr_t first, size_t len, size_t page)
{
	unsigned char in_core[1024];
	size_t step = sizeof in_core * page;

	for (size_t done = 0; done < len; done += step) {
		size_t n = len - done < step ? len - done : step;

		if (mincore((void *)(first + done), n, in_core) != 0)
			return false;
	}
	return true;
}

/*
 * What pinning does on a kernel device: a range that is not there, or not writable, is refused now,
 * rather than killing the program when a peer's data arrives; and the pages are there.
 */
static int touch(void *addr, size_t len, bool write)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)addr & ~(page - 1);
	size_t span;

	if (len == 0)
		return 0;
	if ((uintptr_t)addr + (len - 1) < (uintptr_t)addr)
		return -EINVAL;
	span = (uintptr_t)addr - first;
	if (len > SIZE_MAX - span - page)
		return -EFAULT;
	span = (span + len + page - 1) & ~(page - 1);
	if (madvise((void *)first, span, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
		return 0;
	/* An older kernel: that it is there is all one can know. */
	if (errno == EINVAL && !can_populate(page))
		return is_mapped(first, span, page) ? 0 : -EFAULT;
	/* EINVAL: no right to it, or memory of a device, which the kernel does not pin either. */
	return errno == EAGAIN ? -EAGAIN : -EFAULT;
}

struct ibv_mr *mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	struct mr *mr;
	unsigned rights;
	int rc = translate_access(access, &rights);

	if (rc == 0)
		rc = touch(addr, length, (rights & RNIC_ACCESS_LOCAL_WRITE) != 0);
	if (rc != 0)
		return fail_null(-rc);
	mr = calloc(1, sizeof *mr);
	if (mr == NULL)
		return fail_null(ENOMEM);
	rc = rnic_mr_reg(OBJECT_OF(pd, pd)->rnic, addr, length, iova, rights, &mr->rnic);
	if (rc != 0) {
		free(mr);
		return fail_null(-rc);
	}
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	mr->ibv.lkey = mr->ibv.rkey = rnic_mr_stag(mr->rnic);
	mr->rights = rights;
	context_hold(pd->context);
	return &mr->ibv;
}

_Static_assert((int)IBV_REREG_MR_CHANGE_TRANSLATION == RNIC_REREG_TRANSLATION &&
		       (int)IBV_REREG_MR_CHANGE_PD == RNIC_REREG_PD &&
		       (int)IBV_REREG_MR_CHANGE_ACCESS == RNIC_REREG_ACCESS,
	"rereg flags are passed through");

int mr_rereg(
	struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct mr *mr = OBJECT_OF(mr, ibv);
	struct rnic_pd *new_pd = NULL;
	unsigned rights = mr->rights;
	int rc = 0;

	if (flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0)
		goto bad_input;
	if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
		if (pd == NULL || pd->context != ibv->context)
			goto bad_input;
		new_pd = OBJECT_OF(pd, pd)->rnic;
	}
	if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
		rc = translate_access((unsigned)access, &rights);
	/* A right to write that is new looks at the memory again, too. */
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) == 0) {
		addr = ibv->addr;
		length = ibv->length;
	}
	if (rc == 0 && flags != IBV_REREG_MR_CHANGE_PD)
		rc = touch(addr, length, (rights & RNIC_ACCESS_LOCAL_WRITE) != 0);
	if (rc == 0)
		rc = rnic_mr_rereg(mr->rnic, (unsigned)flags, new_pd, addr, length, rights);
	if (rc != 0) {
		errno = -rc;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if ((flags & IBV_REREG_MR_CHANGE_PD) != 0)
		ibv->pd = pd;
	ibv->addr = addr;
	ibv->length = length;
	mr->rights = rights;
	ibv->lkey = ibv->rkey = rnic_mr_stag(mr->rnic);
	return 0;

bad_input:
	errno = EINVAL;
	return IBV_REREG_MR_ERR_INPUT;
}

int mr_dereg(struct ibv_mr *ibv)
{
	struct mr *mr = OBJECT_OF(mr, ibv);
	int rc = rnic_mr_dereg(mr->rnic);

	if (rc != 0)
		return fail_errno(rc);
	context_put(ibv->context);
	free(mr);
	return 0;
}
