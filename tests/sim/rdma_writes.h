/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rdma_writes.h
 * A stream of Writes that keeps a pair busy: a's buffer in pieces, over and over, all of them
 * posted at any time.
 */
#ifndef SIM_RDMA_WRITES_H
#define SIM_RDMA_WRITES_H

#include "sim/rdma_pair.h"

#define RDMA_WRITES_PIECES 16

/**
 * Write for so many @p seconds, then wait for the rest and compare the buffers.
 * @param limit ns that a piece may take at most. @param[in,out] done pieces of each second are
 * added.
 * @return false: a piece failed or did not come within @p limit, or wrong bytes arrived.
 */
bool rdma_writes_run(struct rdma_pair *p, unsigned seconds, uint64_t limit, unsigned *done);

#endif
