/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file recv_wait.h
 * Lets a message without a receive element wait in the LLP. RFC 5041 section 7.1 allows an
 * implementation to "try to recover from the system fault using LLP means in a ULP-transparent
 * way". Programs for InfiniBand rely on it: there the receiver answers "receiver not ready" and the
 * sender tries again.
 *
 * A QP that connects without a CM waits for ever, as with InfiniBand's rnr_retry 7. A QP of the CM
 * waits for rnic_config.rnr_timeout_ms and then sends a Terminate. All but posting is under the
 * engine's lock.
 */
#ifndef RNIC_RECV_WAIT_H
#define RNIC_RECV_WAIT_H

#include "base/timer.h"

#include <stdbool.h>
#include <sys/queue.h>

struct rnic_qp;

struct recv_wait {
	bool held; /**< a message waits */
	bool over; /**< the time is over: without an element the message is an error now */
	struct timer timer;
	LIST_ENTRY(rnic_qp) hungry_link; /**< in the SRQ's list, while posts wake this QP */
};

void recv_wait_init(struct rnic_qp *qp);

/**
 * A message has found no receive element. If one is posted, or was posted meanwhile, the QP's
 * doorbell rings.
 * @return false: the message may not wait, or has waited long enough.
 */
bool recv_wait_begin(struct rnic_qp *qp);

/** The SRQ has elements again. Posts do not wake this QP until it waits again. */
void recv_wait_told(struct rnic_qp *qp);

/** The doorbell rang. If a message waits, try again to take an element for it. */
void recv_wait_serve(struct rnic_qp *qp);

/** The connection is over: no message waits any more. */
void recv_wait_end(struct rnic_qp *qp);

#endif
