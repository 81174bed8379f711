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
#include <stdint.h>
#include <sys/queue.h>

struct rnic_qp;
struct rnic_srq;

struct recv_wait {
	bool held; /**< a message waits */
	bool over; /**< the time is over: without an element the message is an error now */
	bool told; /**< it is this QP's turn at the SRQ's elements; its doorbell rings */
	struct timer timer;
	TAILQ_ENTRY(rnic_qp) hungry_link; /**< in the SRQ's list, while rnic_qp.recv_waits */
};

void recv_wait_init(struct rnic_qp *qp);

/**
 * A message has found no receive element. If one is posted, or was posted meanwhile, the QP's
 * doorbell rings.
 * @return false: the message may not wait, or has waited long enough.
 */
bool recv_wait_begin(struct rnic_qp *qp);

/** The SRQ has elements: the first @p n QPs that wait look again, and keep their places till then.
 */
void recv_wait_tell(struct rnic_srq *srq, uint32_t n);

/** The doorbell rang. A message that waits, and whose turn it is, tries again to take an element.
 */
void recv_wait_serve(struct rnic_qp *qp);

/** The same before the SRQ has told whose turn it is: it may be anybody's. */
void recv_wait_try(struct rnic_qp *qp);

/**
 * May a message of this QP, which has an SRQ, take an element now? Not one that is another's: a QP
 * with many messages would take them all. One that may not wait may.
 */
bool recv_wait_has_turn(const struct rnic_qp *qp);

/** A message has its receive element: this QP's turn is over. */
void recv_wait_taken(struct rnic_qp *qp);

/**
 * Wait for a receive no longer, if the program has disconnected and the peer has closed behind the
 * message that waits. That is no error, as it is with a peer that may still hear of it: the message
 * is dropped, and the connection ends in good order.
 * @return false: it is not so, and nothing is done.
 */
bool recv_wait_give_up(struct rnic_qp *qp);

/**
 * One side has ended the stream. If both have, recv_wait_give_up() follows in the engine's next
 * run of timers, unless a receive was posted by then: no program waits for the message.
 */
void recv_wait_hasten(struct rnic_qp *qp);

/** The connection is over: no message waits any more. */
void recv_wait_end(struct rnic_qp *qp);

#endif
