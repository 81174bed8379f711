/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file buf.h
 * Buffers of ibv_alloc_buf(3), of rdma-core 64 and later. They are ordinary memory on pages of
 * their own, because no hardware uses them.
 */
#ifndef PROVIDER_SHIM_BUF_H
#define PROVIDER_SHIM_BUF_H

#include "provider/shim/newer.h"

/**
 * True if @p buf was allocated for a protection domain of our device. @p buf may be any pointer.
 */
bool buf_is_ours(const struct ibv_buf *buf);

/**
 * Check that [addr, addr + length) may be registered in @p pd as memory of @p buf.
 * @return 0 or EINVAL: not a buffer of ours, of another protection domain, or out of bounds.
 */
int buf_verify(const struct ibv_buf *buf, const struct ibv_pd *pd, const void *addr, size_t length);

/** Reset the lock in a child after fork(): a thread of the parent may have held it. */
void buf_forget_locks(void);

#endif
