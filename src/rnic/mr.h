/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mr.h Memory regions, and the checks that every access to one goes through. */
#ifndef RNIC_MR_H
#define RNIC_MR_H

#include "rnic/pd.h"

struct rnic_mr {
	LIST_ENTRY(rnic_mr) link;
	struct rnic_pd *pd;
	uint8_t *mem;
	uint64_t iova; /**< tagged offset of the first byte */
	uint64_t len;
	unsigned access; /**< RNIC_ACCESS_* */
	uint32_t stag;
	bool valid; /**< false once invalidated (RFC 5040 section 5.3) */
};

/**
 * The checks of RFC 5041 section 7.1 and RFC 5040 section 7.2, in their order: STag valid, of
 * this PD, rights, bounds. As rdmap_ops' stag_check(), with the rights the QP grants peers.
 * @param pd the QP's.
 * @param qp_access RNIC_ACCESS_REMOTE_* of the QP.
 */
int mr_check(const struct rnic *r, const struct rnic_pd *pd, unsigned qp_access, uint32_t stag,
	uint64_t to, uint32_t len, unsigned access, uint8_t **mem);

/**
 * Invalidate. A peer may do so only to memory that peers may reach at all (RFC 5040 section 5.3).
 * @return 0, -ENOENT, -EPERM, -EACCES.
 */
int mr_invalidate(struct rnic *r, const struct rnic_pd *pd, uint32_t stag, bool remote);

#endif
