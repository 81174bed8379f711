/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file qp.h
 * The inside of a queue pair: the queues, the state of verbs, and the RDMAP stream while there is
 * a connection. Posting is in qp_post.c, what the stream tells in qp_stream.c.
 */
#ifndef RNIC_QP_H
#define RNIC_QP_H

#include "rnic/cq.h"
#include "rnic/pd.h"
#include "rnic/post_batch.h"
#include "rnic/recv_queue.h"
#include "rnic/recv_wait.h"
#include "rnic/srq.h"

struct conn;
struct pairing;

struct rnic_qp {
	/* What posting touches. */
	struct rnic *rnic;
	_Atomic int state; /**< enum rnic_qp_state; changed under the engine's lock */
	bool sig_all;
	_Atomic bool
		paired; /**< connects by itself: iWARP knows no RTR, sends may be posted there */
	_Atomic bool recv_waits; /**< a message waits for a receive element */
	pthread_spinlock_t sq_lock;
	uint32_t sq_posted;                /**< under sq_lock: committed, not yet shown */
	_Atomic uint32_t sq_polled;        /**< completions of the send queue that were polled */
	struct rnic_post_batch post_batch; /**< under sq_lock */
	struct rdmap_sq sq;
	struct recv_queue rq; /**< without a ring when there is an SRQ */
	struct engine_doorbell doorbell;

	/* The rest is under the engine's lock, or constant. */
	struct rdmap rdmap;
	struct rnic_cq *send_cq, *recv_cq;
	struct rnic_srq *srq;
	struct rdmap_rqe *srq_rqe; /**< copy of the element under way, with an SRQ */
	bool cq_failed;            /**< a CQ overflowed: fail at the next occasion */
	bool failing;              /**< the program moves it to ERROR: no event about it */
	bool in_error;             /**< told: flushed, events raised */
	bool closing;              /**< the orderly close has begun; the state is SQD */
	bool drain_notify;         /**< tell when the send queue is drained */
	unsigned access;           /**< RNIC_ACCESS_REMOTE_* granted to the peer */
	uint16_t ird, ord;
	uint32_t num;
	void *context;
	struct rnic_pd *pd;
	struct pairing *pairing; /**< NULL: the CM connects it */
	struct conn *conn;       /**< being made, or the stream's; NULL: none */
	struct conn *lingering;  /**< over, but a Terminate is still to be sent on it */
	LIST_ENTRY(rnic_qp) send_cq_link, recv_cq_link;
	LIST_HEAD(, rnic_mw) windows; /**< of type 2, bound to this QP */
	struct recv_wait wait;
};

extern const struct rdmap_ops qp_stream_ops;

/** The doorbell's handler: send what was posted, or flush it. */
void qp_serve(struct engine_doorbell *d);

/** A CQ lost a completion of this QP. It fails once the lock's holder is done with the stream. */
void qp_cq_failed(struct rnic_qp *qp);

/** Take over @p c. Its start-up is done. @param rtr see rdmap_attach(). */
void qp_connect(struct rnic_qp *qp, struct conn *c, uint8_t rtr);

/** In SQD: what had started is finished. */
void qp_drained(struct rnic_qp *qp);

/** Begin the orderly close, if there is a stream and it has not begun. */
void qp_close(struct rnic_qp *qp);

/** Reset the connection, then as after any end: ERROR, flush, the endpoint is told @p status. */
void qp_abort(struct rnic_qp *qp, int status);

/**
 * End whatever connection there is. A stream that the program has closed is let go in good order:
 * what has completed may still be in the LLP's hands, and must arrive. So is one with nothing under
 * way, as programs send their last words and end without rdma_disconnect(). Else it is reset.
 */
void qp_drop_connection(struct rnic_qp *qp);

/** ERROR by our own decision: a peer is told with a Terminate (RFC 5040 section 5.1). */
void qp_fail(struct rnic_qp *qp);

/** Go to ERROR and flush. The connection is not touched. */
void qp_enter_error(struct rnic_qp *qp);

static inline enum rnic_qp_state qp_state(const struct rnic_qp *qp)
{
	return (enum rnic_qp_state)atomic_load(&qp->state);
}

/** True while rdmap has the connection. */
bool qp_has_stream(const struct rnic_qp *qp);

#endif
