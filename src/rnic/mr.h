/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mr.h Memory regions, and the checks of every access to them. */
#ifndef RNIC_MR_H
#define RNIC_MR_H

#include "rnic/pd.h"

struct rnic_qp;

/** The object of an STag: a region, or a memory window's view of a region. */
struct rnic_mr {
	LIST_ENTRY(rnic_mr) link;
	struct rnic_pd *pd;
	uint8_t *mem;
	uint64_t iova; /**< tagged offset of the first byte */
	uint64_t len;
	unsigned access; /**< RNIC_ACCESS_* */
	uint32_t stag;
	uint32_t windows; /**< windows that are bound to it */
	bool valid;       /**< false once invalidated (RFC 5040 section 5.3) */
	/** It is a memory window's view; see mw.h. */
	bool window;
	/** Window of type 2: the only QP that may use it; NULL: all of its PD */
	const struct rnic_qp *only;
	struct llp_memory *memory; /**< what the LLP may send from; NULL: it gets copies */
	uint8_t *null;             /**< MR_NULL: zeros to read, then memory for writes */
};

/** In rnic_mr.access: the null region. */
#define MR_NULL 0x100

/**
 * The checks of RFC 5041 section 7.1 and RFC 5040 section 7.2, in their order: STag valid, of this
 * stream, rights, bounds. As stag_check() of rdmap_ops. It also checks the rights that the QP
 * grants its peer.
 */
int mr_check(const struct rnic_qp *qp, uint32_t stag, uint64_t to, uint32_t len, unsigned access,
	uint8_t **mem);

/** What the LLP knows the memory of @p stag by, or NULL. As stag_memory() of rdmap_ops. */
struct llp_memory *mr_memory(const struct rnic_qp *qp, uint32_t stag);

/** The LLP sends nothing any more from the memory of @p mr. Under the engine's lock. */
void mr_withdraw(struct rnic_mr *mr);

/**
 * Invalidate a region, or a window of type 2. A peer may do so only if peers have access to the
 * memory (RFC 5040 section 5.3), and no other stream could use it (section 8.1.1 rule 7): a window
 * of type 2, or a region if its PD has no other QP.
 * @return 0; -ENOENT; -EPERM: another stream could use it; -EACCES: no access for peers, or a
 *         window of type 1; -EBUSY: windows are bound to it.
 */
int mr_invalidate(const struct rnic_qp *qp, uint32_t stag, bool remote);

/**
 * Check rights: all are known, and remote write or atomic needs local write (verbs). @return 0,
 * -EINVAL.
 */
int mr_access_verify(unsigned access);

#endif
