/* SPDX-License-Identifier: BSD-2-Clause */
/* Domains, regions and windows. */
#include "manual_walk.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define RW (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static void walk_domains(void)
{
	struct ibv_td_init_attr td_attr = {0}, odd = {.comp_mask = 1};
	struct ibv_td *td = ibv_alloc_td(fx.context, &td_attr);
	struct ibv_parent_domain_init_attr a = {.td = td};
	struct ibv_pd *parent;

	INT("ibv_dealloc_pd", "with objects", ibv_dealloc_pd(w.pd), EBUSY);
	TRUE("ibv_alloc_pd", "its context", w.pd->context == fx.context);
	NIL("ibv_alloc_td", "unknown attribute", ibv_alloc_td(fx.context, &odd), EINVAL);
	NIL("ibv_alloc_parent_domain", "pd cannot be NULL", ibv_alloc_parent_domain(fx.context, &a),
		EINVAL);
	a.pd = w.foreign_pd;
	NIL("ibv_alloc_parent_domain", "pd of another context",
		ibv_alloc_parent_domain(fx.context, &a), EINVAL);
	a.pd = w.pd;
	a.comp_mask = 1 << 9;
	NIL("ibv_alloc_parent_domain", "unknown attribute", ibv_alloc_parent_domain(fx.context, &a),
		EINVAL);
	a.comp_mask = 0;
	parent = ibv_alloc_parent_domain(fx.context, &a);
	TRUE("ibv_alloc_parent_domain", "plain", parent != NULL);
	INT("ibv_dealloc_td", "in use", ibv_dealloc_td(td), EBUSY);
	INT("ibv_dealloc_pd", "of a parent domain", ibv_dealloc_pd(parent), 0);
	INT("ibv_dealloc_td", "plain", ibv_dealloc_td(td), 0);
}

static void walk_registration(void)
{
	uint8_t *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *b = w.buf;
	int fd = dup(0);

	NIL("ibv_reg_mr", "no length", ibv_reg_mr(w.pd, b, 0, RW), EINVAL);
	NIL("ibv_reg_mr", "the address wraps", ibv_reg_mr(w.pd, b, SIZE_MAX, 0), EINVAL);
	NIL("ibv_reg_mr", "remote write without local write",
		ibv_reg_mr(w.pd, b, 8, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	NIL("ibv_reg_mr", "remote atomics without local write",
		ibv_reg_mr(w.pd, b, 8, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	NIL("ibv_reg_mr", "unknown right", ibv_reg_mr(w.pd, b, 8, 1 << 12), EOPNOTSUPP);
	NIL("ibv_reg_mr", "memory that cannot be written", ibv_reg_mr(w.pd, p, 8, RW), EFAULT);
	munmap(p + 4096, 4096);
	NIL("ibv_reg_mr", "memory that is not there", ibv_reg_mr(w.pd, p, 8192, 0), EFAULT);
	NIL("ibv_reg_mr", "no memory", ibv_reg_mr(w.pd, NULL, 8, 0), EFAULT);
	NIL("ibv_reg_mr", "the whole address space, not on demand",
		ibv_reg_mr(w.pd, NULL, SIZE_MAX, 0), EFAULT);
	NIL("ibv_reg_mr", "hca_va wraps", ibv_reg_mr_iova(w.pd, b, 8, UINT64_MAX - 3, RW), EINVAL);
	NIL("ibv_reg_mr", "a dma-buf", ibv_reg_dmabuf_mr(w.pd, 0, 4096, 0, fd, RW), EOPNOTSUPP);
	close(fd);
	munmap(p, 4096);
}

static void walk_reregistration(void)
{
	struct ibv_mr *mr = ibv_reg_mr(w.pd, w.buf, 64, RW);
	const int bad = IBV_REREG_MR_ERR_INPUT;

	MINUS("ibv_rereg_mr", "nothing to change", ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), EINVAL);
	MINUS("ibv_rereg_mr", "unknown flag", ibv_rereg_mr(mr, 64, NULL, NULL, 0, 0), EINVAL);
	MINUS("ibv_rereg_mr", "no pd", ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0),
		EINVAL);
	MINUS("ibv_rereg_mr", "pd of another context",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, w.foreign_pd, NULL, 0, 0), EINVAL);
	MINUS("ibv_rereg_mr", "no length",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, w.buf, 0, 0), EINVAL);
	MINUS("ibv_rereg_mr", "no address",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 8, 0), EINVAL);
	MINUS("ibv_rereg_mr", "memory that is not there",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)4096, 8, 0),
		EFAULT);
	MINUS("ibv_rereg_mr", "access that is not to change",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, w.buf, 64, RW), EINVAL);
	INT("ibv_rereg_mr", "remote write without local write",
		ibv_rereg_mr(
			mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
		bad);
	INT("ibv_rereg_mr", "the old one is valid",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RW), 0);
	INT("ibv_dereg_mr", "plain", ibv_dereg_mr(mr), 0);
	mr = ibv_alloc_null_mr(w.pd);
	TRUE("ibv_alloc_null_mr", "its length is the largest", mr->length == SIZE_MAX);
	INT("ibv_alloc_null_mr", "rereg is invalid",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, w.buf, 8, 0), bad);
	INT("ibv_dereg_mr", "of the null region", ibv_dereg_mr(mr), 0);
}

