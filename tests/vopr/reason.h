/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reason.h Why a stream may end, and the event that tells: without a reason, none does. */
#ifndef TESTS_VOPR_REASON_H
#define TESTS_VOPR_REASON_H

#include "vopr/model.h"

/**
 * One reason more, of MODEL_BY_*. That of request @p w is over when something behind it has
 * arrived: what was feared did not happen. The others (@p w is NULL) stay.
 */
void reason_add(struct model_qp *qp, unsigned reason, const struct model_wr *w);
/** The reason why it fails if the memory of @p w must not be used. */
unsigned reason_own_memory(const struct model_wr *w);
/** For both ends, and to stay. */
void reason_add_both(struct model_qp *qp, unsigned reason);

/** Request number @p seq has arrived at the peer, or is answered. */
void reason_clear(struct model_qp *qp, uint64_t seq, bool answered);

/** MODEL_BY_* of both ends. */
unsigned reason_all(const struct model_qp *qp);
/** Is there a receive at either end whose memory is gone? */
bool reason_is_spoiled(const struct model_qp *qp);
bool reason_may_end(const struct model_qp *qp);
/** Its peer, of a pair without rdma_cm, may have ended, or be out of reach. */
bool reason_peer_may_leave(const struct model_qp *qp);
/** There is one alone. */
bool reason_is_only_one(const struct model_qp *qp);
/** It has ended. If the only reason for it is known, so is the event that must have told of it. */
void reason_check_event(const struct model_qp *qp);

#endif
