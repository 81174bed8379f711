/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways to register memory. */
#include "provider/shim/buf.h"
#include "provider/shim/forward.h"
#include "provider/shim/newer.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static struct ibv_mr *shim_mr_register(
	struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	if (!shim_is_orphan())
		return FORWARD_CALL(struct ibv_mr *, reg_mr, (pd, addr, length, iova, access));
	forward_gone();
	return NULL;
}

static struct ibv_mr *shim_mr_refuse(int error)
{
	errno = error;
	return NULL;
}

SHIM_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	__typeof__(&ibv_reg_mr) real;

	if (forward_owns(pd->context))
		return shim_mr_register(pd, addr, length, (uintptr_t)addr, (unsigned)access);
	real = REAL(ibv_reg_mr);
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, addr, length, access);
}

SHIM_EXPORT struct ibv_mr *ibv_reg_mr_iova(
	struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	__typeof__(&ibv_reg_mr_iova) real;

	if (forward_owns(pd->context))
		return shim_mr_register(pd, addr, length, iova, (unsigned)access);
	real = REAL(ibv_reg_mr_iova);
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, addr, length, iova, access);
}

SHIM_EXPORT struct ibv_mr *ibv_reg_mr_iova2(
	struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	__typeof__(&ibv_reg_mr_iova2) real;

	if (forward_owns(pd->context))
		return shim_mr_register(pd, addr, length, iova, access);
	real = REAL(ibv_reg_mr_iova2);
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, addr, length, iova, access);
}

SHIM_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(
	struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	__typeof__(&ibv_reg_dmabuf_mr) real;

	if (forward_owns(pd->context))
		return shim_mr_refuse(EOPNOTSUPP);
	real = REAL(ibv_reg_dmabuf_mr);
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, offset, length, iova, fd, access);
}

SHIM_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	__typeof__(&ibv_import_mr) real;

	if (forward_owns(pd->context))
		return shim_mr_refuse(EOPNOTSUPP);
	real = REAL(ibv_import_mr);
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, mr_handle);
}

/* ---- one for all of them ------------------------------------------------------------------- */

/* A comp_mask that no kind of registration has, or a range that is not of its buffer. */
static int shim_mr_verify(struct ibv_pd *pd, const struct newer_mr_init_attr *a)
{
	const uint64_t fd = NEWER_MR_FD | NEWER_MR_FD_OFFSET;
	const uint64_t known = NEWER_MR_IOVA | NEWER_MR_ADDR | NEWER_MR_BUF | fd;
	uint64_t mask = a->comp_mask;

	if ((mask & ~known) != 0)
		return EOPNOTSUPP;
	if ((mask & NEWER_MR_ADDR) != 0) {
		if ((mask & fd) != 0)
			return EINVAL;
		return (mask & NEWER_MR_BUF) == 0 ? 0 : buf_verify(a->buf, pd, a->addr, a->length);
	}
	/* A dma-buf wants all of its members: see ibv_reg_dmabuf_mr(3). */
	return mask == (fd | NEWER_MR_IOVA) ? EOPNOTSUPP : EINVAL;
}

static struct ibv_mr *shim_mr_register_ex(struct ibv_pd *pd, const struct newer_mr_init_attr *a)
{
	int error = shim_mr_verify(pd, a);

	if (error != 0)
		return shim_mr_refuse(error);
	return shim_mr_register(pd, a->addr, a->length,
		(a->comp_mask & NEWER_MR_IOVA) != 0 ? a->iova : (uintptr_t)a->addr,
		(unsigned)a->access);
}

struct ibv_mr *shim_reg_mr_ex(struct ibv_pd *pd, struct newer_mr_init_attr *attr)
{
	__typeof__(&shim_reg_mr_ex) real;

	if (forward_owns(pd->context))
		return shim_mr_register_ex(pd, attr);
	if ((attr->comp_mask & NEWER_MR_BUF) != 0 && buf_is_ours(attr->buf))
		return shim_mr_refuse(EINVAL);
	real = REAL_AS(shim_reg_mr_ex, "ibv_reg_mr_ex");
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, attr);
}

struct ibv_mr *shim_reg_buf_mr(
	struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access)
{
	struct newer_mr_init_attr attr = {.length = length,
		.access = access,
		.comp_mask = NEWER_MR_ADDR | NEWER_MR_BUF,
		.addr = addr,
		.buf = buf};
	__typeof__(&shim_reg_buf_mr) real;

	if (forward_owns(pd->context))
		return shim_mr_register_ex(pd, &attr);
	if (buf_is_ours(buf))
		return shim_mr_refuse(EINVAL);
	real = REAL_AS(shim_reg_buf_mr, "ibv_reg_buf_mr");
	return !real ? shim_mr_refuse(ENOSYS) : real(pd, buf, addr, length, access);
}
