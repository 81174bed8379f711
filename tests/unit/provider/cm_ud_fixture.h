/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cm_ud_fixture.h
 * For tests of rdma_cm's RDMA_PS_UDP: an id with a UD queue pair, and a message to and from it.
 */
#ifndef TESTS_UNIT_PROVIDER_CM_UD_FIXTURE_H
#define TESTS_UNIT_PROVIDER_CM_UD_FIXTURE_H

#include "cm_fixture.h"

#define CM_UD_QKEY 0x01234567 /**< RDMA_UDP_QKEY, the Q_Key of all such queue pairs */
#define CM_UD_GRH  40         /**< what is in front of a message that was received */

/** A queue pair with memory, in which a receive of all is posted. */
struct cm_ud_end {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t buf[256];
};

/** An asynchronous id of RDMA_PS_UDP on cm_channel. */
struct rdma_cm_id *cm_ud_id(void);
/** @param id has its device; cm_ud_close() destroys it. */
void cm_ud_open(struct cm_ud_end *e, struct rdma_cm_id *id);
void cm_ud_close(struct cm_ud_end *e);

/** Post "hello", signalled. */
void cm_ud_hello(struct cm_ud_end *e, struct ibv_ah *ah, uint32_t qp);
/** Wait for the next completion, which must be a success. */
struct ibv_wc cm_ud_completion(struct cm_ud_end *e);
/** Wait for the "hello" of @p from. */
void cm_ud_expect_hello(struct cm_ud_end *e, const struct cm_ud_end *from);

#endif
