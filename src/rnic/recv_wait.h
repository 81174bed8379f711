/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file recv_wait.h
 * A message that finds no receive element, and waits for one in the LLP: RFC 5041 section 7.1 lets
 * a DDP implementation "try to recover from the system fault using LLP means in a ULP-transparent
 * way". Programs that were written for InfiniBand count on it: there a responder says "receiver not
 * ready" and is asked again. A QP that connects without a CM waits for as long as it takes, as with
 * InfiniBand's rnr_retry 7; one of the CM for rnic_config.rnr_timeout_ms, then comes the Terminate.
 * All is under the engine's lock, except posting.
 */
#ifndef RNIC_RECV_WAIT_H
#define RNIC_RECV_WAIT_H

#include "base/timer.h"

#include <stdbool.h>
#include <sys/queue.h>

struct rnic_qp;

struct recv_wait {
	bool held; /**< rdmap holds a message back */
	bool over; /**< in vain: the message is an error now, unless it finds an element */
	struct timer timer;
	LIST_ENTRY(rnic_qp) hungry_link; /**< in the SRQ's list, while the QP is told of posts */
};

void recv_wait_init(struct rnic_qp *qp);

/**
 * A message has found no receive element. Somebody posts meanwhile, or has: the QP's doorbell rings
 * when it may be there.
 * @return false: it must not wait, or has waited for long enough.
 */
bool recv_wait_begin(struct rnic_qp *qp);

/** The SRQ has elements again: posts need not wake this QP again until it has looked. */
void recv_wait_told(struct rnic_qp *qp);

/** The doorbell rang: if a message waits, look whether its element is there. */
void recv_wait_serve(struct rnic_qp *qp);

/** The connection is over, and nothing waits any more. */
void recv_wait_end(struct rnic_qp *qp);

#endif
