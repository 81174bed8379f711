/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file qp.h
 * Private: a queue pair, with its queues, the state of verbs, and the RDMAP stream while there is a
 * connection. Posting is in qp_post.c, the upcalls of the stream in qp_stream.c.
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
	/* Used by posting. */
	struct rnic *rnic;
	/** Of the stream, or of one that is over, or NULL: what a post fetches into the cache. */
	void *_Atomic mpa_ahead, *_Atomic llp_ahead;
	_Atomic int state; /**< enum rnic_qp_state; changed under the engine's lock */
	bool sig_all;
	_Atomic bool paired;     /**< it connects without rdma_cm; sends may be posted in RTR */
	_Atomic bool recv_waits; /**< a message waits for a receive element */
	_Atomic bool send_imm;   /**< RDMAP_WR_SEND_IMM may be posted */
	_Atomic uint32_t resets; /**< times that it was reset, each counted when all is empty */
	pthread_spinlock_t sq_lock;
	uint32_t sq_resets;         /**< under sq_lock: of its holder, when it began */
	uint32_t sq_posted;         /**< under sq_lock: committed, but not published in sq.head */
	_Atomic uint32_t sq_polled; /**< completions of the send queue that were polled */
	struct rnic_post_batch post_batch; /**< under sq_lock */
	struct rdmap_sq sq;
	struct recv_queue rq; /**< without a ring when there is an SRQ */
	struct engine_doorbell doorbell;

	/* The rest is under the engine's lock, or constant. */
	struct rdmap rdmap;
	struct rnic_cq *send_cq, *recv_cq;
	struct rnic_srq *srq;
	struct rdmap_rqe *srq_rqe; /**< copy of the element under way, with an SRQ */
	bool cq_failed;            /**< a CQ overflowed: the QP is about to fail */
	bool leaving;              /**< retired, or being reset: makes no completions */
	bool failing;              /**< the program moves it to ERROR: raise no event */
	bool in_error;             /**< flushed, and events raised */
	bool closing;              /**< the orderly close has begun; the state is SQD */
	bool drain_notify;         /**< raise RNIC_EVENT_SQ_DRAINED */
	bool has_ended;            /**< last_end says how */
	unsigned access;           /**< RNIC_ACCESS_REMOTE_* granted to the peer */
	uint16_t ird, ord;
	uint32_t num;
	struct rdmap_end last_end; /**< of its last stream; for people */
	void *context;
	struct rnic_pd *pd;
	struct pairing *pairing; /**< NULL: the CM connects the QP */
	struct ud *ud;           /**< of a UD QP, else NULL */
	struct conn *conn;       /**< in start-up, or of the stream; or NULL */
	struct conn *lingering;  /**< over, but its Terminate is still to be sent */
	LIST_ENTRY(rnic_qp) send_cq_link, recv_cq_link;
	LIST_HEAD(, rnic_mw) windows; /**< of type 2, bound to this QP */
	struct recv_wait wait;
};

extern const struct rdmap_ops qp_stream_ops;

/**
 * Add a completion to the CQ of its queue. One that is being destroyed or reset makes none, as with
 * an adapter: a CQ need not have room for all that is posted, but for what may complete.
 */
void qp_complete(struct rnic_qp *qp, const struct rdmap_wc *wc);

/** Take out of the send queue what is there. It has no completions, polled or not. */
void qp_clear_sends(struct rnic_qp *qp);

/** A CQ lost a completion of this QP. The QP fails when the lock is released. */
void qp_cq_failed(struct rnic_qp *qp);

/** Take over @p c, which has finished its start-up. @param rtr see rdmap_attach(). */
void qp_connect(struct rnic_qp *qp, struct conn *c, uint8_t rtr);

/** In SQD: all work requests that had started are finished. */
void qp_drained(struct rnic_qp *qp);

/** Begin the orderly close of the stream, unless there is none or it has begun. */
void qp_close(struct rnic_qp *qp);

/** Note, for people, how its stream has ended. */
void qp_note_end(struct rnic_qp *qp, const struct rdmap_end *e);

/** Reset the connection, go to ERROR, flush, and report @p status to the endpoint. */
void qp_abort(struct rnic_qp *qp, int status);

/**
 * End the connection, if there is one. A stream that the program has closed is released in good
 * order, because completed sends may still be in the LLP and must arrive. So is a stream with
 * nothing under way, because programs may send a last message and end without rdma_disconnect().
 * Any other connection is reset. Either way the QP is on its way to RESET or to its end, not to the
 * error state: no event tells of its last WQE.
 */
void qp_drop_connection(struct rnic_qp *qp);

/** Go to ERROR because of a local error, with a Terminate to the peer (RFC 5040 section 5.1). */
void qp_fail(struct rnic_qp *qp);

/** The same because the program wants it: it is told of no event. */
void qp_modify_fail(struct rnic_qp *qp);

/** Go to ERROR and flush. The connection is not touched. */
void qp_enter_error(struct rnic_qp *qp);

static inline enum rnic_qp_state qp_state(const struct rnic_qp *qp)
{
	return (enum rnic_qp_state)atomic_load(&qp->state);
}

/** True while rdmap has the connection. */
bool qp_has_stream(const struct rnic_qp *qp);

#endif
