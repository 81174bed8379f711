/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wqe.h
 * Translates verbs' work requests to the RNIC's elements. Shared by ibv_post_send(), ibv_wr_*(),
 * ibv_post_recv() and ibv_post_srq_recv().
 */
#ifndef PROVIDER_VERBS_WQE_H
#define PROVIDER_VERBS_WQE_H

#include "base/guarded.h"
#include "rdmap/rdmap_wire.h"
#include "rnic/rnic.h"

#include <infiniband/verbs.h>
#include <string.h>

_Static_assert((int)IBV_SEND_FENCE == 1 && (int)IBV_SEND_SIGNALED == 2 &&
		       (int)IBV_SEND_SOLICITED == 4 && (int)IBV_SEND_INLINE == 8 &&
		       RDMAP_WR_SIGNALED == 1 && RDMAP_WR_FENCE == 2 && RDMAP_WR_SOLICITED == 4 &&
		       RDMAP_WR_INLINE == 8,
	"wqe_flags() maps one to the other");

_Static_assert(sizeof(struct rdmap_sge) == sizeof(struct ibv_sge) &&
		       offsetof(struct rdmap_sge, addr) == offsetof(struct ibv_sge, addr) &&
		       offsetof(struct rdmap_sge, len) == offsetof(struct ibv_sge, length) &&
		       offsetof(struct rdmap_sge, stag) == offsetof(struct ibv_sge, lkey),
	"scatter/gather elements are copied as they are");

/** IBV_SEND_* to RDMAP_WR_*: fence and signaled are exchanged. */
static inline uint8_t wqe_flags(unsigned send_flags)
{
	static const uint8_t map[16] = {
		0x0, 0x2, 0x1, 0x3, 0x4, 0x6, 0x5, 0x7, 0x8, 0xa, 0x9, 0xb, 0xc, 0xe, 0xd, 0xf};

	return map[send_flags & 0xf];
}

static inline bool wqe_is_atomic(enum rdmap_wr_op op)
{
	return op == RDMAP_WR_FETCH_ADD || op == RDMAP_WR_CMP_SWAP;
}

/** True of operations that fetch data. They cannot be inline, and have one sge. */
static inline bool wqe_fetches(enum rdmap_wr_op op)
{
	return op == RDMAP_WR_READ || wqe_is_atomic(op);
}

/**
 * True if a list of @p num elements with @p length bytes in all is valid for @p op. A Read Request
 * has one sink (RFC 5040 section 4.4). An Atomic fetches 8 bytes into at least as much room.
 */
static inline bool wqe_list_ok(enum rdmap_wr_op op, size_t num, uint64_t length)
{
	if (length > INT32_MAX || (wqe_fetches(op) && num > 1))
		return false;
	return !wqe_is_atomic(op) || (num == 1 && length >= RDMAP_ATOMIC_LEN);
}

/** The length of an operation with a list of @p length bytes. */
static inline uint32_t wqe_length(enum rdmap_wr_op op, uint64_t length)
{
	return wqe_is_atomic(op) ? RDMAP_ATOMIC_LEN : (uint32_t)length;
}

/**
 * Add the lengths of @p n elements. @p n may have been cast from a negative number.
 * @return false: @p n is more than the queue's @p max; no element was read.
 */
static inline bool sge_lengths(const struct ibv_sge *sg, size_t n, uint32_t max, uint64_t *sum)
{
	if (n > max)
		return false;
	*sum = 0;
	for (size_t i = 0; i < n; i++)
		*sum += sg[i].length;
	return true;
}

static inline void sge_copy(struct rdmap_sge *to, const struct ibv_sge *sg, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct rdmap_sge){
			.addr = sg[i].addr, .len = sg[i].length, .stag = sg[i].lkey};
}

/**
 * Append to inline data. @return its new end; NULL: the program's memory is gone. Without bytes @p
 * from may be invalid.
 */
static inline uint8_t *wqe_append(uint8_t *to, const void *from, size_t length)
{
	return guarded_copy_from(to, from, length) ? to + length : NULL;
}

/** Rights that a memory window can have. */
#define WQE_BIND_ACCESS                                                                \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
		IBV_ACCESS_ZERO_BASED)

/** Flags that do not apply to a window, which is for peers. Other providers ignore them, too. */
#define WQE_BIND_IGNORED IBV_ACCESS_LOCAL_WRITE

/** Checks of a bind at posting. Other errors complete with an error status. */
static inline bool wqe_bind_ok(const struct ibv_mw *mw, enum ibv_mw_type type, uint32_t rkey,
	const struct ibv_mw_bind_info *info)
{
	return mw->type == type && (rkey ^ mw->rkey) >> 8 == 0 &&
	       (info->mw_access_flags & ~(unsigned)(WQE_BIND_ACCESS | WQE_BIND_IGNORED)) == 0 &&
	       (info->mr || info->length == 0);
}

static inline void wqe_bind(struct rdmap_wqe *w, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	w->remote_stag = rkey;
	w->inv_stag = info->mr ? info->mr->lkey : 0;
	w->local_arg[0] = info->addr;
	w->local_arg[1] = info->length;
	w->local_arg[2] = info->mw_access_flags & WQE_BIND_ACCESS;
}

/** Plain FetchAdd: a sum of 64 bits (RFC 7306 section 5.1.1: a mask of zero). */
static inline struct rdmap_atomic wqe_fetch_add(uint64_t add)
{
	return (struct rdmap_atomic){.data = add};
}

/** Plain CmpSwap: all bits are compared, all are swapped. */
static inline struct rdmap_atomic wqe_cmp_swap(uint64_t compare, uint64_t swap)
{
	return (struct rdmap_atomic){
		.data = swap, .mask = UINT64_MAX, .compare = compare, .compare_mask = UINT64_MAX};
}

#endif