static void walk_advice(void)
{
	const enum ibv_advise_mr_advice prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
	struct ibv_mr *mr = ibv_reg_mr(w.pd, w.buf, 64, IBV_ACCESS_ON_DEMAND);
	struct ibv_mw *mw = ibv_alloc_mw(w.pd, IBV_MW_TYPE_1);
	struct ibv_sge s = {.addr = (uintptr_t)w.buf, .length = 64, .lkey = mr->lkey};

	INT("ibv_advise_mr", "plain", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), 0);
	INT("ibv_advise_mr", "unknown advice",
		ibv_advise_mr(w.pd, (enum ibv_advise_mr_advice)77, 0, &s, 1), ENOTSUP);
	INT("ibv_advise_mr", "unknown flag", ibv_advise_mr(w.pd, prefetch, 4, &s, 1), EINVAL);
	INT("ibv_advise_mr", "another PD's", ibv_advise_mr(w.foreign_pd, prefetch, 0, &s, 1),
		EPERM);
	INT("ibv_advise_mr", "no right to write",
		ibv_advise_mr(w.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &s, 1), EPERM);
	s.length = 65;
	INT("ibv_advise_mr", "out of bounds", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), EFAULT);
	s.length = 1;
	s.addr--;
	INT("ibv_advise_mr", "before its begin", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), EFAULT);
	s.addr++;
	s.lkey ^= 0x10;
	INT("ibv_advise_mr", "a key that was", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), ENOENT);
	s.lkey = 0;
	INT("ibv_advise_mr", "no key", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), EFAULT);
	s.lkey = w.mr->lkey;
	INT("ibv_advise_mr", "not on demand", ibv_advise_mr(w.pd, prefetch, 0, &s, 1), EINVAL);
	INT("ibv_dealloc_mw", "never bound", ibv_dealloc_mw(mw), 0);
	INT("ibv_dereg_mr", "on demand", ibv_dereg_mr(mr), 0);
}

static void walk_windows(void)
{
	struct ibv_mw *one = ibv_alloc_mw(w.pd, IBV_MW_TYPE_1);
	struct ibv_mw *two = ibv_alloc_mw(w.pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind bind = {.bind_info = {.mr = w.mr,
					   .addr = (uintptr_t)w.buf,
					   .length = 8,
					   .mw_access_flags = IBV_ACCESS_REMOTE_READ}};

	NIL("ibv_alloc_mw", "no such type", ibv_alloc_mw(w.pd, (enum ibv_mw_type)3), EINVAL);
	INT("ibv_bind_mw", "of type 2", ibv_bind_mw(w.qp, two, &bind), EINVAL);
	bind.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
	INT("ibv_bind_mw", "no rights of a window", ibv_bind_mw(w.qp, one, &bind), EINVAL);
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	bind.bind_info.mr = NULL;
	INT("ibv_bind_mw", "no region", ibv_bind_mw(w.qp, one, &bind), EINVAL);
	bind.bind_info.mr = w.mr;
	INT("ibv_bind_mw", "in RESET", ibv_bind_mw(w.qp, one, &bind), EINVAL);
	INT("ibv_inc_rkey", "the lowest byte", ibv_inc_rkey(0x123456ff), 0x12345600);
	INT("ibv_dealloc_mw", "plain", ibv_dealloc_mw(one), 0);
	INT("ibv_dealloc_mw", "plain", ibv_dealloc_mw(two), 0);
}

void walk_memory(void **state)
{
	walk_domains();
	walk_registration();
	walk_reregistration();
	walk_advice();
	walk_windows();
}
