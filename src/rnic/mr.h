/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mr.h Memory regions, and the checks that every access to one goes through. */
#ifndef RNIC_MR_H
#define RNIC_MR_H

#include "rnic/pd.h"

struct rnic_qp;

/** What an STag stands for: a region, or the view of one that a window gives. */
struct rnic_mr {
	LIST_ENTRY(rnic_mr) link;
	struct rnic_pd *pd;
	uint8_t *mem;
	uint64_t iova; /**< tagged offset of the first byte */
	uint64_t len;
	unsigned access; /**< RNIC_ACCESS_* */
	uint32_t stag;
	uint32_t windows; /**< that are bound to it */
	bool valid;       /**< false once invalidated (RFC 5040 section 5.3) */
	/** What follows is of the view that a memory window gives: see mw.h. */
	bool window;
	const struct rnic_qp *only; /**< type 2: the only user; NULL: all of its PD */
	uint8_t *null;              /**< MR_NULL: zeros, then a place for what is written */
};

/** In rnic_mr.access: the null region. */
#define MR_NULL 0x100

/**
 * The checks of RFC 5041 section 7.1 and RFC 5040 section 7.2, in their order: STag valid, of
 * this stream, rights, bounds. As rdmap_ops' stag_check(), with the rights the QP grants peers.
 */
int mr_check(const struct rnic_qp *qp, uint32_t stag, uint64_t to, uint32_t len, unsigned access,
	uint8_t **mem);

/**
 * Invalidate a region, or a window of type 2. A peer may do so only to memory that peers may reach
 * at all (RFC 5040 section 5.3), and that no other stream could use (section 8.1.1 rule 7): a
 * window of type 2, or a region when its PD has no other QP.
 * @return 0; -ENOENT; -EPERM: not this stream's, or not its alone; -EACCES: out of peers' reach,
 *         or a window of type 1; -EBUSY: windows are bound to it.
 */
int mr_invalidate(const struct rnic_qp *qp, uint32_t stag, bool remote);

/** The rights are known, and remote write or atomic comes with local write (verbs). @return 0,
 * -EINVAL. */
int mr_access_verify(unsigned access);

#endif
