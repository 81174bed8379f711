/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file buf.h
 * Buffers of ibv_alloc_buf(3), of rdma-core 64 and later: ordinary memory on pages of its own, as
 * no device but this process touches it.
 */
#ifndef PROVIDER_SHIM_BUF_H
#define PROVIDER_SHIM_BUF_H

#include "provider/shim/newer.h"

/** Was @p buf allocated for a protection domain of our device? Any pointer may be asked about. */
bool buf_is_ours(const struct ibv_buf *buf);

/**
 * May [addr, addr + length) be registered in @p pd as memory of @p buf?
 * @return 0 or EINVAL: not a buffer of ours, of another protection domain, or not within it.
 */
int buf_verify(const struct ibv_buf *buf, const struct ibv_pd *pd, const void *addr, size_t length);

/** In a child after fork(): a thread of the parent may have held the lock. */
void buf_forget_locks(void);

#endif
